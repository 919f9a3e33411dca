//! The verbs that only read: `plan`, `lint` and `schema`, as a shell sees them.

#![expect(clippy::unwrap_used, reason = "all of this file is a test")]

use std::process::{Command, Stdio};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn run(arguments: &[&str]) -> (i32, String, String) {
    run_in(ROOT, arguments)
}

fn run_in(folder: &str, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scaleproof"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn all_that_there_is_passes_the_lint() {
    let (code, out, err) = run(&["lint"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("files without a mistake: "), "{out}");
}

#[test]
fn all_mistakes_of_all_files_are_told() {
    let (code, out, err) = run(&["lint", "tests/documents/scenario/steps.yaml", "tests/documents/profile"]);
    assert_eq!((code, out.as_str()), (64, ""));
    for told in ["did you mean `kill`?", "did you mean `hetzner`?", "did you mean `cluster_config`?"] {
        assert!(err.contains(told), "{told} is missing in {err}");
    }
    assert!(err.ends_with("files that cannot be used: 3 of 3\n"), "{err}");
}

#[test]
fn what_only_the_cloud_knows_is_told_too() {
    let (code, _, err) = run(&["lint", "tests/documents/cloud.yml"]);
    assert_eq!(code, 64);
    for told in ["the cloud has no type `cx34`", "the cloud has no location `fns1`", "sold_uot", "explode"] {
        assert!(err.contains(told), "{told} is missing in {err}");
    }
}

#[test]
fn codes_of_nobody_are_told_with_the_nearest() {
    let (code, out, err) = run(&["lint", "tests/documents/codes.yml"]);
    assert_eq!((code, out.as_str()), (64, ""));
    for told in
        ["there is no expectation SU-99", "there is no expectation QQ-77", "did you mean `SU-", "SU-9"]
    {
        assert!(err.contains(told), "{told} is missing in {err}");
    }
    assert!(
        !err.contains("expectation SU-01") && err.ends_with("files that cannot be used: 1 of 1\n"),
        "{err}"
    );
}

#[test]
fn every_suite_has_a_plan_for_every_profile_it_is_about() {
    let suite = "suites/incidents/s3-a-server-that-never-comes.yaml";
    for subject in
        ["mock-autoscaler-hetzner", "cluster-autoscaler-hetzner", "cluster-autoscaler-hetzner-proxy"]
    {
        let (code, out, err) = run(&["plan", suite, "--subject", subject, "--seed", "7"]);
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(out.contains("\nseed 7, 1 replica of the subject\n"), "{out}");
        assert!(out.contains("given back, for at most 20m\n"), "{out}");
    }
    let negative = "suites/negative/a-subject-that-ignores-the-maximum-is-convicted.yaml";
    let (code, _, err) = run(&["plan", negative, "--subject", "cluster-autoscaler-hetzner"]);
    assert_eq!(code, 64);
    assert!(err.contains("failed to ask for defect: profile cluster-autoscaler-hetzner"), "{err}");
}

#[test]
fn what_is_not_there_is_bad_input() {
    for arguments in [
        &["plan", "suites/none.yaml"][..],
        &["plan", "suites/conformance/scale-up/pending-pods-get-a-node.yaml", "--subject", "none"],
        &["lint", "none"],
        &["lint", "src"],
        &["schema", "history"],
    ] {
        let (code, out, err) = run(arguments);
        assert_eq!((code, out.as_str()), (64, ""), "{arguments:?}");
        assert!(err.starts_with("error: "), "{err}");
    }
}

#[test]
fn elsewhere_there_are_the_same_profiles_and_a_word_about_the_scenarios() {
    let elsewhere = env!("CARGO_TARGET_TMPDIR");
    let scenario = format!("{ROOT}/suites/conformance/scale-up/pending-pods-get-a-node.yaml");
    for subject in [&[][..], &["--subject", "cluster-autoscaler-hetzner"]] {
        let arguments = [&["plan", scenario.as_str()], subject].concat();
        let (code, out, err) = run_in(elsewhere, &arguments);
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(out.contains("subject"), "{out}");
    }
    let (code, _, err) = run_in(elsewhere, &["plan", &scenario, "--subject", "hetzner"]);
    assert!(code == 64 && err.contains(", karpenter-kwok, ") && err.contains("by its path"), "{err}");
    let (code, _, err) = run_in(elsewhere, &["run"]);
    assert!(code == 64 && err.contains("lie beside the source"), "{err}");
}

#[test]
fn schemas_are_json() {
    for (arguments, title) in [(&["schema"][..], "Scenario"), (&["schema", "profile"], "Profile")] {
        let (code, out, _) = run(arguments);
        assert_eq!(code, 0);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&out).unwrap()["title"], title);
    }
}
