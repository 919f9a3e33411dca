//! The verbs that need no run: `check`, `explain`, `list`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use scaleproof::check::{Verdict, catalogue};
use scaleproof::history::file;
use scaleproof::report::json;

use crate::rich::rich;
use crate::{folder, stored};

fn scaleproof(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scaleproof"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn check_judges_a_history_again_and_ends_with_its_verdict() {
    let mut seen = [false; 3];
    for (path, history) in stored() {
        let exit = match scaleproof::check::judge(&history).overall() {
            Verdict::Held { .. } => 0,
            Verdict::Violated { .. } => 1,
            Verdict::Unknown { .. } => 2,
        };
        if std::mem::replace(&mut seen[usize::try_from(exit).unwrap()], true) {
            continue;
        }
        let (code, out, err) = scaleproof(&["check", path.to_str().unwrap()]);
        assert_eq!((code, &*err), (exit, ""), "{out}");
        assert!(out.contains(&format!("\nexit code {exit}: ")) && !out.contains('\u{1b}'), "{out}");
    }
    assert_eq!(seen, [true; 3]);
}

#[test]
fn check_writes_all_reports() {
    let folder = folder("reports");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let history = folder.join("history.jsonl");
    file::write(&rich(), fs::File::create(&history).unwrap()).unwrap();
    let (history, out) = (history.to_str().unwrap(), folder.join("out"));
    let (code, told, _) = scaleproof(&["check", history, history, "--report", out.to_str().unwrap()]);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("2 runs: 0 held, 2 violated, 0 unknown"), "{told}");
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let document: json::Document = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(document.runs.len(), 2);
    assert!(read("junit.xml").contains("<testsuite ") && read("summary.md").contains("<details>"));
    assert!(
        read("01-history.html").contains("band-nodes") && Path::new(&out.join("02-history.html")).exists()
    );
}

#[test]
fn what_is_no_history_is_bad_input() {
    for path in ["no/such/history.jsonl", "Cargo.toml"] {
        let (code, out, err) = scaleproof(&["check", path]);
        assert_eq!((code, &*out), (64, ""));
        assert!(err.starts_with("error: failed to ") && err.contains(path), "{err}");
    }
}

#[test]
fn explain_knows_every_code_and_says_so_when_it_does_not() {
    for expectation in catalogue() {
        let (code, out, _) = scaleproof(&["explain", &expectation.code.as_str().to_lowercase()]);
        assert!(code == 0 && out.contains(expectation.promise), "{out}");
    }
    for (wrong, says) in
        [("XX-99", "no expectation and no fault is called so"), ("nonsense", "it is no code such as SU-01")]
    {
        let (code, _, err) = scaleproof(&["explain", wrong]);
        assert!(code == 64 && err.contains(says), "{err}");
    }
}

#[test]
fn list_shows_expectations_and_scenarios_of_a_provider() {
    let (code, out, err) = scaleproof(&["list", "--provider", "hetzner"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("  SU-01  MUST ") && out.contains("suites/incidents/"), "{out}");
    let (code, out, _) = scaleproof(&["list", "--provider", "karpenter"]);
    assert!(code == 0 && out.contains("  KD-01  MUST ") && !out.contains("SU-05"), "{out}");
    assert_eq!(scaleproof(&["list", "--provider", "aws"]).0, 64);
}
