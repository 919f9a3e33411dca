//! Subjects of no use: each gives an error that says what is wrong with it, or a history that nobody believes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use scaleproof::history::{SubjectChange, What};

use crate::workshop::{QUIET, Workshop, events, told};

#[test]
fn a_program_that_may_not_be_executed() {
    let workshop = Workshop::open("not-executable");
    let program = workshop.write("subject", "#!/bin/sh\n");
    let (code, _, err) = workshop.run(QUIET, Some(&program));
    assert_eq!(code, 64, "{err}");
    assert!(err.contains(&format!("failed to start {program}: Permission denied")), "{err}");
    assert!(err.contains("chmod +x"), "{err}");
}

#[test]
fn files_that_are_no_programs_for_this_machine() {
    let workshop = Workshop::open("no-program");
    let mut elsewhere = fs::read("/bin/true").unwrap();
    elsewhere[18] = 8;
    for (file, says) in [
        (elsewhere.as_slice(), "built for another processor (ELF machine 8, "),
        (b"echo hello\n", "it is neither a program in ELF format nor a script"),
        (b"", "it is neither a program in ELF format nor a script"),
        (b"#!/no/such/interpreter\n", "the interpreter that it names in its first line is not"),
    ] {
        let program = workshop.write("subject", file);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let (code, _, err) = workshop.run(QUIET, Some(&program));
        assert!(err.contains(&format!("failed to start {program}: ")) && err.contains(says), "{err}");
        assert_eq!(code, if file.starts_with(b"#!") { 69 } else { 64 }, "{err}");
    }
}

#[test]
fn one_that_exits_at_once() {
    let workshop = Workshop::open("exits");
    let program = workshop.script("echo unknown flag: --moon >&2; exit 3");
    let (code, out, err) = workshop.run(QUIET, Some(&program));
    assert_eq!((code, err.as_str()), (2, ""), "nobody has mistyped anything: {out}");
    let told = "failed to keep the subject running: replica 0 exits with code 3, 3 times so far";
    assert!(out.contains(told) && out.contains("unknown flag: --moon"), "{out}");
    let profile = workshop.path("profile.yaml");
    assert!(
        out.contains(&format!(" --subject {profile} --binary {program} ")),
        "found by its path only: {out}"
    );
    let history = workshop.history();
    let ends = events(&history, |what| match what {
        What::Subject(subject) => Some(&subject.change),
        _ => None,
    });
    let exit = SubjectChange::Exited { code: Some(3), signal: None };
    let exits: Vec<_> = ends.iter().filter(|(_, it)| **it == exit).map(|(it, _)| it.at).collect();
    assert_eq!(exits.len(), 3);
    let waits: Vec<u64> = exits.windows(2).map(|two| (two[1] - two[0]).as_secs()).collect();
    assert!((10..15).contains(&waits[0]) && (20..25).contains(&waits[1]), "like a kubelet: {waits:?}");
}

#[test]
fn one_that_hangs() {
    let workshop = Workshop::open("hangs");
    let program = workshop.script("exec sleep 1000000");
    let (code, out, err) = workshop.run(QUIET, Some(&program));
    assert_eq!((code, err.as_str()), (2, ""), "{out}");
    assert!(out.contains("failed to reach a steady state within 120 s: replica 0 "), "{out}");
    assert!(workshop.is_deserted());
}

#[test]
fn one_that_leads_and_does_nothing_is_unsteady() {
    let workshop = Workshop::open("ill");
    // It never gets at the lease: another holds it.
    let program = workshop.script("exec $MOCK \"$@\" --leader-elect-resource-name=elsewhere");
    let (code, out, _) = workshop.run(QUIET, Some(&program));
    assert_eq!(code, 2, "{out}");
    assert!(out.contains("nobody holds the lease kube-system/cluster-autoscaler"), "{out}");
}

#[test]
fn one_that_floods_its_log() {
    let workshop = Workshop::open("floods");
    let program = workshop.script("yes $(printf %01000d 7) | head -c 80000000\necho dry\nexec $MOCK \"$@\"");
    let (code, out, err) = workshop.run(QUIET, Some(&program));
    assert_eq!(err, "", "{out}");
    assert!([0, 2].contains(&code) && !out.contains("steady"), "{out}");
    let length = |name: &str| fs::metadata(workshop.path(&format!("out/scenario-7/{name}"))).unwrap().len();
    assert!(length("history.jsonl") < 50 << 20, "{}", length("history.jsonl"));
    assert!(length("subject-0/log") < 65 << 20, "{}", length("subject-0/log"));
    let history = workshop.history();
    let lines = events(&history, |what| if let What::Log(log) = what { Some(&log.line) } else { None });
    assert!(lines.last().unwrap().1.starts_with("(cut here"), "{:?}", lines.last());
}

#[test]
fn one_that_does_not_end_when_it_is_told_to() {
    let workshop = Workshop::open("stays");
    let program = workshop.script("trap '' TERM\n$MOCK \"$@\" &\nwhile :; do sleep 1000; done");
    let (_, out, err) = workshop.run(QUIET, Some(&program));
    assert_eq!(err, "", "{out}");
    let history = workshop.history();
    let ends = events(&history, |what| match what {
        What::Subject(subject) => match subject.change {
            SubjectChange::Exited { signal, .. } => Some(signal),
            _ => None,
        },
        _ => None,
    });
    let account = events(&history, |what| matches!(what, What::Account(_)).then_some(()));
    let [(end, signal)] = ends.as_slice() else { panic!("{ends:?}") };
    assert_eq!(*signal, Some(9));
    assert!((end.at - account[0].0.at).as_secs() >= 30, "it has its time");
    assert_eq!(history.cut_short, None);
    assert!(workshop.is_deserted());
}

#[test]
fn one_that_leaves_children_behind() {
    let workshop = Workshop::open("children");
    let program = workshop.script("sleep 1000000 &\nsetsid sleep 1000000 &\nexec $MOCK \"$@\"");
    let (_, out, err) = workshop.run(QUIET, Some(&program));
    assert_eq!(err, "", "{out}");
    assert_eq!(workshop.history().cut_short, None, "nobody waited for them");
    assert!(workshop.left().is_empty(), "{:?}", workshop.left());
}

#[test]
fn runs_beside_each_other_do_not_disturb_each_other() {
    let workshops: Vec<Workshop> = (0..4).map(|n| Workshop::open(&format!("beside-{n}"))).collect();
    let runs: Vec<_> =
        workshops.iter().map(|workshop| workshop.command(QUIET, None).spawn().unwrap()).collect();
    for (run, workshop) in runs.into_iter().zip(&workshops) {
        let (_, out, err) = told(&run.wait_with_output().unwrap());
        assert_eq!(err, "", "{out}");
        let history = workshop.history();
        let starts = events(&history, |what| match what {
            What::Subject(subject) => matches!(subject.change, SubjectChange::Started { .. }).then_some(()),
            _ => None,
        });
        assert_eq!(starts.len(), 1, "none had to be started again");
    }
}
