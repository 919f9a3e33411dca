//! Runs side by side as a shell sees them: the same verdicts however many go at a time, in the same order; and when the
//! program is told to end, or killed, nothing of them is left but their histories.

#![expect(clippy::unwrap_used, reason = "all of this file is a test")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mock_clock::{Clock as _, Mode, VirtualClock};
use rustix::process::{Pid, Signal, kill_process};

/// Three short ones; the second is convicted.
const THREE: [&str; 3] = [
    "suites/incidents/s3-the-network-plugin-is-late.yaml",
    "suites/negative/a-subject-that-ignores-the-maximum-is-convicted.yaml",
    "suites/incidents/s3-the-csi-node-is-late.yaml",
];

fn scaleproof(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scaleproof"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A folder of its own; gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("scaleproof-test-{name}-{}", std::process::id())))
    }

    fn text(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Scenario and verdict, as the table has them.
fn table(out: &str) -> Vec<(String, String)> {
    let rows = out.lines().filter(|line| line.contains(".yaml  "));
    rows.map(|row| {
        let mut words = row.split_whitespace().map(str::to_owned);
        (words.next().unwrap(), words.next().unwrap())
    })
    .collect()
}

#[test]
fn verdicts_and_their_order_are_the_same_however_many_go_at_a_time() {
    let told = |jobs: &str| {
        let arguments = [&["run", "--negative"][..], &THREE, &["--seed", "7", "--jobs", jobs]].concat();
        let output = scaleproof(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
        table(&String::from_utf8(output.stdout).unwrap())
    };
    let one = told("1");
    assert_eq!(one.iter().map(|(_, scenario)| scenario.as_str()).collect::<Vec<_>>(), THREE);
    assert_eq!(one, told("3"));
}

#[test]
fn scenarios_of_the_same_name_do_not_share_a_folder() {
    let folder = Folder::new("same-name");
    let other = folder.0.join("elsewhere");
    fs::create_dir_all(&other).unwrap();
    let copy = other.join("s3-the-csi-node-is-late.yaml");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(THREE[2]), &copy).unwrap();
    let arguments = ["run", THREE[2], copy.to_str().unwrap(), "--seed", "7", "--report", folder.text()];
    assert!(scaleproof(&arguments).output().unwrap().status.success());
    for name in ["s3-the-csi-node-is-late-7", "s3-the-csi-node-is-late-7-2"] {
        assert!(folder.0.join(name).join("timeline.html").is_file(), "{name}");
    }
}

/// Starts three runs, two at a time.
fn started(folder: &Folder) -> Child {
    let arguments =
        [&["run", "--negative"][..], &THREE, &["--seed", "7", "--jobs", "2", "--report", folder.text()]]
            .concat();
    scaleproof(&arguments).spawn().unwrap()
}

/// Starts them, and waits until the subjects of two run.
fn begun(folder: &Folder) -> Child {
    let child = started(folder);
    until("the subjects run", || relatives(folder).len() == 2);
    child
}

/// Processes whose command line speaks of the folder: subjects.
fn relatives(folder: &Folder) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read_to_string(process.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(folder.text()) && line.contains("kubeconfig")).collect()
}

/// Processes that do errands for this one.
fn errands(child: &Child) -> Vec<PathBuf> {
    let path = format!("/proc/{0}/task/{0}/children", child.id());
    let children = fs::read_to_string(path).unwrap();
    children.split_whitespace().map(|pid| Path::new("/proc").join(pid)).collect()
}

fn until(what: &str, done: impl Fn() -> bool) {
    let clock = VirtualClock::start(Mode::Real, None).unwrap();
    for _ in 0..6000 {
        if done() {
            return;
        }
        clock.sleep(Duration::from_millis(10)).wait();
    }
    panic!("it never comes to this: {what}");
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), signal).unwrap();
}

/// The histories under the folder are readable, and say that they are not whole.
fn are_cut_short(folder: &Folder, histories: usize) {
    let histories = THREE.iter().take(histories).map(|scenario| {
        let stem = Path::new(scenario).file_stem().unwrap().to_str().unwrap();
        folder.0.join(format!("{stem}-7/history.jsonl"))
    });
    for history in histories {
        let output = scaleproof(&["check", history.to_str().unwrap()]).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(out.contains("the history is not whole: "), "{out}");
    }
}

