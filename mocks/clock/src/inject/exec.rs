//! Standing by when a foreign process starts another program.
//!
//! The new program keeps the filter of the old one and nothing else of ours, so it must be given the region before its
//! first instruction. The thread that starts it waits until it is traced; see [`crate::page`] for how it asks.

use std::fmt;
use std::io;
use std::panic::Location;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::error::Unsupported;
use super::injection::{Filter, Refusal, inject, mapping};
use super::region;
use super::usher::Usher;
use crate::machine;
use crate::page::slots::is_alive;
use crate::page::{Thread, layout};

/// How often it looks whether the program has been started.
const PACE: Duration = Duration::from_micros(50);

/// Serves whoever wants to start a program, if anybody does.
pub(super) fn stand_by(usher: &Usher) {
    // A page that cannot be read now is read again.
    let Ok(Some(who)) = usher.page().exec_request() else { return };
    // Time must not jump while it stands still for us.
    let guard = usher.shared.take_guard(Location::caller());
    if let Err(trouble) = serve(usher, who) {
        tracing::warn!("process {} {trouble}", who.pid);
    }
    let _ = usher.page().exec_done();
    usher.shared.release_guard(guard);
}

/// What became of a process that wanted to start another program. Reads after its number.
#[derive(Debug)]
enum Trouble {
    /// It was told that it must not.
    Refused(String),
    /// It was killed with its new program.
    Killed(Unsupported),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Refused(why) => write!(f, "was not let start another program: {why}"),
            Trouble::Killed(why) => write!(
                f,
                "was killed when it started another program, which cannot be brought onto the clock: {why}"
            ),
        }
    }
}

fn serve(usher: &Usher, who: Thread) -> Result<(), Trouble> {
    let thread = Pid::from_raw(who.tid.cast_signed());
    let place = match prepare(who, thread) {
        Ok(place) => place,
        Err(why) => {
            let _ = usher.page().exec_answer(who, Some(libc::EPERM));
            until_given_up(usher, who);
            return Err(Trouble::Refused(why));
        }
    };
    // Should this fail, the thread waits for ever, traced by us, and ends with us.
    let _ = usher.page().exec_answer(who, None);
    match until_started(usher, who, thread) {
        Outcome::Started(process) => give_clock(usher, process, place).map_err(|refusal| {
            let _ = kill(process, Signal::SIGKILL);
            Trouble::Killed(refusal.into())
        }),
        Outcome::Failed => {
            let _ = let_go(thread);
            Ok(())
        }
        Outcome::Gone => Ok(()),
    }
}

/// Traces the thread, and says where its region lies.
fn prepare(who: Thread, thread: Pid) -> Result<u64, String> {
    let place = place_of(who.pid).map_err(|e| format!("its memory cannot be seen ({e})"))?;
    let place = place
        .ok_or("it has no clock, or another number here than there; is it in a container of its own?")?;
    ptrace::seize(thread, ptrace::Options::PTRACE_O_TRACEEXEC | ptrace::Options::PTRACE_O_EXITKILL)
        .map_err(|e| format!("it cannot be traced ({e}); is a debugger attached?"))?;
    Ok(place)
}

/// Where the region of a process lies: the clock's page tells.
pub(super) fn place_of(pid: u32) -> io::Result<Option<u64>> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let clock = format!(" {:08x} ", layout::CLOCK);
    let line = maps.lines().find(|line| line.contains("/memfd:mock-clock") && line.contains(&clock));
    Ok(line.and_then(mapping).and_then(|(begin, _)| begin.checked_sub(region::CLOCK)))
}

/// Waits until a thread that was refused has taken note of it.
fn until_given_up(usher: &Usher, who: Thread) {
    while is_alive(who.tid) && usher.page().exec_failed().ok().flatten() != Some(who) {
        machine::pause(PACE);
    }
}

/// What has come of it.
enum Outcome {
    /// The process stands at the beginning of its new program.
    Started(Pid),
    /// There is no such program.
    Failed,
    /// It was killed.
    Gone,
}

fn until_started(usher: &Usher, who: Thread, thread: Pid) -> Outcome {
    let process = Pid::from_raw(who.pid.cast_signed());
    loop {
        for pid in [thread, process] {
            match waitpid(pid, Some(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::PtraceEvent(pid, _, libc::PTRACE_EVENT_EXEC)) => return Outcome::Started(pid),
                // A thread that was interrupted for another reason.
                Ok(WaitStatus::PtraceEvent(pid, ..)) => drop(ptrace::cont(pid, None)),
                Ok(WaitStatus::Stopped(pid, signal)) => drop(ptrace::cont(pid, signal)),
                Ok(end @ (WaitStatus::Exited(..) | WaitStatus::Signaled(..))) => {
                    usher.note_end(pid, end);
                    return Outcome::Gone;
                }
                Ok(_) | Err(_) => {}
            }
        }
        if usher.page().exec_failed().ok().flatten() == Some(who) {
            return Outcome::Failed;
        }
        if !is_alive(who.pid) {
            return Outcome::Gone;
        }
        machine::pause(PACE);
    }
}

/// Gives the new program the clock.
fn give_clock(usher: &Usher, process: Pid, place: u64) -> Result<(), Refusal> {
    // What its other threads waited for, they wait for no longer.
    let _ = usher.page().free_waits(process.as_raw().unsigned_abs());
    usher.enrol(process)?;
    // It stands within the call that started the program. One step further it stands at its beginning.
    let step = |e: Errno| Refusal::Step("stop at its first instruction", e.into());
    ptrace::interrupt(process).map_err(step)?;
    ptrace::cont(process, None).map_err(step)?;
    until_stopped(process).map_err(step)?;
    inject(process, usher.page().place(), Filter::For(place))
}

/// Waits until a thread that was interrupted stands still.
pub(super) fn until_stopped(thread: Pid) -> nix::Result<()> {
    loop {
        match waitpid(thread, Some(WaitPidFlag::__WALL))? {
            WaitStatus::PtraceEvent(_, _, libc::PTRACE_EVENT_STOP) => return Ok(()),
            WaitStatus::PtraceEvent(..) => ptrace::cont(thread, None)?,
            WaitStatus::Stopped(_, signal) => ptrace::cont(thread, signal)?,
            _ => return Err(Errno::ESRCH),
        }
    }
}

/// Traces a thread no longer.
fn let_go(thread: Pid) -> nix::Result<()> {
    ptrace::interrupt(thread)?;
    until_stopped(thread)?;
    ptrace::detach(thread, None)
}
