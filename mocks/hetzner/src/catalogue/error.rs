//! What is wrong with a catalogue: every mistake of every file, each with its place.

use std::fmt;

/// A line and a column, both counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(super) line: u64,
    pub(super) column: u64,
}

impl From<&serde_yaml::Location> for Place {
    fn from(at: &serde_yaml::Location) -> Self {
        Place { line: at.line(), column: at.column() }
    }
}

/// One mistake of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub(super) file: String,
    /// None where the file as a whole is wrong.
    pub(super) place: Option<Place>,
    pub(super) what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistake { file, place, what } = self;
        match place {
            Some(Place { line, column }) => write!(f, "{file}:{line}:{column}: {what}"),
            None => write!(f, "{file}: {what}"),
        }
    }
}

/// Why a folder is no catalogue: all mistakes of all its files, in the order of the files and of their lines.
///
/// It prints one mistake a line, as `file:line:column: what is wrong, hint`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogueError {
    pub(super) mistakes: Vec<Mistake>,
}

impl CatalogueError {
    /// The mistakes, never none.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }
}

impl fmt::Display for CatalogueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (before, mistake) in self.mistakes.iter().enumerate() {
            let end = if before == 0 { "" } else { "\n" };
            write!(f, "{end}{mistake}")?;
        }
        Ok(())
    }
}

impl std::error::Error for CatalogueError {}
