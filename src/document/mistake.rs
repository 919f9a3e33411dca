//! What is wrong with a document: every mistake, each with its place, the source around it, and a hint.

use std::fmt;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode, SourceSpan,
};

/// Where something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, counted from one.
    pub line: u64,
    /// The column, counted from one.
    pub column: u64,
    /// The bytes before it.
    pub(super) offset: usize,
    /// Its bytes.
    pub(super) length: usize,
}

impl Place {
    /// Where a document begins.
    pub(super) const START: Place = Place { line: 1, column: 1, offset: 0, length: 0 };

    /// The same with its bytes, which whoever cannot read a text does not know.
    pub(super) fn found(self, text: &str) -> Place {
        let count = |number: u64| usize::try_from(number.saturating_sub(1)).unwrap_or(0);
        let mut lines = text.split_inclusive('\n');
        let before: usize = lines.by_ref().take(count(self.line)).map(str::len).sum();
        let line = lines.next().unwrap_or_default();
        let within = line.char_indices().map(|(at, _)| at).chain([line.len()]).nth(count(self.column));
        Place { offset: before + within.unwrap_or(line.len()), length: 1, ..self }
    }
}

impl From<&serde_yaml::Location> for Place {
    fn from(at: &serde_yaml::Location) -> Self {
        let bytes = |count: Option<u64>| count.and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        Place {
            line: at.line(),
            column: at.column(),
            offset: bytes(at.span().byte_offset()),
            length: bytes(at.span().byte_len()),
        }
    }
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where it stands.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Mistake {
    /// A mistake that needs no hint.
    pub fn at(place: Place, what: impl Into<String>) -> Self {
        Self { place, what: what.into(), hint: None }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Why a document cannot be used: all its mistakes, in the order of their lines.
///
/// It prints one mistake a line, as `file:line:column: what is wrong; hint`. [`Mistakes::shown`] shows them in the source.
#[derive(Clone, Debug)]
pub struct Mistakes {
    file: String,
    text: String,
    all: Vec<Mistake>,
}

impl Mistakes {
    pub(super) fn new(file: &str, text: &str, mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort_by_key(|mistake| mistake.place);
        mistakes.dedup();
        Self { file: file.to_owned(), text: text.to_owned(), all: mistakes }
    }

    /// The mistakes, never none.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.all
    }

    /// All of them as a person wants to see them: each under the lines it stands in.
    pub fn shown(&self) -> String {
        let plain =
            GraphicalReportHandler::new_themed(GraphicalTheme::none()).with_width(110).with_context_lines(1);
        let source = NamedSource::new(&self.file, self.text.clone());
        let mut shown = String::new();
        for mistake in &self.all {
            let span = span(&self.text, mistake.place);
            // A report that cannot be drawn is still told.
            if plain.render_report(&mut shown, &Shown { mistake, span, source: &source }).is_err() {
                shown.push_str(&self.line(mistake));
            }
        }
        shown
    }

    fn line(&self, Mistake { place, what, hint }: &Mistake) -> String {
        let hint = hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("{}:{}:{}: {what}{hint}", self.file, place.line, place.column)
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.all.iter().map(|mistake| self.line(mistake)).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Mistakes {}

/// The part of a place that is on its first line: a whole map would be underlined otherwise.
fn span(text: &str, place: Place) -> SourceSpan {
    let rest = text.get(place.offset..).unwrap_or_default();
    let line = rest.lines().next().map_or(0, |line| line.trim_end().len());
    (place.offset.min(text.len()), place.length.clamp(1, line.max(1))).into()
}

/// A mistake with the source it stands in.
#[derive(Debug)]
struct Shown<'a> {
    mistake: &'a Mistake,
    span: SourceSpan,
    source: &'a NamedSource<String>,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.mistake.what)
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.mistake.hint.as_ref().map(|hint| Box::new(hint) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(None, self.span))))
    }
}
