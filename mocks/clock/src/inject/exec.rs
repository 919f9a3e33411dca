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
use nix::unistd::Pid;

use super::error::Unsupported;
use super::injection::{Filter, Refusal, inject, mapping};
use super::trace::{self, Stop};
use super::usher::Usher;
use super::{alarms, region};
use crate::machine;
use crate::page::slots::is_alive;
use crate::page::{Thread, layout};

/// How often it looks whether the program has been started.
const PACE: Duration = Duration::from_micros(50);

/// Serves whoever wants to start a program; false if nobody does.
pub(super) fn stand_by(usher: &mut Usher) -> bool {
    // A page that cannot be read now is read again.
    let Ok(Some(who)) = usher.page().exec_request() else { return false };
    // Time must not jump while it stands still for us.
    let guard = usher.shared.take_guard(Location::caller());
    match serve(usher, who) {
        // It was killed meanwhile, which is no trouble of ours.
        Err(Trouble::Refused(_)) if is_ending(who) => {}
        Err(trouble) => tracing::warn!("process {} {trouble}", who.pid),
        Ok(()) => {}
    }
    let _ = usher.page().exec_done();
    usher.shared.release_guard(guard);
    true
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

fn serve(usher: &mut Usher, who: Thread) -> Result<(), Trouble> {
    let thread = Pid::from_raw(who.tid.cast_signed());
    alarms::finish(usher, who.pid, thread);
    // One that finds its request gone without an answer takes it for refused.
    let place = prepare(who, thread).map_err(Trouble::Refused)?;
    // Should this fail, the thread waits for ever, traced by us, and ends with us.
    let _ = usher.page().exec_answer(who);
    match until_started(usher, who, thread) {
        Outcome::Started(process) => {
            // The other threads of the process are gone, and this one has the number of the first.
            usher.called.remove(&who.pid);
            give_clock(usher, process, place).or_else(|refusal| {
                // It may have been killed by somebody else, which is no trouble of ours.
                let stands = ptrace::getregs(process).is_ok();
                let _ = kill(process, Signal::SIGKILL);
                usher.bury(process);
                if stands { Err(Trouble::Killed(refusal.into())) } else { Ok(()) }
            })
        }
        Outcome::Failed => {
            if release(thread).is_err() {
                usher.bury(thread);
            }
            Ok(())
        }
        Outcome::Gone => {
            usher.bury(thread);
            Ok(())
        }
    }
}

/// Whether a process has ended, or has lost its memory already.
fn is_ending(who: Thread) -> bool {
    !is_alive(who.pid) || std::fs::read(format!("/proc/{}/maps", who.tid)).is_ok_and(|maps| maps.is_empty())
}

/// Traces the thread, and says where its region lies.
fn prepare(who: Thread, thread: Pid) -> Result<u64, String> {
    let place = place_of(who.tid).map_err(|e| format!("its memory cannot be seen ({e})"))?;
    let place = place
        .ok_or("it has no clock, or another number here than there; is it in a container of its own?")?;
    trace::seize(thread).map_err(|e| format!("it cannot be traced ({e}); is a debugger attached?"))?;
    Ok(place)
}

/// Where the region of a thread's process lies: the clock's page tells. (A first thread that has ended has no memory.)
pub(super) fn place_of(thread: u32) -> io::Result<Option<u64>> {
    let maps = std::fs::read_to_string(format!("/proc/{thread}/maps"))?;
    let line = maps.lines().find(|line| shows_clock(line));
    Ok(line.and_then(mapping).and_then(|(begin, _)| begin.checked_sub(region::CLOCK)))
}

/// Whether a line of `maps` is that of the clock's page: `begin-end rights offset device inode name`.
fn shows_clock(line: &str) -> bool {
    let offset = line.split_ascii_whitespace().nth(2).and_then(|at| u64::from_str_radix(at, 16).ok());
    offset == Some(layout::CLOCK) && line.contains("/memfd:mock-clock")
}

/// All processes that have the clock whose page has this inode.
pub(super) fn all_with(inode: &str) -> Vec<Pid> {
    let has = |pid: &i32| {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let its = |line: &str| shows_clock(line) && line.split_ascii_whitespace().nth(4) == Some(inode);
        maps.lines().any(its)
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten();
    let numbers = processes.filter_map(|process| process.ok()?.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter(has).map(Pid::from_raw).collect()
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
        // Whichever thread of a process starts a program, it has the number of the first from then on.
        for pid in [thread, process] {
            match trace::stopped(pid) {
                Ok(Some(Stop::Exec)) => return Outcome::Started(pid),
                Ok(Some(stop)) => drop(trace::go_on(pid, stop)),
                Ok(None) | Err(_) => {}
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
    let pid = process.as_raw().unsigned_abs();
    // What its other threads waited for, they wait for no longer.
    let _ = usher.page().free_waits(pid);
    let _ = usher.page().free_alarms_but(pid, libc::SYS_setitimer);
    let mask = usher.page().exec_mask().map_err(|e| Refusal::Step("keep its signals blocked", e))?;
    // Without a slot it has the clock too: the coordinator sees that there was none, and jumps no more.
    let _ = usher.enrol(process);
    // It stands within the call that started the program. One step further it stands at its beginning.
    let step = |e: Errno| Refusal::Step("stop at its first instruction", e.into());
    trace::go_on_to_stop(process, Stop::Exec).map_err(step)?;
    trace::interrupted(process).map_err(step)?;
    inject(process, usher.page().place(), Filter::For { place, mask })
}

/// Traces a thread no longer.
fn release(thread: Pid) -> nix::Result<()> {
    ptrace::interrupt(thread)?;
    trace::interrupted(thread)?;
    trace::let_go(thread, 0)
}
