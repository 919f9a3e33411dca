//! Rows of the timeline as plain values, and how they look: a label, bars that last, marks that do not.

use std::time::Duration;

use maud::{Markup, html};

use super::scale::Scale;
use crate::history::History;
use crate::history::query::Spell;

/// A heading with rows below it.
pub(super) struct Band {
    /// A word for links and styles.
    pub(super) id: &'static str,
    pub(super) title: String,
    pub(super) rows: Vec<Row>,
    /// Classes and words of its bars and marks.
    pub(super) legend: Vec<(&'static str, &'static str)>,
}

/// One row.
#[derive(Default)]
pub(super) struct Row {
    pub(super) label: String,
    pub(super) hint: String,
    pub(super) bars: Vec<Bar>,
    pub(super) marks: Vec<Mark>,
    /// A chart instead of bars.
    pub(super) chart: Option<Markup>,
}

/// Something that lasts.
pub(super) struct Bar {
    pub(super) from: Duration,
    pub(super) to: Duration,
    pub(super) class: String,
    /// Within it, or beside it if it is too short.
    pub(super) text: String,
    /// When it is pointed at.
    pub(super) title: String,
}

/// Something that happens.
pub(super) struct Mark {
    pub(super) at: Duration,
    pub(super) class: &'static str,
    pub(super) text: String,
    pub(super) title: String,
    /// Where it leads.
    pub(super) link: Option<String>,
}

/// A spell as spans since the start.
pub(super) fn span(history: &History, scale: Scale, spell: &Spell) -> (Duration, Duration) {
    let began = history.header.began;
    (spell.from - began, spell.to.map_or(scale.end(), |to| to - began))
}

pub(super) fn band(band: &Band, scale: Scale) -> Markup {
    html! {
        section.band id=(format!("band-{}", band.id)) aria-label=(band.title) {
            div.title {
                h3 { (band.title) }
                @if !band.legend.is_empty() {
                    span.legend { @for (class, words) in &band.legend { span { i.(*class) {} (words) } } }
                }
            }
            @for one in &band.rows { (row(one, scale)) }
        }
    }
}

fn row(row: &Row, scale: Scale) -> Markup {
    let heads = row.bars.is_empty() && row.marks.is_empty() && row.chart.is_none();
    html! {
        div.row.tall[row.chart.is_some()].heads[heads] {
            span.label title=(hint(row)) { (in_the_middle(&row.label)) }
            div.lane {
                @if let Some(chart) = &row.chart { (chart) }
                @for one in &row.bars { (bar(one, scale)) }
                @for one in &row.marks { (mark(one, scale)) }
            }
        }
    }
}

/// So many letters have room beside a row.
const LABEL: usize = 26;

/// What is told of a row: its whole label, if not all of it is shown.
fn hint(row: &Row) -> String {
    if row.label.chars().count() <= LABEL { row.hint.clone() } else { format!("{} {}", row.label, row.hint) }
}

/// A label that fits: of names, which begin alike, the end matters as much as the beginning.
fn in_the_middle(label: &str) -> String {
    let letters: Vec<char> = label.chars().collect();
    let Some(cut) = letters.len().checked_sub(LABEL).filter(|over| *over > 0) else {
        return label.to_owned();
    };
    let head = LABEL / 2;
    let (first, last) = (letters[..head].iter(), letters[head + cut + 1..].iter());
    first.chain(['…'].iter()).chain(last).collect()
}

/// How wide a letter is, in parts of a hundred of an ordinary page.
const LETTER: f64 = 0.55;

/// How wide a text is.
pub(super) fn breadth(text: &str) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "the length of a label")]
    let letters = text.chars().count() as f64;
    (letters + 1.0) * LETTER
}

/// Within the bar if it fits, else where there is room.
fn place(bar: &Bar, scale: Scale) -> &'static str {
    let (left, right, needs) = (scale.x(bar.from), scale.x(bar.to), breadth(&bar.text));
    if right - left >= needs {
        ""
    } else if right + needs <= 100.0 {
        "after"
    } else if left - needs >= 0.0 {
        "before"
    } else {
        ""
    }
}

fn bar(bar: &Bar, scale: Scale) -> Markup {
    let beside = place(bar, scale);
    html! {
        div class=(format!("bar {} {beside}", bar.class)) title=(bar.title)
            style=(format!("left:{};width:{}", scale.left(bar.from), scale.width(bar.from, bar.to))) {
            @if !bar.text.is_empty() { span { (bar.text) } }
        }
    }
}

fn mark(mark: &Mark, scale: Scale) -> Markup {
    let (class, style) = (format!("mark {}", mark.class), format!("left:{}", scale.left(mark.at)));
    html! {
        @if let Some(link) = &mark.link {
            a class=(class) style=(style) title=(mark.title) href=(link) { (mark.text) }
        } @else {
            span class=(class) style=(style) title=(mark.title) { (mark.text) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_in_the_middle() {
        assert_eq!(in_the_middle("small-7"), "small-7");
        let cut = in_the_middle("nuremberg-18ea315ec1f04c22-worker-12");
        assert_eq!((cut.as_str(), cut.chars().count()), ("nuremberg-18e…22-worker-12", LABEL));
    }
}
