//! Firing the timers of foreign processes when their virtual moment has come.
//!
//! The kernel counts real time, so it is not told of a timer before it is due. Then one thread of the process is stopped
//! and sets it to fire at once. It may take its time to stop: one that has called `vfork` goes on when its child has
//! started a program, and that waits for us. So it is called, and looked at again.

use std::io;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::blob::Entry;
use super::exec::place_of;
use super::puppet::Puppet;
use super::region;
use super::trace::{self, Stop};
use super::usher::Usher;
use crate::machine;
use crate::page::alarms::Alarm;
use crate::page::layout;
use crate::page::slots::state;

/// How often, and how far apart, it looks whether a thread has stopped: most do at once.
const LOOKS: u32 = 10;
const PACE: Duration = Duration::from_micros(20);

/// Fires whatever is due.
pub(super) fn fire_due(usher: &mut Usher) {
    // A page that cannot be read now is read again.
    let Ok(alarms) = usher.page().alarms() else { return };
    let (now, _) = usher.shared.read();
    for alarm in alarms.iter().filter(|alarm| alarm.deadline <= now) {
        let called = usher.called.get(&alarm.pid).copied();
        match called.map_or_else(|| call(alarm.pid), Ok) {
            Ok(thread) => drop(usher.called.insert(alarm.pid, thread)),
            Err(e) => fire_from_here(usher, alarm, now, e),
        }
    }
    for (pid, thread) in usher.called.clone() {
        let mut looks = 0..LOOKS;
        while !answered(usher, pid, thread) && looks.next().is_some() {
            machine::pause(PACE);
        }
    }
}

/// Waits for a thread that was called, if it was. It is one that runs.
pub(super) fn finish(usher: &mut Usher, pid: u32, thread: Pid) {
    while usher.called.get(&pid) == Some(&thread) && !answered(usher, pid, thread) {
        machine::pause(PACE);
    }
}

/// Whether a thread that was called has stopped, and done what it was called for; or has ended.
fn answered(usher: &mut Usher, pid: u32, thread: Pid) -> bool {
    let ended = match trace::stopped(thread) {
        Ok(None) => return false,
        Ok(Some(Stop::Interrupt)) => ring(usher, pid, thread).is_err(),
        Ok(Some(other)) => {
            // Something else has come in between.
            if trace::go_on_to_stop(thread, other).is_ok() {
                return false;
            }
            true
        }
        Err(_) => true,
    };
    usher.called.remove(&pid);
    // What could not ring may stand there still.
    if ended && trace::let_go(thread, 0).is_err() {
        usher.bury(thread);
    }
    true
}

/// Tells a thread of a process to stop.
fn call(pid: u32) -> nix::Result<Pid> {
    let thread = thread_of(pid).filter(|thread| has_clock(*thread)).ok_or(Errno::ESRCH)?;
    trace::seize(thread)?;
    ptrace::interrupt(thread)?;
    Ok(thread)
}

/// What stands on the page may have been written by anybody: nobody is called who has no clock.
fn has_clock(thread: Pid) -> bool {
    place_of(thread.as_raw().unsigned_abs()).is_ok_and(|place| place.is_some())
}

/// A thread that will stop soon: the first one may have ended, or wait for a child that has its memory.
fn thread_of(pid: u32) -> Option<Pid> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let numbers = threads.filter_map(|thread| thread.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let states = numbers.filter_map(|thread| Some((state(thread)?, thread)));
    let best = states.filter(|(state, _)| !"ZX".contains(*state)).min_by_key(|(state, _)| match state {
        'S' => 0,
        'R' => 1,
        _ => 2,
    });
    best.map(|(_, thread)| Pid::from_raw(thread.cast_signed()))
}

/// A process that a debugger holds cannot be stopped by us. Its alarm clock can be rung all the same.
fn fire_from_here(usher: &Usher, alarm: &Alarm, now: u64, why: Errno) {
    let rung = why == Errno::EPERM
        && i64::from(alarm.call) == libc::SYS_setitimer
        && kill(Pid::from_raw(alarm.pid.cast_signed()), Signal::SIGALRM).is_ok();
    if !rung && why != Errno::ESRCH {
        tracing::warn!("a timer of process {} is lost: it cannot be traced ({why})", alarm.pid);
    }
    // Set anew or taken back meanwhile, it is not touched.
    let _ = usher.page().move_alarm(alarm, if rung { next(alarm, now) } else { 0 });
}

/// Has a thread that stands still fire what is due in its process by now.
fn ring(usher: &Usher, pid: u32, thread: Pid) -> io::Result<()> {
    let place = place_of(thread.as_raw().unsigned_abs())?.ok_or_else(|| io::Error::from(Errno::ESRCH))?;
    let mut puppet = Puppet::new(thread)?;
    puppet.call_by(place + Entry::Syscall.offset());
    let alarms = usher.page().alarms().unwrap_or_default();
    let (now, _) = usher.shared.read();
    for alarm in alarms.iter().filter(|alarm| alarm.pid == pid && alarm.deadline <= now) {
        let next = if fire(&mut puppet, place, alarm).is_ok() { next(alarm, now) } else { 0 };
        let _ = usher.page().move_alarm(alarm, next);
    }
    puppet.release()
}

/// When it is due again, in virtual nanoseconds; 0 is never.
fn next(alarm: &Alarm, now: u64) -> u64 {
    if alarm.interval == 0 {
        return 0;
    }
    let missed = now.saturating_sub(alarm.deadline) / alarm.interval;
    alarm.deadline.saturating_add(alarm.interval.saturating_mul(missed + 1))
}

/// Has a process set its timer to fire at once.
fn fire(puppet: &mut Puppet, place: u64, alarm: &Alarm) -> io::Result<()> {
    // Nothing of the program's own memory is touched: it may be in the middle of anything.
    let soon = place + region::SHARED + layout::SOON;
    let call = i64::from(alarm.call);
    let which = alarm.which;
    let fired = match call {
        libc::SYS_setitimer => puppet.call(call, [which, soon, 0]),
        _ => puppet.call(call, [which, 0, soon, 0]),
    };
    fired.map(drop)
}
