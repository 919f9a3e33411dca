//! What the harness did: phases, steps and faults; and what the subject's own processes did.

use std::collections::BTreeMap;
use std::time::Duration;

use super::lane::{Band, Bar, Mark, Row, breadth, span};
use super::pins::Pins;
use super::scale::Scale;
use crate::history::query::{fault_spells, leader_lease, running};
use crate::history::{History, StepChange, SubjectChange, What};
use crate::report::moment::{of_event, since_start};
use crate::report::notes::{self, phase_word};

/// So many steps have a row each; more share one.
const STEPS: usize = 40;

pub(super) fn phases_and_steps(history: &History, scale: Scale, pins: &Pins<'_>) -> Band {
    let mut rows = vec![phases(history, scale)];
    let steps = steps(history, scale, pins);
    if steps.len() <= STEPS {
        rows.extend(steps);
    } else {
        let mut all = Row { label: format!("{} steps", steps.len()), ..Row::default() };
        for (number, step) in steps.into_iter().enumerate() {
            all.bars.extend(step.bars.into_iter().map(|bar| Bar { text: (number + 1).to_string(), ..bar }));
            all.marks.extend(step.marks);
        }
        rows.push(all);
    }
    let legend = vec![("bar step", "step"), ("bar overdue", "did not come in time")];
    Band { id: "course", title: "Phases and steps".into(), rows, legend }
}

fn phases(history: &History, scale: Scale) -> Row {
    let begun: Vec<(Duration, &str)> = history
        .events
        .iter()
        .filter_map(|event| match event.what {
            What::Phase(phase) => Some((event.at - history.header.began, phase_word(phase))),
            _ => None,
        })
        .collect();
    let ends = begun.iter().skip(1).map(|(at, _)| *at).chain([scale.end()]);
    let bars = begun.iter().zip(ends).enumerate().map(|(number, ((from, word), to))| Bar {
        from: *from,
        to,
        class: if number % 2 == 0 { "phase".into() } else { "phase odd".into() },
        text: if scale.x(to) - scale.x(*from) < breadth(word) { String::new() } else { (*word).into() },
        title: format!("phase {word}: +{} to +{}", since_start(*from), since_start(to)),
    });
    Row { label: "phase".into(), bars: bars.collect(), ..Row::default() }
}

fn steps(history: &History, scale: Scale, pins: &Pins<'_>) -> Vec<Row> {
    let mut rows: BTreeMap<usize, Row> = BTreeMap::new();
    for (event, happened) in history.events.iter().enumerate() {
        let What::Step(step) = &happened.what else { continue };
        let at = happened.at - history.header.began;
        let row = rows.entry(step.step).or_insert_with(|| Row {
            label: format!("step {}", step.step + 1),
            hint: step.says.clone(),
            ..Row::default()
        });
        row.marks.extend(pins.marks([event]));
        match (&step.change, row.bars.last_mut()) {
            (StepChange::Done, Some(bar)) => bar.to = at,
            (StepChange::Overdue(instead), Some(bar)) => {
                bar.to = at;
                bar.class = "overdue".into();
                bar.title = format!("{}: did not come in time: {instead}", step.says);
            }
            _ => row.bars.push(Bar {
                from: at,
                to: scale.end(),
                class: "step".into(),
                text: step.says.clone(),
                title: format!("+{}: {}", since_start(at), step.says),
            }),
        }
    }
    rows.into_values().collect()
}

