//! A folder of its own for each test, in which scenarios, profiles and programs are made and run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use mock_clock::{Clock as _, Mode, VirtualClock};
use scaleproof::history::{Event, History, What, file};

pub(crate) const SCALEPROOF: &str = env!("CARGO_BIN_EXE_scaleproof");
const MOCK: &str = include_str!("../../fixtures/autoscalers/mock-autoscaler-hetzner.yaml");

/// One in which nothing happens for a while.
pub(crate) const QUIET: &str = "
title: Nothing happens
expect: [SU-01]
given:
  pools: {small: {min: 0, max: 5}}
steps:
  - wait: 1m
";

pub(crate) struct Workshop {
    pub(crate) folder: PathBuf,
}

impl Workshop {
    pub(crate) fn open(name: &str) -> Workshop {
        let folder = std::env::temp_dir().join(format!("scaleproof-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Workshop { folder: folder.canonicalize().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// A program: a script for the shell. `$MOCK` in it starts the autoscaler that comes along.
    pub(crate) fn script(&self, text: &str) -> String {
        let mock = format!("{SCALEPROOF} mock-autoscaler");
        let path = self.write("subject.sh", format!("#!/bin/sh\n{}\n", text.replace("$MOCK", &mock)));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A run with a program in the place of the autoscaler that comes along.
    pub(crate) fn command(&self, scenario: &str, program: Option<&str>) -> Command {
        let scenario = self.write("scenario.yaml", scenario);
        // Whoever is given another program is not asked for its version.
        let profile = MOCK.replace("version_arguments: [--version]", "version: 1.36.1");
        let profile = self.write("profile.yaml", profile);
        let mut command = Command::new(SCALEPROOF);
        command.args(["run", &scenario, "--subject", &profile, "--seed", "7", "--report", &self.path("out")]);
        command.args(program.into_iter().flat_map(|program| ["--binary", program]));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The code that such a run ends with, what it prints and what it complains of.
    pub(crate) fn run(&self, scenario: &str, program: Option<&str>) -> (i32, String, String) {
        told(&self.command(scenario, program).output().unwrap())
    }

    pub(crate) fn history(&self) -> History {
        file::open(&self.folder.join("out/scenario-7/history.jsonl")).unwrap()
    }

    /// The processes that this run has started and that are still there.
    pub(crate) fn left(&self) -> Vec<u32> {
        let mark = format!("SCALEPROOF_SUBJECT={}/", self.folder.display());
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok());
        let marked = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(mark.as_bytes()))
        };
        pids.filter(marked).collect()
    }

    /// Waits until none is left: who is killed takes a moment.
    pub(crate) fn is_deserted(&self) -> bool {
        (0..500).any(|_| {
            let left = self.left().is_empty();
            if !left {
                pause(10);
            }
            left
        })
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

pub(crate) fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // How far the runs have come stands there, too.
    let err = text(&output.stderr);
    let err = err.split_inclusive('\n').filter(|line| !line.starts_with("[1/1] ")).collect();
    (output.status.code().unwrap_or(-1), text(&output.stdout), err)
}

/// Real milliseconds.
pub(crate) fn pause(ms: u64) {
    VirtualClock::start(Mode::Real, None).unwrap().sleep(Duration::from_millis(ms)).wait();
}

/// The events of one kind.
pub(crate) fn events<'a, T>(
    history: &'a History,
    which: impl Fn(&'a What) -> Option<T> + 'a,
) -> Vec<(&'a Event, T)> {
    history.events.iter().filter_map(|event| Some((event, which(&event.what)?))).collect()
}
