//! The other process of these tests, and how it is started.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use mock_clock::VirtualClock;

/// The environment variable that makes this binary a peer.
pub(crate) const ROLE: &str = "MOCK_CLOCK_TEST_ROLE";

/// Plays a role until it is done; what it prints is its result.
pub(crate) fn play(role: &str) -> ExitCode {
    // A peer must not outlive a test that failed.
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).unwrap();
    let mut words = role.split(' ');
    match words.next().unwrap() {
        "read" => crate::reads::read_as_peer(),
        "sleep" => crate::sleeps::sleep_as_peer(),
        "poll" => crate::poll::poll_as_peer(words),
        "spin" => loop {
            std::hint::spin_loop();
        },
        "hold" => crate::kill::hold_as_peer(),
        "own" => crate::kill::own_as_peer(),
        "tick" => crate::kill::tick_as_peer(),
        other => panic!("no role {other}"),
    }
    ExitCode::SUCCESS
}

/// A running peer. It is killed when dropped.
pub(crate) struct Peer {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts a peer that takes part in the clock's run, counted in from its first moment.
    pub(crate) fn joining(clock: &VirtualClock, role: &str) -> Peer {
        let (name, place) = clock.environment().unwrap();
        let _busy = clock.busy();
        let peer = Peer::start(Self::command(role).env(name, place));
        clock.track(peer.child.id()).unwrap();
        peer
    }

    /// Starts a peer that has nothing to do with any clock.
    pub(crate) fn apart(role: &str) -> Peer {
        Peer::start(&mut Self::command(role))
    }

    fn command(role: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(ROLE, role).stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    pub(crate) fn start(command: &mut Command) -> Peer {
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Peer { child, stdin, stdout }
    }

    /// The next line that the peer prints.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Tells the peer something.
    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