pub(super) fn faults(history: &History, scale: Scale, pins: &Pins<'_>) -> Band {
    let row = |fault: crate::history::query::FaultSpell| {
        let (from, to) = span(history, scale, &fault.spell);
        let bit = fault.bit.and_then(|event| of_event(history, event).map(|at| (event, at)));
        let healed = if fault.spell.to.is_some() { "healed" } else { "there to the end" };
        let says = |event: usize| history.events.get(event).map(|event| notes::plain(&event.what));
        let words = says(fault.spell.began).unwrap_or_default();
        let mut marks = pins.marks([Some(fault.spell.began), fault.spell.ended].into_iter().flatten());
        marks.extend(bit.map(|(event, at)| Mark {
            at,
            class: "bit",
            text: "◆".into(),
            title: format!("+{}: {}", since_start(at), says(event).unwrap_or_default()),
            link: None,
        }));
        let never = if bit.is_none() { " (never bit)" } else { "" };
        Row {
            label: format!("{} {}", fault.code, fault.name),
            hint: words.clone(),
            bars: vec![Bar {
                from,
                to,
                class: if bit.is_none() { "fault harmless".into() } else { "fault".into() },
                text: format!("{}{never}", fault.name),
                title: format!("{words}; +{} to +{}, {healed}", since_start(from), since_start(to)),
            }],
            marks,
            chart: None,
        }
    };
    let rows: Vec<Row> = fault_spells(history).into_iter().map(row).collect();
    let legend = vec![("bar fault", "injected to healed"), ("glyph bit", "where it first bit")];
    Band { id: "faults", title: format!("Faults ({})", rows.len()), rows, legend }
}

pub(super) fn subject(history: &History, scale: Scale, pins: &Pins<'_>) -> Band {
    let mut rows: BTreeMap<u32, Row> = BTreeMap::new();
    for (replica, spells) in running(history) {
        let bars = spells.iter().map(|spell| {
            let (from, to) = span(history, scale, spell);
            let title = format!("replica {replica} runs from +{} to +{}", since_start(from), since_start(to));
            Bar { from, to, class: "process".into(), text: String::new(), title }
        });
        let label = format!("replica {replica}");
        rows.insert(replica, Row { label, bars: bars.collect(), ..Row::default() });
    }
    for (event, happened) in history.events.iter().enumerate() {
        let What::Subject(subject) = &happened.what else { continue };
        // It is told once, before the first start, and is no mark on a line of time.
        if let SubjectChange::Prepared { .. } = subject.change {
            continue;
        }
        let row = rows.entry(subject.replica).or_default();
        row.marks.push(Mark {
            at: happened.at - history.header.began,
            class: if glyph(&subject.change) == "▲" { "glyph" } else { "glyph bad" },
            text: glyph(&subject.change).into(),
            title: notes::subject(subject),
            link: None,
        });
        row.marks.extend(pins.marks([event]));
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    rows.extend(leaders(history, scale));
    let legend = vec![
        ("bar process", "runs"),
        ("bar leader", "leads"),
        ("glyph start", "starts"),
        ("glyph exit", "ends"),
    ];
    Band { id: "subject", title: format!("Subject: {}", history.header.subject.profile), rows, legend }
}

fn glyph(change: &SubjectChange) -> &'static str {
    match change {
        SubjectChange::Prepared { .. } => "",
        SubjectChange::Started { .. } => "▲",
        SubjectChange::Exited { .. } => "✕",
        SubjectChange::Killed | SubjectChange::Unwell { .. } => "✖",
        SubjectChange::Paused => "‖",
        SubjectChange::Resumed => "▶",
        SubjectChange::Misspoke { .. } => "!",
        SubjectChange::Health { status } if (200..300).contains(status) => "♥",
        SubjectChange::Health { .. } => "♡",
    }
}

fn leaders(history: &History, scale: Scale) -> Vec<Row> {
    let rows = leader_lease(history, "cluster-autoscaler").into_iter().map(|(name, track)| {
        let mut bars: Vec<Bar> = Vec::new();
        for seen in &track.seen {
            let at = seen.at - history.header.began;
            let holder = seen.state.as_ref().map(|lease| lease.holder.as_str()).unwrap_or_default();
            match bars.last_mut() {
                Some(bar) if bar.text == holder && bar.to == scale.end() => continue,
                Some(bar) => bar.to = bar.to.min(at),
                None => {}
            }
            if !holder.is_empty() {
                bars.push(Bar {
                    from: at,
                    to: scale.end(),
                    class: "leader".into(),
                    text: holder.to_owned(),
                    title: format!("{holder} leads from +{}", since_start(at)),
                });
            }
        }
        Row { label: "leader".into(), hint: format!("the lease {name}"), bars, ..Row::default() }
    });
    rows.collect()
}
