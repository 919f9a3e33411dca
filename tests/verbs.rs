//! The verbs that run nothing: `plan`, `lint`, `schema` and `suites`, as a shell sees them, here and elsewhere.

#![expect(clippy::unwrap_used, reason = "all of this file is a test")]

use std::fs;
use std::path::{Path, PathBuf};
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
    for told in [
        "the cloud has no type `cx34`",
        "the cloud has no location `fns1`",
        "did you mean `sold_out`?",
        "explode",
    ] {
        assert!(err.contains(told), "{told} is missing in {err}");
    }
}

#[test]
fn what_can_be_written_and_cannot_be_meant_is_told() {
    let (code, _, err) = run(&["lint", "tests/documents/sense.yml"]);
    assert_eq!(code, 64);
    for told in [
        "`expander` cannot be \"lest-waste\"",
        "`enforce_min` cannot be \"yes\"",
        "it reads `min:max`",
        "a share in percent",
        "`mock-autoscaler` has no defect `nonsense`",
        "the pool `none` has no node by then",
        "no node has room for a pod of `huge`",
        "the largest has 4000m and 8192Mi",
        "no node of `small` has a taint `example.com/other`",
        "no server is called `a-0`",
        "nothing is changed here",
        "`deed` knows no `explode`",
        "the field `server` is unknown",
        "`count`, `for_s`, `from`, ",
        "`fate` knows no `hung`",
        "did you mean `hang`?",
        "did you mean `delay`?",
        "`fate` says only `delay`",
    ] {
        assert!(err.contains(told), "{told} is missing in {err}");
    }
    for fine in ["pod of `meant`", "taint `example.com/mine`", "called `small-0`"] {
        assert!(!err.contains(fine), "{fine} is told in {err}");
    }
}

#[test]
fn faults_are_explained_with_all_that_can_be_written_of_them() {
    let (code, by_code, _) = run(&["explain", "F401"]);
    assert_eq!(code, 0);
    for told in [
        "\n  kind: sold_out  ",
        "\n    location: a text  ",
        "\n    per_cent: a number  ",
        "\n  kind: torn_list  ",
    ] {
        assert!(by_code.contains(told), "{told} is missing in {by_code}");
    }
    assert_eq!(run(&["explain", "cloud"]).1, by_code);
    let (_, calls, _) = run(&["explain", "F302"]);
    for told in ["\n    lose_answer  ", "\n    delay: ", "\n  first: a whole number  "] {
        assert!(calls.contains(told), "{told} is missing in {calls}");
    }
    let (code, one, _) = run(&["explain", "sold_out"]);
    assert!(code == 0 && one.contains("server_type: a text") && !one.contains("torn_list"), "{one}");
    let (code, out, err) = run(&["explain", "soldout"]);
    assert_eq!((code, out.as_str()), (64, ""));
    assert!(err.contains("did you mean `sold_out`?"), "{err}");
}

#[test]
fn a_seed_that_nobody_names_is_drawn_and_told() {
    let scenario = "suites/conformance/scale-up/pending-pods-get-a-node.yaml";
    let seed = || {
        let out = run(&["plan", scenario]).1;
        out.lines().find_map(|line| Some(line.strip_prefix("seed ")?.split(',').next()?.to_owned())).unwrap()
    };
    let seeds: std::collections::BTreeSet<String> = (0..5).map(|_| seed()).collect();
    assert!(seeds.len() > 1, "{seeds:?}");
}

#[test]
fn whoever_names_a_program_without_its_profile_is_asked() {
    let scenario = "suites/conformance/scale-up/pending-pods-get-a-node.yaml";
    let (code, out, err) = run(&["run", scenario, "--binary", "/bin/true"]);
    assert_eq!((code, out.as_str()), (64, ""));
    assert!(
        err.starts_with("error: failed to tell what /bin/true is: name its profile with --subject PROFILE; ")
            && err.contains(" karpenter-kwok,"),
        "{err}"
    );
}

