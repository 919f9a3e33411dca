//! What this binary does when it is not a test: it plays the programs in Rust, and owners that are killed.

use std::process::{Child, Command, ExitCode};

use crate::{owners, rust};

/// The environment variable that gives it a role.
pub(crate) const ROLE: &str = "MOCK_CLOCK_FOREIGN_ROLE";

/// This binary in a role.
pub(crate) fn role(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(ROLE, role);
    command
}

/// Plays a role until it is done.
pub(crate) fn play(role: &str) -> ExitCode {
    // It must not outlive a test that failed.
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).unwrap();
    match role.split_once(' ').unwrap_or((role, "")) {
        ("std", _) => rust::wait_with_std(),
        ("tokio", _) => rust::wait_with_tokio(),
        ("kernel", _) => rust::ask_the_kernel(),
        ("spin", _) => loop {
            std::hint::spin_loop();
        },
        ("own", _) => owners::own_as_role(),
        ("own-in-real-time", _) => owners::own_in_real_time_as_role(),
        ("play", commands) => owners::play_as_role(commands),
        (other, _) => panic!("no role {other}"),
    }
    ExitCode::SUCCESS
}

/// Processes that take what processors they get, twice as many as there are. They end when this is dropped.
pub(crate) struct Spinners(Vec<Child>);

impl Spinners {
    pub(crate) fn start() -> Spinners {
        let count = 2 * std::thread::available_parallelism().unwrap().get();
        Spinners((0..count).map(|_| role("spin").spawn().unwrap()).collect())
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for spinner in &mut self.0 {
            let _ = spinner.kill();
            let _ = spinner.wait();
        }
    }
}
