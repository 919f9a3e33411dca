//! However a run ends, at whatever moment: no process is left, no port, no folder but the one it told of, and what was
//! recorded can be judged.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use scaleproof::history::{SubjectChange, What, file};

use crate::workshop::{SCALEPROOF, Workshop, pause, told};

/// It would take its time; the subject is killed and started again meanwhile.
const LONG: &str = "
title: It goes on and on
expect: [SU-01]
given:
  pools: {small: {min: 1, max: 5}}
  workloads:
    - {name: web, pods: 3, cpu: 2500m, memory: 1Gi}
steps:
  - wait: 1m
  - subject: kill
  - wait: 100h
";

const SIGNALS: [Signal; 3] = [Signal::KILL, Signal::TERM, Signal::INT];

/// From before its first line until its steps.
const MOMENTS: [u64; 4] = [0, 300, 900, 2_000];

#[test]
fn nothing_is_left_of_a_run_that_is_killed() {
    for ms in MOMENTS {
        end_after(Signal::KILL, ms, "idle-skip");
    }
    end_after(Signal::KILL, 1_500, "real");
}

#[test]
fn nothing_is_left_of_a_run_that_is_told_to_end() {
    for ms in MOMENTS {
        end_after(Signal::TERM, ms, "idle-skip");
    }
    end_after(Signal::TERM, 1_500, "real");
}

#[test]
fn nothing_is_left_of_a_run_that_is_interrupted() {
    for ms in MOMENTS {
        end_after(Signal::INT, ms, "idle-skip");
    }
    end_after(Signal::INT, 1_500, "real");
}

#[test]
#[ignore = "long: it belongs to the soak profile"]
fn nothing_is_left_of_a_run_that_is_ended_at_any_moment() {
    for ms in (0..3_000).step_by(37) {
        for (n, signal) in SIGNALS.into_iter().enumerate() {
            end_after(signal, ms, if (ms / 37 + n as u64).is_multiple_of(4) { "real" } else { "idle-skip" });
        }
    }
}

/// Starts a run, ends it after so many milliseconds, and looks what is left.
fn end_after(signal: Signal, ms: u64, time: &str) {
    let says = format!("{signal:?} after {ms} ms, time {time}");
    let workshop = Workshop::open(&format!("orphans-{}-{ms}-{time}", signal.as_raw()));
    let scenario = workshop.write("scenario.yaml", LONG);
    let temporary = workshop.folder.join("tmp");
    fs::create_dir(&temporary).unwrap();
    let mut command = Command::new(SCALEPROOF);
    // Twice: whoever is interrupted does not go on to the next.
    command.args(["run", &scenario, &scenario, "--time", time]).env("TMPDIR", &temporary);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = command.spawn().unwrap();
    pause(ms);
    assert!(
        run.try_wait().unwrap().is_none(),
        "{says}: it has ended by itself: {:?}",
        run.wait_with_output()
    );
    kill_process(Pid::from_child(&run), signal).unwrap();
    let folder = told_folder(&mut run);
    let ended = run.wait_with_output().unwrap();
    assert!(workshop.is_deserted(), "{says}: left are {:?}", workshop.left());
    let left: Vec<PathBuf> = fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.iter().all(|left| Some(left) == folder.as_ref()), "{says}: {left:?}, told of {folder:?}");
    if let Some(history) = folder.and_then(|folder| recorded(&folder)) {
        readable(&history, &says);
        if signal != Signal::KILL && ended.status.code().is_some() {
            assert_eq!(ended.status.code(), Some(2), "{says}: {:?}", told(&ended));
        }
    }
}

/// The folder that the first line tells of, if it came to that.
fn told_folder(run: &mut Child) -> Option<PathBuf> {
    let mut out = BufReader::new(run.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    out.read_to_string(&mut String::new()).unwrap();
    first.trim_end().rsplit_once("histories in ").map(|(_, folder)| PathBuf::from(folder))
}

/// The history, if anything was recorded.
fn recorded(folder: &Path) -> Option<PathBuf> {
    let run = fs::read_dir(folder).ok()?.next()?.unwrap().path();
    let history = run.join("history.jsonl");
    let whole = fs::read(&history).is_ok_and(|bytes| bytes.contains(&b'\n'));
    whole.then_some(history)
}

/// It can be judged, to nobody's praise; and nobody listens any more where the subject did.
fn readable(path: &Path, says: &str) {
    let checked = Command::new(SCALEPROOF).arg("check").arg(path).output().unwrap();
    let (code, out, err) = told(&checked);
    assert_eq!((code, err.as_str()), (2, ""), "{says}: {out}");
    let history = file::open(path).unwrap();
    assert!(history.cut_short.is_some() && out.contains("the history is not whole"), "{says}: {out}");
    let commands = history.events.iter().filter_map(|event| match &event.what {
        What::Subject(subject) => match &subject.change {
            SubjectChange::Prepared { command, .. } => Some(command),
            _ => None,
        },
        _ => None,
    });
    let addresses = commands.flatten().filter_map(|word| word.strip_prefix("--address="));
    for address in addresses {
        assert!(TcpStream::connect(address).is_err(), "{says}: somebody listens at {address}");
    }
}