#[test]
fn a_kubeconfig_that_is_not_there_is_told_with_the_flag_there_is() {
    let scenario = "suites/conformance/scale-up/pending-pods-get-a-node.yaml";
    let (_, _, err) = run(&["run", scenario, "--cluster", "existing=/nope", "--time", "real"]);
    assert!(err.contains("give another with --cluster existing=KUBECONFIG"), "{err}");
    let flags = run(&["run", "--help"]).1;
    assert!(flags.contains("--cluster") && flags.contains("existing=KUBECONFIG"), "{flags}");
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
fn what_is_not_applicable_is_told_and_not_run() {
    let foreign = "suites/conformance/scale-up/expendable-pods-buy-nothing.yaml";
    let own = "suites/conformance/karpenter/annotated-nodes-stay.yaml";
    let why = "nothing that it asks for applies: it is no promise of the provider karpenter";
    let subject = ["--subject", "mock-autoscaler-karpenter"];
    let (code, out, err) = run(&[&["run", foreign, own, "--list"], &subject[..]].concat());
    let told = format!("not applicable {foreign}: {why}\napplicable {own}\n");
    assert_eq!((code, out, err.as_str()), (0, told, ""));
    let (code, out, err) = run(&[&["run", foreign], &subject[..]].concat());
    assert_eq!((code, out), (64, format!("not applicable {foreign}: {why}\n")));
    assert_eq!(err, "error: failed to find a scenario that is about this subject\n");
    // What a scenario says itself, it asks of everybody.
    let own_words = "suites/conformance/scale-up/one-node-does-for-two-small-pods.yaml";
    assert!(run(&[&["run", own_words, "--list"], &subject[..]].concat()).1.starts_with("applicable "));
}

#[test]
fn whoever_wants_a_conviction_says_so() {
    let negative = "suites/negative/a-subject-that-ignores-the-maximum-is-convicted.yaml";
    let why = "it is for a subject that is wrong on purpose; --negative runs it";
    let (code, out, _) = run(&["run", negative]);
    assert_eq!((code, out), (64, format!("not applicable {negative}: {why}\n")));
    assert_eq!(run(&["run", "--negative", "--list", negative]).1, format!("applicable {negative}\n"));
    // A history says itself what its scenario wants, and whoever gives it away can write there what he likes.
    let folder = std::env::temp_dir().join(format!("scaleproof-wanted-{}", std::process::id()));
    let forged = folder.join("history.jsonl");
    let honest = fs::read_to_string("fixtures/histories/MM-01/one_too_many.violated.jsonl").unwrap();
    fs::create_dir_all(&folder).unwrap();
    fs::write(&forged, honest.replacen("\"expect\":[", "\"convicts\":[\"MM-01\"],\"expect\":[", 1)).unwrap();
    let forged = forged.to_str().unwrap();
    let (code, out, err) = run(&["check", forged]);
    assert_eq!(code, 1, "{out}");
    assert!(err.contains("`--negative` takes a conviction for what was wanted"), "{err}");
    assert_eq!(run(&["check", "--negative", forged]).0, 0);
    fs::remove_dir_all(folder).unwrap();
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

/// A folder of a test's own, with nothing in it.
fn empty(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn elsewhere_there_are_the_same_profiles_and_scenarios() {
    let elsewhere = empty("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    let short = "conformance/scale-up/pending-pods-get-a-node";
    let whole = format!("suites/{short}.yaml");
    let outside = format!("{ROOT}/{whole}");
    for scenario in [short, &whole, &outside] {
        for subject in [&[][..], &["--subject", "cluster-autoscaler-hetzner"]] {
            let arguments = [&["plan", scenario], subject].concat();
            let (code, out, err) = run_in(elsewhere, &arguments);
            assert_eq!((code, err.as_str()), (0, ""));
            assert!(out.contains("subject"), "{out}");
        }
    }
    for arguments in [&["lint"][..], &["list"], &["list", "chaos/cloud"], &["explain", "SU-01"]] {
        assert_eq!(run_in(elsewhere, arguments), run(arguments), "{arguments:?}");
    }
    let (code, _, err) = run_in(elsewhere, &["plan", short, "--subject", "hetzner"]);
    assert!(code == 64 && err.contains(", karpenter-kwok, ") && err.contains("by its path"), "{err}");
    let (code, _, err) = run_in(elsewhere, &["plan", short, "--subject", "mine.yaml"]);
    assert!(code == 64 && err.contains("profile mine.yaml: there is no") && err.contains("-kwok, "), "{err}");
    assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 0);
}

#[test]
fn what_is_here_wins_over_what_comes_along() {
    let here = empty("here");
    fs::create_dir_all(here.join("suites/incidents")).unwrap();
    let (one, mine) = ("suites/incidents/s4-a-storm-of-edits.yaml", here.join("suites/incidents/mine.yaml"));
    let text = fs::read_to_string(Path::new(ROOT).join(one)).unwrap();
    fs::write(mine, text.replace("title: ", "title: Mine. ")).unwrap();
    let here = here.to_str().unwrap();
    for named in ["incidents", "suites", "./suites", "suites/incidents/mine.yaml", "incidents/mine"] {
        let (_, out, err) = run_in(here, &["list", named]);
        let (_, scenarios) = out.split_once("\nScenarios ").unwrap();
        assert_eq!((scenarios.lines().count(), err.as_str()), (2, ""), "{named}: {scenarios}");
        assert!(scenarios.contains("suites/incidents/mine.yaml") && scenarios.contains(" Mine. "), "{named}");
    }
    // A file that comes along and has no other of its name here is still there.
    assert_eq!(run_in(here, &["plan", one]).0, 0);
    assert!(run_in(here, &["list", "chaos/cloud"]).1.contains("\n  suites/chaos/cloud/"));
}

#[test]
fn what_is_nowhere_is_told_with_what_there_is() {
    for verb in ["run", "plan", "lint", "list", "up"] {
        let (code, out, err) = run_in(empty(verb).to_str().unwrap(), &[verb, "incidnts"]);
        assert_eq!((code, out.as_str()), (64, ""));
        let told = "error: failed to find incidnts: there is no such file or folder; in suites, did you mean `incidents`?\n";
        assert!(err.starts_with(told) && err.contains("`scaleproof suites --write DIR`"), "{err}");
    }
    let (code, _, err) = run(&["lint", "none", "nor-this", "suites"]);
    assert!(code == 64 && err.contains("find none: ") && err.contains("find nor-this: "), "{err}");
    let (code, _, err) = run_in(empty("folder").to_str().unwrap(), &["plan", "incidents"]);
    assert_eq!((code, err.as_str()), (64, "error: failed to read incidents: is a directory\n"));
}

#[test]
fn the_scenarios_that_come_along_are_listed_with_their_claims() {
    let (code, out, err) = run_in(empty("listed").to_str().unwrap(), &["suites"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let titled = out.lines().filter(|line| line.strip_prefix("  ").is_some_and(|rest| rest.contains("  ")));
    assert_eq!(titled.count(), scaleproof::scenario::builtin().len(), "{out}");
    for line in ["\nincidents\n", "\n  s1-a-minimum-without-the-flag ", "  Without the flag, "] {
        assert!(out.contains(line), "{line} is missing in {out}");
    }
}

#[test]
fn what_comes_along_is_written_and_can_be_used() {
    let folder = empty("written").join("new/folder");
    let folder = folder.to_str().unwrap();
    let (code, out, err) = run(&["suites", "--write", folder]);
    assert_eq!((code, err.as_str()), (0, ""));
    let count = scaleproof::scenario::builtin().len();
    assert!(out.contains(&format!("{count} scenarios")) && out.contains("scaleproof lint"), "{out}");
    // Nothing of it comes along: all the scenarios are those files.
    assert!(run_in(folder, &["list"]).1.contains(" suites/incidents/s4-a-storm-of-edits.yaml "));
    fs::remove_file(format!("{folder}/suites/incidents/s4-a-storm-of-edits.yaml")).unwrap();
    assert!(!run_in(folder, &["list"]).1.contains(" suites/incidents/s4-a-storm-of-edits.yaml "));
    let all = run(&["lint"]).1;
    let number = |out: &str| out.trim().rsplit(' ').next().unwrap().parse::<usize>().unwrap();
    for arguments in [&["lint"][..], &["lint", "."], &["lint", "suites", "profiles"]] {
        let (code, out, err) = run_in(folder, arguments);
        assert_eq!((code, number(&out), err.as_str()), (0, number(&all) - 1, ""), "{arguments:?}");
    }
    for (kind, arguments) in [("scenario", &["schema"][..]), ("profile", &["schema", "profile"])] {
        let written = fs::read_to_string(format!("{folder}/schemas/{kind}.schema.json")).unwrap();
        assert_eq!(written, run(arguments).1);
    }
    let (code, out, _) = run(&["suites", "--write", folder]);
    assert!(code == 0 && out.starts_with(&format!("files written to {folder}: 1 of ")), "{out}");
}

#[test]
fn files_that_say_something_else_are_written_over_only_by_force() {
    let folder = empty("kept");
    let (mine, other) = (folder.join("profiles/karpenter-kwok.yaml"), folder.join("schemas"));
    fs::create_dir_all(mine.parent().unwrap()).unwrap();
    fs::write(&mine, "mine\n").unwrap();
    let folder = folder.to_str().unwrap();
    let (code, out, err) = run(&["suites", "--write", folder]);
    assert_eq!((code, out.as_str()), (64, ""));
    assert!(
        err.contains(" something else in profiles/karpenter-kwok.yaml\n") && err.contains("`--force`"),
        "{err}"
    );
    assert!(fs::read_to_string(&mine).unwrap() == "mine\n" && !other.exists(), "nothing was written");
    assert_eq!(run(&["suites", "--write", folder, "--force"]).0, 0);
    assert!(fs::read_to_string(&mine).unwrap().contains("provider: karpenter") && other.exists());
    assert_eq!(run(&["suites", "--force"]).0, 64);
}

#[test]
fn where_nothing_can_be_written_is_told() {
    let file = format!("{ROOT}/Cargo.toml");
    let (code, _, err) = run(&["suites", "--write", &file]);
    assert!(code == 64 && err.contains("Cargo.toml: it is a file\n"), "{err}");
    let (code, _, err) = run(&["suites", "--write", &format!("{file}/below")]);
    assert!(code == 69 && err.contains("Not a directory"), "{err}");
    let (code, out, err) = run(&["suites", "--write", "/proc/scaleproof"]);
    assert_eq!((code, out.as_str()), (69, ""));
    assert!(err.starts_with("error: failed to write /proc/scaleproof/"), "{err}");
}

#[test]
fn schemas_are_json() {
    for (arguments, title) in [(&["schema"][..], "Scenario"), (&["schema", "profile"], "Profile")] {
        let (code, out, _) = run(arguments);
        assert_eq!(code, 0);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&out).unwrap()["title"], title);
    }
}
