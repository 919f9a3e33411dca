//! The short reports: text, JSON, `JUnit`, Markdown.

use std::time::Duration;

use scaleproof::check::{Expectation, Judgement, Outcome, Verdict, catalogue};
use scaleproof::code::Code;
use scaleproof::history::{Event, History, LogEvent, What};
use scaleproof::report::text::{self, Paint};
use scaleproof::report::{Standing, Telling, json, junit, markdown};
use scaleproof::terms::Provider;
use serde_json::Value;

use crate::rich::{rich, rich_judgement};
use crate::{rich_telling, stored, telling};

#[test]
fn a_failure_is_readable_in_ten_lines_with_the_way_to_repeat_it() {
    let mut telling = rich_telling(&rich());
    telling.findings.retain(|finding| finding.code == Code::new("MM-01"));
    let told = text::run(&telling, Paint::Plain);
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines.len() <= 10, "{told}");
    let wants = [
        "VIOLATED  suites/incidents/s3-the-answer-is-lost.yaml: A server",
        "MM-01 MUST  No order of the subject brings a pool above its maximum",
        "<https://",
        "server 5 made 4 of at most 3 in small",
        "> +1m37s      #30    server small-5 (id 5, pool small) is bought, running",
        "> +1m37.1s    #31    POST /v1/servers (small-5): 201",
        "repeat   scaleproof run suites/incidents/s3-the-answer-is-lost.yaml --subject cluster-autoscaler-hetzner \
         --binary /opt/builds/cluster-autoscaler --seed 4711 --time idle-skip",
        "history  runs/1/history.jsonl",
    ];
    for want in wants {
        assert!(told.contains(want), "{want}\n{told}");
    }
    let coloured = text::run(&telling, Paint::Ansi);
    assert!(coloured.contains("\u{1b}[1;31mVIOLATED\u{1b}[0m") && !told.contains('\u{1b}'));
}

#[test]
fn what_the_subject_wrote_stands_beside_a_violation() {
    let mut history = rich();
    let judgement = rich_judgement(&history);
    let first = |told: &Telling| told.that(Standing::Violated).next().unwrap().proofs[0].clone();
    let at = history.events[first(&rich_telling(&history)).events[0].event].at;
    for (seconds, line) in [(2, "nothing of note"), (30, "small-5 is ordered"), (300, "small-5 is there")] {
        let (at, line) = (at + Duration::from_secs(seconds), line.to_owned());
        history.events.push(Event { at, real_us: 0, what: What::Log(LogEvent { replica: 0, line }) });
    }
    let told = Telling::of(&history, &judgement, None);
    let lines: Vec<String> = first(&told).log.into_iter().map(|shown| shown.says).collect();
    assert_eq!(lines, ["replica 0 writes: nothing of note", "replica 0 writes: small-5 is ordered"]);
    let text = text::run(&told, Paint::Plain);
    assert!(text.contains("    | +2m07") && text.contains("small-5 is ordered"), "{text}");
    assert!(scaleproof::report::html::page(&history, &told).contains("what the subject wrote"));
}

#[test]
fn who_is_convicted_is_held_against_its_own_documents_first() {
    let mut history = rich();
    let first = |history: &History| {
        let told = rich_telling(history);
        told.findings.iter().find(|one| one.code == Code::new("SU-02")).unwrap().cited[0].document.clone()
    };
    assert!(first(&history).starts_with("cluster-autoscaler"), "{}", first(&history));
    history.header.subject.provider = Provider::Karpenter;
    assert!(first(&history).starts_with("Karpenter"), "{}", first(&history));
}

#[test]
fn what_makes_a_run_doubtful_is_told_once() {
    let history = rich();
    let mut judgement = rich_judgement(&history);
    let why = format!("the harness was 2000 ms late itself{}held", scaleproof::check::SEEN);
    for judged in &mut judgement.judged {
        judged.outcome = Outcome::Judged(Verdict::Unknown { why: why.clone() });
    }
    let told = text::run(&Telling::of(&history, &judgement, None), Paint::Plain);
    assert_eq!(told.matches("2000 ms late").count(), 1, "{told}");
    assert_eq!(
        told.matches("unknown: the same; what was seen of it held").count(),
        judgement.judged.len() - 1
    );
}

#[test]
fn a_line_each_for_what_held_is_unknown_or_does_not_apply() {
    let told = text::run(&rich_telling(&rich()), Paint::Plain);
    assert!(told.contains("MM-02 not applicable: it is promised from 9.0.0"), "{told}");
    assert!(told.contains("SU-01 unknown: the fault quiet never hurt anybody"), "{told}");
    assert!(told.contains("SD-02 held (4 times)  "), "{told}");
}

#[test]
fn what_a_subject_writes_cannot_break_a_line_or_a_page() {
    let mut history = rich();
    history.header.scenario.title = "a\nb\u{1b}[2J | `` </summary><script>alert(1)</script>".into();
    let told = rich_telling(&history);
    assert!(!text::run(&told, Paint::Plain).contains('\u{1b}'));
    let summary = markdown::summary(std::slice::from_ref(&told));
    let (outside, fenced) = summary.split_once("```text\n").unwrap();
    assert!(!outside.contains("<script>") && outside.contains("a b [2J |"), "{summary}");
    assert!(fenced.ends_with("\n```\n\n</details>\n") && fenced.matches("```").count() == 1, "{summary}");
    assert!(!scaleproof::report::html::page(&history, &told).contains("<script>alert"));
}

