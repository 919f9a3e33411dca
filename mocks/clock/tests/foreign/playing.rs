//! A foreign program that plays on a clock: what it says, and how it ends.
//!
//! Nothing here may last for ever: what has not ended after a while of real time is killed, and why it has not is
//! told by the clock.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use mock_clock::{Foreign, IdleSkip, Mode, VirtualClock};

/// The longest that a program may play, in real time.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that runs.
pub(crate) struct Playing {
    foreign: Foreign,
    name: String,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    out: String,
    err: JoinHandle<String>,
    /// Dropped when it has ended.
    watched: mpsc::Sender<()>,
}

/// A program that has ended.
pub(crate) struct Ended {
    name: String,
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Plays a program to its end, which must be a good one.
pub(crate) fn play(clock: &VirtualClock, program: &Path, words: &[&str]) {
    Playing::start(clock, command(program, words)).end().is_right(clock);
}

/// The same at 60 times real time, where half a real second is half a minute.
pub(crate) fn play_at_sixty(program: &Path, words: &[&str]) {
    let (clock, mut command) = (sixty(), command(program, words));
    command.env("LATE", "30");
    Playing::start(&clock, command).end().is_right(&clock);
}

pub(crate) fn command(program: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    command
}

impl Playing {
    /// Starts a program on the clock.
    pub(crate) fn start(clock: &VirtualClock, mut command: Command) -> Playing {
        let name = format!("{command:?}");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut foreign = clock.spawn(command).unwrap_or_else(|e| panic!("failed to {e}"));
        let watched = watch(clock, foreign.id(), &name);
        let stdout = BufReader::new(foreign.stdout.take().unwrap());
        let err = listen(foreign.stderr.take().unwrap());
        Playing { name, stdin: foreign.stdin.take(), stdout, out: String::new(), err, watched, foreign }
    }

    pub(crate) fn id(&self) -> u32 {
        self.foreign.id()
    }

    /// The next line that it prints; nothing if it has ended.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        if !line.starts_with("due ") {
            self.out.push_str(&line);
        }
        line.trim_end().to_owned()
    }

    /// Tells it something.
    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Sends it a signal, as anybody could.
    pub(crate) fn signal(&self, signal: &str) {
        send(signal, self.id());
    }

    /// Kills it by the hand that started it.
    pub(crate) fn kill(&mut self) {
        self.foreign.kill().unwrap();
    }

    /// Waits until it has ended. Nothing more is told to it.
    pub(crate) fn end(mut self) -> Ended {
        drop(self.stdin.take());
        self.stdout.read_to_string(&mut self.out).unwrap();
        let status = self.foreign.wait().unwrap();
        drop(self.watched);
        Ended { name: self.name, status, out: self.out, err: self.err.join().unwrap() }
    }
}

impl Ended {
    /// It has found that all was right.
    pub(crate) fn is_right(&self, clock: &VirtualClock) {
        self.has(self.status.success() && !self.out.contains("WRONG"), clock);
    }

    /// It has ended with an exit code.
    pub(crate) fn has_code(&self, code: i32, clock: &VirtualClock) {
        self.has(self.status.code() == Some(code), clock);
    }

    /// It was ended by a signal.
    pub(crate) fn died_of(&self, signal: i32, clock: &VirtualClock) {
        self.has(self.status.signal() == Some(signal), clock);
    }

    /// It must be so; all that it said is shown.
    pub(crate) fn has(&self, right: bool, clock: &VirtualClock) {
        let Self { name, status, out, err } = self;
        let told = format!("{name}: {status}\n{out}{err}{}", clock.status());
        assert!(right, "{told}");
        println!("{told}");
    }
}

/// Sends a signal to any process.
pub(crate) fn send(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

fn listen(mut stderr: ChildStderr) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut heard = Vec::new();
        stderr.read_to_end(&mut heard).unwrap();
        String::from_utf8_lossy(&heard).into_owned()
    })
}

/// Kills what has not ended in time.
fn watch(clock: &VirtualClock, pid: u32, name: &str) -> mpsc::Sender<()> {
    let (watched, ended) = mpsc::channel::<()>();
    let (clock, name) = (clock.clone(), name.to_owned());
    std::thread::spawn(move || {
        #[expect(clippy::disallowed_methods, reason = "looks at a program from outside, in real time")]
        let waited = ended.recv_timeout(PATIENCE);
        if waited == Err(mpsc::RecvTimeoutError::Timeout) {
            eprintln!("{name} has not ended after {PATIENCE:?} of real time\n{}", clock.status());
            let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        }
    });
    watched
}

/// A clock that skips idle time.
pub(crate) fn idle_skip() -> VirtualClock {
    VirtualClock::idle_skip().unwrap()
}

/// The same, for programs that wait often: it may take more of a processor to find out soon that all sleep.
pub(crate) fn eager() -> VirtualClock {
    skipping(None)
}

/// The same, for many that wait often: those whose deadlines are near each other share a jump.
pub(crate) fn coarse() -> VirtualClock {
    skipping(Some(Duration::from_millis(500)))
}

fn skipping(round_up_to: Option<Duration>) -> VirtualClock {
    let mode = Mode::IdleSkip(IdleSkip { round_up_to, watch_percent: 50, ..IdleSkip::default() });
    VirtualClock::start(mode, None).unwrap()
}

/// A clock that runs 60 times as fast as time does.
pub(crate) fn sixty() -> VirtualClock {
    VirtualClock::start("60".parse().unwrap(), None).unwrap()
}

/// A short while of real time, between two looks from outside.
#[expect(clippy::disallowed_methods, reason = "looks at a program from outside, in real time")]
pub(crate) fn pause() {
    std::thread::sleep(Duration::from_millis(20));
}
