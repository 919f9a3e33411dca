//! A foreign program that runs on a clock of ours, as its parent sees it.

use std::io;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};

use crate::virtual_clock::VirtualClock;

/// A running foreign program. It is not killed when this is dropped, but when its clock is.
#[derive(Debug)]
pub struct Foreign {
    /// Its standard input, if the command asked for a pipe.
    pub stdin: Option<ChildStdin>,
    /// Its standard output, if the command asked for a pipe.
    pub stdout: Option<ChildStdout>,
    /// Its standard error, if the command asked for a pipe.
    pub stderr: Option<ChildStderr>,
    pub(crate) pid: u32,
    /// Its clock must not end before it does.
    pub(crate) _clock: VirtualClock,
}

impl Foreign {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.pid
    }

    /// Waits until it has ended. Its standard input is closed first, as [`std::process::Child::wait`] does.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        unimplemented!()
    }

    /// How it has ended, if it has.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        unimplemented!()
    }

    /// Kills it, unless it has ended already.
    pub fn kill(&mut self) -> io::Result<()> {
        unimplemented!()
    }
}
