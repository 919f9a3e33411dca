//! What a scenario says itself: steps that expect something, and steps that wait in vain. Whole runs, and the same decided again
//! from their histories.

use std::fs;
use std::process::Command;

use crate::workshop::{SCALEPROOF, Workshop, told};

const GIVEN: &str = "
expect: [SU-01]
given:
  pools: {small: {min: 0, max: 5}}
  timers: {unneeded_time: 90s}
converge: 10s
steps:
";

fn run(workshop: &Workshop, steps: &str) -> (i32, String) {
    let (code, out, err) = workshop.run(&format!("title: In a user's own words{GIVEN}{steps}"), None);
    assert_eq!(err, "", "{out}");
    let history = workshop.path("out/scenario-7/history.jsonl");
    let again = Command::new(SCALEPROOF).args(["check", &history]).output().unwrap();
    let (again, said, err) = told(&again);
    assert_eq!((again, err.as_str()), (code, ""), "{out}\n{said}");
    let findings = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.trim_start().starts_with("step ")).map(str::to_owned).collect()
    };
    assert_eq!(findings(&out), findings(&said));
    (code, out)
}

/// What the reports say, one text.
fn reports(workshop: &Workshop) -> [String; 4] {
    ["report.json", "junit.xml", "summary.md", "scenario-7/timeline.html"]
        .map(|name| fs::read_to_string(workshop.path(&format!("out/{name}"))).unwrap())
}

#[test]
fn what_a_scenario_expects_itself_is_judged_and_holds() {
    let workshop = Workshop::open("own-words-held");
    let (code, out) = run(
        &workshop,
        "
  - expect: {servers: {pool: small, count: {at_most: 1}}, throughout: 10m, meanwhile: true}
  - expect: {ordered: small, never: 30s}
  - deploy: {name: web, pods: 2, cpu: 500m, memory: 128Mi}
  - expect: {running: web, within: 5m}
  - expect: {object: {api: apps/v1, kind: Deployment, name: web, path: .status.readyReplicas, is: 2}, within: 1m}
  - expect: {object: {kind: Node, condition: Ready, is: 'False'}, never: 1m}
  - expect: {bill: {at_most: '0.10'}, throughout: 1m}
  - remove: web
  - expect: {size: {pool: small, count: 0}, within: 10m}
  - wait: 6m
",
    );
    assert_eq!(code, 0, "{out}");
    for step in [1, 2, 4, 5, 6, 7, 9] {
        assert!(out.contains(&format!("  step {step} held (once)  ")), "{step}: {out}");
    }
    assert!(out.contains("judged on their claim: 1 of 1 scenarios\n"), "{out}");
    let [json, junit, _, page] = reports(&workshop);
    for report in [json, junit, page] {
        assert!(report.contains("within 5m: all pods of web run"), "{report}");
    }
}

#[test]
fn what_a_scenario_expects_itself_is_judged_and_is_violated() {
    let workshop = Workshop::open("own-words-violated");
    let (code, out) = run(
        &workshop,
        "
  - deploy: {name: web, pods: 1, cpu: 500m, memory: 128Mi}
  - expect: {ordered: small, never: 1m}
  - expect: {running: web, within: 2s}
",
    );
    assert_eq!(code, 1, "{out}");
    for says in [
        "  step 2  never for 1m: something is ordered for small\n",
        "1 machine was ordered for small, ",
        "    > +",
        "POST /v1/servers",
    ] {
        assert!(out.contains(says), "{says}: {out}");
    }
    for report in reports(&workshop) {
        assert!(report.contains("step 2") && report.contains("1 machine was ordered for small"), "{report}");
    }
}

#[test]
fn what_was_waited_for_in_vain_is_told_everywhere() {
    let steps = "
  - deploy: {name: web, pods: 1, cpu: 500m, memory: 128Mi}
  - until: {running: web, at_most: 5m}
  - until: {gone: web, at_most: 30s}
";
    let workshop = Workshop::open("own-words-overdue");
    let (code, out) = run(&workshop, steps);
    assert_eq!(code, 2, "{out}");
    assert!(
        out.contains("SU-01 unknown: step 3 was overdue: 1 pods of web were there; what was seen of it held"),
        "{out}"
    );
    assert!(out.contains("step 3 unknown: it was overdue: 1 pods of web were there  until "), "{out}");
    for report in reports(&workshop) {
        assert!(report.contains("step 3 was overdue: 1 pods of web were there"), "{report}");
    }
    let workshop = Workshop::open("own-words-may-fail");
    let scenario =
        format!("title: It may fail{GIVEN}{}", steps.replace("at_most: 30s", "at_most: 30s, may_fail: true"));
    let output = workshop.command(&scenario, None).args(["--min-judged", "2"]).output().unwrap();
    let (code, out, err) = told(&output);
    assert!(out.contains("\nHELD  "), "{out}");
    assert_eq!(err, "scenarios judged on their claim: 1, and --min-judged asks for 2\n");
    assert_eq!(code, 2, "{out}");
    assert!(out.contains(", as it may be: 1 pods of web were there  until "), "{out}");
    for report in &reports(&workshop)[1..] {
        assert!(report.contains(", as it may be: 1 pods of web were there"), "{report}");
    }
}
