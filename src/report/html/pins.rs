//! Numbered pins: each proof of a violation has a number, and each event that convicts carries the numbers it proves.

use std::collections::BTreeMap;
use std::time::Duration;

use super::lane::{Band, Mark, Row};
use super::scale::Scale;
use crate::report::moment::since_start;
use crate::report::telling::{Finding, Proof, Shown, Telling};

/// So many events of one proof are pinned.
const EVENTS: usize = 12;
/// So many proofs have a number; the rest is in the JSON report.
const PROOFS: usize = 99;
/// So many rows of pins at most; the rest is only in its own place.
const ROWS: usize = 6;
/// Lines that cross all bands are at least so far from each other, in parts of a hundred.
const LINES_APART: f64 = 0.4;
/// Closer than this, in parts of a hundred, pins stand below each other.
const APART: f64 = 1.8;

/// The pins of a run.
pub(super) struct Pins<'a> {
    /// Number, expectation, proof.
    pub(super) proofs: Vec<(usize, &'a Finding, &'a Proof)>,
    by_event: BTreeMap<usize, Vec<(usize, &'a Finding, &'a Shown)>>,
}

impl<'a> Pins<'a> {
    pub(super) fn of(telling: &'a Telling) -> Self {
        let all =
            telling.findings.iter().flat_map(|found| found.proofs.iter().map(move |proof| (found, proof)));
        let proofs: Vec<_> =
            all.take(PROOFS).enumerate().map(|(at, (found, proof))| (at + 1, found, proof)).collect();
        let mut by_event: BTreeMap<usize, Vec<(usize, &Finding, &Shown)>> = BTreeMap::new();
        for (number, found, proof) in &proofs {
            for shown in proof.events.iter().take(EVENTS) {
                by_event.entry(shown.event).or_default().push((*number, found, shown));
            }
        }
        Self { proofs, by_event }
    }

    /// The proofs of an expectation.
    pub(super) fn of_finding(&self, finding: &Finding) -> impl Iterator<Item = (usize, &'a Proof)> {
        let mine = self.proofs.iter().filter(move |(_, found, _)| found.code == finding.code);
        mine.map(|(number, _, proof)| (*number, *proof))
    }

    /// Whether an event convicts.
    pub(super) fn has(&self, event: usize) -> bool {
        self.by_event.contains_key(&event)
    }

    /// The numbers of an event.
    pub(super) fn numbers(&self, event: usize) -> impl Iterator<Item = usize> {
        self.by_event.get(&event).into_iter().flatten().map(|(number, _, _)| *number)
    }

    /// The events that convict.
    pub(super) fn events(&self) -> impl Iterator<Item = usize> {
        self.by_event.keys().copied()
    }

    /// The pins of some events.
    pub(super) fn marks(&self, events: impl IntoIterator<Item = usize>) -> Vec<Mark> {
        let of = |event| self.by_event.get(&event).into_iter().flatten();
        events.into_iter().flat_map(of).map(|(number, finding, shown)| pin(*number, finding, shown)).collect()
    }

    /// Where the lines go that cross all bands.
    pub(super) fn moments(&self, scale: Scale) -> Vec<Duration> {
        let mut moments: Vec<Duration> = self
            .by_event
            .values()
            .flatten()
            .map(|(_, _, shown)| Duration::from_millis(shown.at_ms))
            .collect();
        moments.sort_unstable();
        moments.dedup_by(|next, kept| scale.x(*next) - scale.x(*kept) < LINES_APART);
        moments
    }

    /// The band with all of them, none hiding another.
    pub(super) fn band(&self, scale: Scale) -> Band {
        let (mut rows, mut hidden): (Vec<Row>, usize) = (Vec::new(), 0);
        let mut marks = self.marks(self.events());
        marks.sort_by_key(|mark| mark.at);
        for mark in marks {
            let near = |last: &Mark| scale.x(mark.at) - scale.x(last.at) < APART;
            if rows.iter().filter_map(|row| row.marks.last()).any(|last| near(last) && last.text == mark.text)
            {
                continue;
            }
            let free =
                |row: &Row| row.marks.last().is_none_or(|last| scale.x(mark.at) - scale.x(last.at) >= APART);
            match rows.iter().position(free) {
                Some(at) => rows[at].marks.push(mark),
                None if rows.len() < ROWS => rows.push(Row { marks: vec![mark], ..Row::default() }),
                None => hidden += 1,
            }
        }
        if let Some(first) = rows.first_mut() {
            first.label = "what convicts".into();
        }
        let more =
            if hidden > 0 { format!(" (and {hidden} more where there is no room)") } else { String::new() };
        Band { id: "evidence", title: format!("Evidence{more}"), rows, legend: vec![] }
    }
}

fn pin(number: usize, finding: &Finding, shown: &Shown) -> Mark {
    let at = Duration::from_millis(shown.at_ms);
    Mark {
        at,
        class: "pin",
        text: number.to_string(),
        title: format!("{number}: {} at +{}: {}", finding.code, since_start(at), shown.says),
        link: Some(format!("#proof-{number}")),
    }
}