#[test]
fn who_is_told_to_end_leaves_histories_and_nothing_else() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = Folder::new("interrupted");
        let child = begun(&folder);
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{out}{err}");
        assert!(err.contains("interrupted: ") && err.contains("1 of 3 runs were not begun"), "{err}");
        assert_eq!(table(&out).len(), 2, "{out}");
        assert_eq!(relatives(&folder), [""; 0]);
        are_cut_short(&folder, 2);
    }
}

#[test]
fn what_was_too_late_to_be_judged_is_tried_again_and_told() {
    let folder = Folder::new("late");
    let arguments = ["run", THREE[0], "--seed", "7", "--retry-late", "1", "--report", folder.text()];
    let child = scaleproof(&arguments).spawn().unwrap();
    until("the subject runs", || relatives(&folder).len() == 1);
    // A process that is stopped is one that gets no processor.
    let errand = errands(&child).remove(0);
    let pid = Pid::from_raw(errand.file_name().unwrap().to_str().unwrap().parse().unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    VirtualClock::start(Mode::Real, None).unwrap().sleep(Duration::from_millis(1500)).wait();
    kill_process(pid, Signal::CONT).unwrap();
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{out}");
    assert!(out.contains("an attempt before was given up: the harness was "), "{out}");
    for report in ["report.json", "junit.xml", "summary.md", "s3-the-network-plugin-is-late-7/history.jsonl"]
    {
        let report = fs::read_to_string(folder.0.join(report)).unwrap();
        assert!(report.contains("late"), "{report}");
    }
    let again = fs::read_to_string(folder.0.join("junit.xml")).unwrap();
    assert!(
        again.contains("given up") && folder.0.join("s3-the-network-plugin-is-late-7-attempt-2").is_dir()
    );
}

/// What has not begun to listen, and what is not waited for, is ended all the same, and is nobody's mistake.
#[test]
fn who_does_not_wait_is_obeyed_at_once() {
    for since_begun in [0, 10, 100, 1000] {
        let folder = Folder::new("not-waited-for");
        let child = started(&folder);
        until("runs have begun", || errands(&child).len() == 2);
        let clock = VirtualClock::start(Mode::Real, None).unwrap();
        clock.sleep(Duration::from_millis(since_begun)).wait();
        send(&child, Signal::INT);
        clock.sleep(Duration::from_millis(5)).wait();
        send(&child, Signal::INT);
        let output = child.wait_with_output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{out}{err}");
        until("all subjects have ended", || relatives(&folder).is_empty());
    }
}

#[test]
fn who_is_killed_leaves_histories_and_nothing_else() {
    let folder = Folder::new("killed");
    let mut child = begun(&folder);
    let errands = errands(&child);
    assert_eq!(errands.len(), 2);
    child.kill().unwrap();
    child.wait().unwrap();
    until("all that it started has ended", || {
        relatives(&folder).is_empty() && !errands.iter().any(|process| process.join("fd/0").exists())
    });
    are_cut_short(&folder, 2);
}

#[test]
fn what_is_up_can_be_reached_and_is_gone_afterwards() {
    let mut child = scaleproof(&["up", "--pool", "workers=cx33:1:5"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut word = |name: &str| {
        let line = lines.find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    let [cluster, kubeconfig, cloud] = ["cluster", "kubeconfig", "cloud"].map(&mut word);
    let address = |url: &str| url.split('/').nth(2).unwrap().to_owned();
    for url in [&cluster, &cloud] {
        TcpStream::connect(address(url)).unwrap();
    }
    assert!(fs::read_to_string(&kubeconfig).unwrap().contains(&cluster));
    send(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(err, "starting; Ctrl-C ends it\n");
    assert!(!Path::new(&kubeconfig).parent().unwrap().exists());
    assert!(TcpStream::connect(address(&cloud)).is_err());
}
