//! Tracing a thread: the little of ptrace that is needed here, with signals by their numbers, so that real-time
//! signals are among them.
//!
//! Stops are waited for, ends are not: how a child has ended is for [`foreign`](super::foreign) to note. A thread
//! that has ended has none to be found (`ECHILD`), and if it was no child of ours it has to be buried: its own parent
//! is told only then.

use std::ptr;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace;
use nix::unistd::Pid;
use rustix::process::{WaitId, WaitIdOptions, WaitOptions};

/// Why a traced thread stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It has begun another program.
    Exec,
    /// It was interrupted, or its process was stopped.
    Interrupt,
    /// Something else has happened to it that is told of.
    Event,
    /// A signal is about to reach it.
    Signal(i32),
}

impl Stop {
    fn read(status: i32) -> Self {
        match status >> 8 {
            0 => Stop::Signal(status & 0xff),
            libc::PTRACE_EVENT_EXEC => Stop::Exec,
            libc::PTRACE_EVENT_STOP => Stop::Interrupt,
            _ => Stop::Event,
        }
    }
}

/// Begins to trace a thread, which goes on; it ends with us.
pub(super) fn seize(thread: Pid) -> nix::Result<()> {
    ptrace::seize(thread, ptrace::Options::PTRACE_O_TRACEEXEC | ptrace::Options::PTRACE_O_EXITKILL)
}

/// Waits until a thread stands still.
pub(super) fn stop(thread: Pid) -> nix::Result<Stop> {
    loop {
        if let Some(stop) = wait(thread, WaitIdOptions::STOPPED)? {
            return Ok(stop);
        }
    }
}

/// Whether a thread stands still, and why.
pub(super) fn stopped(thread: Pid) -> nix::Result<Option<Stop>> {
    wait(thread, WaitIdOptions::STOPPED | WaitIdOptions::NOHANG)
}

fn wait(thread: Pid, options: WaitIdOptions) -> nix::Result<Option<Stop>> {
    let id = rustix::process::Pid::from_raw(thread.as_raw()).ok_or(Errno::ESRCH)?;
    match rustix::process::waitid(WaitId::Pid(id), options) {
        Ok(status) => Ok(status.and_then(|status| status.trapping_signal()).map(Stop::read)),
        Err(e) => Err(Errno::from_raw(e.raw_os_error())),
    }
}

/// Takes note of the end of a traced thread that is no child of ours; true once that is done.
pub(super) fn bury(thread: Pid) -> bool {
    let id = rustix::process::Pid::from_raw(thread.as_raw());
    match rustix::process::waitpid(id, WaitOptions::NOHANG) {
        Ok(None) => false,
        Ok(Some((_, status))) => status.exited() || status.signaled(),
        Err(_) => true,
    }
}

/// Waits until a thread stands still that was told to, whatever else comes in between.
pub(super) fn interrupted(thread: Pid) -> nix::Result<()> {
    loop {
        match stop(thread)? {
            Stop::Interrupt => return Ok(()),
            other => go_on_to_stop(thread, other)?,
        }
    }
}

/// Lets a thread go on that stands still for something else than it was told to. Any stop makes the kernel forget
/// that another was wanted, so it is told again.
pub(super) fn go_on_to_stop(thread: Pid, from: Stop) -> nix::Result<()> {
    ptrace::interrupt(thread)?;
    go_on(thread, from)
}

/// Lets a thread go on from a stop.
pub(super) fn go_on(thread: Pid, from: Stop) -> nix::Result<()> {
    let signal = if let Stop::Signal(signal) = from { signal } else { 0 };
    resume(libc::PTRACE_CONT, thread, signal)
}

/// Lets a thread go on for one instruction.
pub(super) fn step(thread: Pid) -> nix::Result<()> {
    resume(libc::PTRACE_SINGLESTEP, thread, 0)
}

/// Traces a thread that stands still no longer. If it does so for a signal, it is given this one; 0 is none.
pub(super) fn let_go(thread: Pid, signal: i32) -> nix::Result<()> {
    resume(libc::PTRACE_DETACH, thread, signal)
}

fn resume(request: libc::c_uint, thread: Pid, signal: i32) -> nix::Result<()> {
    ask(request, thread, 0, ptr::without_provenance_mut(usize::try_from(signal).unwrap_or(0)))
}

/// The signals that a thread blocks that stands still.
pub(super) fn blocked(thread: Pid) -> nix::Result<u64> {
    let mut mask = 0_u64;
    ask(libc::PTRACE_GETSIGMASK, thread, size_of::<u64>(), (&raw mut mask).cast())?;
    Ok(mask)
}

/// Has a thread that stands still block these signals.
pub(super) fn block(thread: Pid, mut mask: u64) -> nix::Result<()> {
    ask(libc::PTRACE_SETSIGMASK, thread, size_of::<u64>(), (&raw mut mask).cast())
}

#[expect(unsafe_code, reason = "nix knows neither real-time signals nor the mask")]
fn ask(request: libc::c_uint, thread: Pid, address: usize, data: *mut libc::c_void) -> nix::Result<()> {
    // SAFETY: the requests above take a number, or a pointer to a mask that lives as long as the call and is as long
    // as `address` says.
    Errno::result(unsafe { libc::ptrace(request, thread.as_raw(), address, data) }).map(drop)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn child() -> (std::process::Child, Pid) {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = Pid::from_raw(child.id().cast_signed());
        (child, pid)
    }

    #[test]
    fn a_thread_blocks_what_it_is_told_to_while_it_stands_still() {
        let (mut child, pid) = child();
        seize(pid).unwrap();
        ptrace::interrupt(pid).unwrap();
        interrupted(pid).unwrap();
        let before = blocked(pid).unwrap();
        block(pid, 1 << 40).unwrap();
        assert_eq!((before, blocked(pid).unwrap()), (0, 1 << 40));
        let_go(pid, 0).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn real_time_signals_are_told_and_given() {
        let (mut child, pid) = child();
        seize(pid).unwrap();
        send(pid, 40);
        let mut first = stop(pid).unwrap();
        while first != Stop::Signal(40) {
            // It has only just begun its program.
            go_on(pid, first).unwrap();
            first = stop(pid).unwrap();
        }
        assert_eq!(stopped(pid), Ok(None), "each is told once");
        go_on(pid, Stop::Signal(40)).unwrap();
        assert_eq!(stop(pid), Err(Errno::ECHILD), "an end is no stop, and is not awaited for ever");
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(40), "nor taken away");
    }

    fn send(pid: Pid, signal: i32) {
        let status = Command::new("kill").args([format!("-{signal}"), pid.to_string()]).status().unwrap();
        assert!(status.success());
    }
}
