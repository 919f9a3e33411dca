//! A foreign program that runs on a clock of ours, as its parent sees it.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

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
        let mut status = self.life.status();
        loop {
            if let Some(status) = *status {
                return Ok(status);
            }
            status = self.life.ended.wait(status).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How it has ended, if it has.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        Ok(*self.life.status())
    }

    /// Kills it, unless it has ended already.
    pub fn kill(&mut self) -> io::Result<()> {
        self.signal(Signal::SIGKILL as i32)
    }

    /// Sends it a signal, by its number, unless it has ended already.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        let signal = Signal::try_from(number)?;
        // While this is locked nobody else can be given its process id.
        match *self.life.status() {
            Some(_) => Ok(()),
            None => Ok(kill(self.life.pid, signal)?),
        }
    }
}

/// Whether a child lives, and how it has ended.
#[derive(Debug)]
pub(super) struct Life {
    pid: Pid,
    status: Mutex<Option<ExitStatus>>,
    ended: Condvar,
}

impl Life {
    pub(super) fn new(pid: Pid) -> Self {
        Self { pid, status: Mutex::new(None), ended: Condvar::new() }
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    fn status(&self) -> MutexGuard<'_, Option<ExitStatus>> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks whether it has ended; true if it lives.
    pub(super) fn look(&self) -> bool {
        let mut status = self.status();
        if status.is_none() {
            let found = waitpid(self.pid, Some(WaitPidFlag::WNOHANG | WaitPidFlag::__WALL));
            // Somebody else may have waited for it; how it ended is lost then.
            *status = found.map_or(Some(ExitStatus::from_raw(0)), end_of);
            self.tell(*status);
        }
        status.is_none()
    }

    /// Notes what somebody has been told who waited for it.
    pub(super) fn note(&self, found: WaitStatus) {
        let mut status = self.status();
        *status = status.or(end_of(found));
        self.tell(*status);
    }

    fn tell(&self, status: Option<ExitStatus>) {
        if status.is_some() {
            self.ended.notify_all();
        }
    }
}

/// How a process has ended, if that is what it says.
fn end_of(found: WaitStatus) -> Option<ExitStatus> {
    match found {
        WaitStatus::Exited(_, code) => Some(ExitStatus::from_raw((code & 0xff) << 8)),
        WaitStatus::Signaled(_, signal, dumped) => {
            Some(ExitStatus::from_raw(signal as i32 | if dumped { 0x80 } else { 0 }))
        }
        _ => None,
    }
}
