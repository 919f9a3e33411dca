//! Signals that come to this program and are meant for the one it runs.
//!
//! What a terminal sends, it sends to both. So such a signal is not passed on, and does not end this program before
//! the other. Whoever sends a signal to the whole process group with `kill` reaches the other twice.

use std::io;
use std::thread;

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal as Number};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

const OURS_TO_PASS_ON: [Number; 6] =
    [Number::SIGINT, Number::SIGQUIT, Number::SIGTERM, Number::SIGHUP, Number::SIGUSR1, Number::SIGUSR2];

/// Signals that do nothing to this program any more.
#[derive(Debug)]
pub(crate) struct Signals {
    come: SignalFd,
}

impl Signals {
    /// Keeps them from this thread and those it starts from now on. A program that is started is not kept from them.
    pub(crate) fn hold() -> io::Result<Self> {
        let mask: SigSet = OURS_TO_PASS_ON.into_iter().collect();
        mask.thread_block()?;
        Ok(Self { come: SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC)? })
    }

    /// Passes them on to a child, those that have come already too.
    pub(crate) fn pass_on_to(self, child: u32) -> io::Result<()> {
        let Some(pid) = i32::try_from(child).ok().and_then(Pid::from_raw) else { return Ok(()) };
        let child = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(child) => child,
            // It has ended already.
            Err(rustix::io::Errno::SRCH) => return Ok(()),
            Err(e) => return Err(e.into()),
        };
        let pass_on = move || {
            loop {
                match self.come.read_signal() {
                    // It may have ended meanwhile.
                    Ok(come) => come.as_ref().and_then(to_pass_on).map_or((), |signal| {
                        let _ = pidfd_send_signal(&child, signal);
                    }),
                    Err(Errno::EINTR) => {}
                    Err(e) => return tracing::warn!("failed to pass on signals: {e}"),
                }
            }
        };
        thread::Builder::new().name("signals".into()).spawn(pass_on).map(drop)
    }
}

/// What was sent by a process; the kernel itself has told both.
fn to_pass_on(come: &siginfo) -> Option<Signal> {
    let from_a_process = come.ssi_code <= 0;
    let number = i32::try_from(come.ssi_signo).ok().filter(|_| from_a_process)?;
    Signal::from_named_raw(number)
}