#[test]
fn a_negative_scenario_is_well_when_the_subject_is_convicted_and_not_when_it_is_not() {
    let mut history = rich();
    let mut judgement = rich_judgement(&history);
    judgement.judged.retain(|judged| ["MM-01", "SD-01", "SD-02"].contains(&judged.code.to_string().as_str()));
    judgement.judged[1].asked = false;
    let standings = |history: &History, judgement: &Judgement| -> Vec<Standing> {
        let told = Telling::of_wrong_subject(history, judgement, None);
        told.findings.iter().map(|finding| finding.standing).chain([told.standing]).collect()
    };
    let (held, convicted, violated) = (Standing::Held, Standing::Convicted, Standing::Violated);
    assert_eq!(standings(&history, &judgement), [violated, violated, held, violated], "no negative scenario");
    history.header.scenario.convicts = vec![Code::new("MM-01")];
    assert_eq!(standings(&history, &judgement), [convicted, convicted, held, convicted]);
    let believed = Telling::of(&history, &judgement, None);
    assert_eq!(believed.standing, violated, "nobody asked for it, and anybody can write that into a history");
    judgement.judged[1].asked = true;
    assert_eq!(standings(&history, &judgement), [convicted, violated, held, violated], "asked for, to hold");
    history.header.scenario.convicts = vec![Code::new("SD-02")];
    judgement.judged.retain(|judged| judged.code == Code::new("SD-02"));
    assert_eq!(standings(&history, &judgement), [violated, violated], "the check is blind");
}

#[test]
fn json_is_read_back_as_it_was_for_every_stored_history() {
    let tellings: Vec<Telling> = stored().iter().map(|(_, history)| telling(history)).collect();
    let document = json::document(&tellings).unwrap();
    let read: json::Document = serde_json::from_str(&document).unwrap();
    assert_eq!(read, json::Document::of(&tellings));
    assert_eq!(
        (read.schema, read.verdict, read.runs.len()),
        (json::SCHEMA, Standing::Violated, tellings.len())
    );
}

/// A field that goes or changes its meaning is a new schema; one that comes is not.
#[test]
fn the_fields_of_the_json_report_are_what_programs_know() {
    let document = json::document(&[rich_telling(&rich())]).unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    let has = |value: &Value, names: &str| {
        for name in names.split(' ') {
            assert!(value.get(name).is_some(), "{name} is gone from {value}");
        }
    };
    has(&document, "schema scaleproof verdict runs_by_verdict findings_by_verdict runs");
    has(&document["runs_by_verdict"], "held violated unknown not_applicable");
    let run = &document["runs"][0];
    has(run, "scenario title subject provider version digest deviations cluster seed time lasted_ms took_ms");
    has(run, "standing findings account cut_short repeat history");
    let finding = &run["findings"][0];
    has(finding, "code promise level cited asked standing exercised why proofs");
    has(&finding["cited"][0], "document url");
    has(&finding["proofs"][0], "says events around");
    has(&finding["proofs"][0]["events"][0], "event at_ms says");
}

#[test]
fn the_worst_of_all_runs_counts_and_no_run_is_no_pass() {
    assert_eq!(Standing::of_all(&[]), Standing::Unknown);
    for (path, history) in stored() {
        let (judgement, told) = (scaleproof::check::judge(&history), telling(&history));
        let worst = match judgement.overall() {
            Verdict::Held { .. } => Standing::Held,
            Verdict::Violated { .. } => Standing::Violated,
            Verdict::Unknown { .. } => Standing::Unknown,
        };
        let judged = told.findings.iter().any(|finding| finding.standing != Standing::NotApplicable);
        let expected = if judged { worst } else { Standing::Unknown };
        assert_eq!(told.standing, expected, "{}", path.display());
    }
}

#[test]
fn junit_has_the_same_cases_whatever_came_out() {
    let history = rich();
    let mut quiet = history.clone();
    quiet.events.truncate(1);
    let cases = |xml: &str| -> Vec<String> {
        let names = xml.split("<testcase name=\"").skip(1);
        names.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    let (one, other) = (telling(&history), telling(&quiet));
    let [xml, silent] = [&one, &other].map(|told| junit::document(std::slice::from_ref(told)).unwrap());
    assert_eq!(cases(&xml), cases(&silent));
    let promised = |expectation: &&Expectation| {
        expectation.always && expectation.providers.contains(&history.header.subject.provider)
    };
    let always = catalogue().into_iter().filter(promised).count();
    assert!(cases(&xml).len() >= always, "{xml}");
    assert_eq!(xml.matches("<failure ").count(), one.that(Standing::Violated).count(), "{xml}");
    assert_eq!(xml.matches("type=\"unknown\"").count(), one.that(Standing::Unknown).count(), "{xml}");
    let twice = junit::document(&[one.clone(), one]).unwrap();
    assert!(twice.contains("s3-the-answer-is-lost.yaml (run 2)\""), "{twice}");
}

#[test]
fn markdown_has_a_row_for_each_run_and_a_block_for_each_failure() {
    let tellings: Vec<Telling> = stored()
        .iter()
        .filter(|(path, _)| path.to_string_lossy().contains("MM-01"))
        .map(|(_, h)| telling(h))
        .collect();
    let page = markdown::summary(&tellings);
    let bad = tellings.iter().filter(|told| told.standing >= Standing::Unknown).count();
    assert!(bad > 0);
    assert_eq!(
        page.lines().filter(|line| line.starts_with("| ") && line.contains(" story ")).count(),
        tellings.len()
    );
    assert_eq!((page.matches("<details>").count(), page.matches("</details>").count()), (bad, bad));
}

#[test]
fn the_table_has_a_line_for_each_run_and_the_totals() {
    let tellings = [rich_telling(&rich()), rich_telling(&rich())];
    let table = text::table(&tellings, Paint::Plain);
    assert_eq!(table.lines().count(), 4, "{table}");
    assert!(
        table.ends_with("not applicable\n") && table.contains("\n2 runs: 0 held, 2 violated, 0 unknown"),
        "{table}"
    );
}
