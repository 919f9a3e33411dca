//! A foreign program that runs on a clock of ours, as its parent sees it.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::process::{WaitOptions, waitpid};

use crate::virtual_clock::VirtualClock;

/// A running foreign program. It goes on when this is dropped, and is killed when its clock ends.
///
/// It is waited for here and nowhere else: its clock's own thread stops it now and then, which others would take for
/// its end.
#[derive(Debug)]
pub struct Foreign {
    /// Its standard input, if the command asked for a pipe.
    pub stdin: Option<ChildStdin>,
    /// Its standard output, if the command asked for a pipe.
    pub stdout: Option<ChildStdout>,
    /// Its standard error, if the command asked for a pipe.
    pub stderr: Option<ChildStderr>,
    pub(super) life: Arc<Life>,
    /// Its clock must not end before it does.
    pub(super) _clock: VirtualClock,
}

impl Foreign {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.life.pid.as_raw().unsigned_abs()
    }

    /// Waits until it has ended. Its standard input is closed first, as [`std::process::Child::wait`] does.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        let mut end = self.life.end();
        loop {
            if let Some(end) = *end {
                return end.status();
            }
            end = self.life.ended.wait(end).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How it has ended, if it has.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.life.end().map(End::status).transpose()
    }

    /// Kills it, unless it has ended already.
    pub fn kill(&mut self) -> io::Result<()> {
        self.signal(Signal::SIGKILL as i32)
    }

    /// Sends it a signal, by its number, unless it has ended already.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        let signal = Signal::try_from(number)?;
        // While this is locked nobody else can be given its process id.
        match *self.life.end() {
            Some(_) => Ok(()),
            None => Ok(kill(self.life.pid, signal)?),
        }
    }
}

/// How a child has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Known(ExitStatus),
    /// Somebody else has waited for it.
    Lost,
}

impl End {
    fn status(self) -> io::Result<ExitStatus> {
        match self {
            End::Known(status) => Ok(status),
            End::Lost => {
                Err(io::Error::other("how it has ended was told to somebody else who waited for it"))
            }
        }
    }
}

/// Whether a child lives, and how it has ended.
#[derive(Debug)]
pub(super) struct Life {
    pid: Pid,
    end: Mutex<Option<End>>,
    ended: Condvar,
}

impl Life {
    pub(super) fn new(pid: Pid) -> Self {
        Self { pid, end: Mutex::new(None), ended: Condvar::new() }
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    fn end(&self) -> MutexGuard<'_, Option<End>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks whether it has ended; true if it lives.
    pub(super) fn look(&self) -> bool {
        let mut end = self.end();
        if end.is_none() {
            *end = match waitpid(rustix::process::Pid::from_raw(self.pid.as_raw()), WaitOptions::NOHANG) {
                Ok(Some((_, status))) if status.exited() || status.signaled() => {
                    Some(End::Known(ExitStatus::from_raw(status.as_raw())))
                }
                Ok(_) => None,
                Err(_) => Some(End::Lost),
            };
            if end.is_some() {
                self.ended.notify_all();
            }
        }
        end.is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::machine;

    fn life(script: &str) -> (std::process::Child, Life) {
        let child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let life = Life::new(Pid::from_raw(child.id().cast_signed()));
        (child, life)
    }

    fn end(life: &Life) -> io::Result<ExitStatus> {
        while life.look() {
            machine::pause(std::time::Duration::from_millis(1));
        }
        let end = *life.end();
        end.unwrap().status()
    }

    #[test]
    fn each_end_is_told_as_it_was() {
        assert_eq!(end(&life("exit 7").1).unwrap().code(), Some(7));
        for signal in [15, 40] {
            assert_eq!(end(&life(&format!("kill -{signal} $$")).1).unwrap().signal(), Some(signal));
        }
    }

    #[test]
    fn an_end_that_somebody_else_was_told_is_no_success() {
        let (mut child, life) = life("exit 0");
        child.wait().unwrap();
        assert!(end(&life).unwrap_err().to_string().contains("somebody else"));
    }
}
