//! Firing the timers of foreign processes when their virtual moment has come.
//!
//! The kernel counts real time, so it is not told of a timer before it is due. Then one thread of the process is stopped
//! and sets it to fire at once.

use std::io;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace;
use nix::unistd::Pid;

use super::blob::Entry;
use super::exec::{place_of, until_stopped};
use super::puppet::Puppet;
use super::region;
use super::usher::Usher;
use crate::page::alarms::Alarm;
use crate::page::layout;

/// Fires whatever is due.
pub(super) fn fire_due(usher: &Usher) {
    // A page that cannot be read now is read again.
    let Ok(alarms) = usher.page().alarms() else { return };
    let (now, _) = usher.shared.read();
    for alarm in alarms.iter().filter(|alarm| alarm.deadline <= now) {
        let fired = fire(alarm);
        let next = if fired.is_ok() { next(alarm, now) } else { 0 };
        // Set anew or taken back meanwhile, it is not touched.
        let _ = usher.page().move_alarm(alarm, next);
    }
}

/// When it is due again, in virtual nanoseconds; 0 is never.
fn next(alarm: &Alarm, now: u64) -> u64 {
    if alarm.interval == 0 {
        return 0;
    }
    let missed = now.saturating_sub(alarm.deadline) / alarm.interval;
    alarm.deadline.saturating_add(alarm.interval.saturating_mul(missed + 1))
}

/// Has the process set its timer to fire at once.
fn fire(alarm: &Alarm) -> io::Result<()> {
    let place = place_of(alarm.pid)?.ok_or_else(|| io::Error::from(Errno::ESRCH))?;
    let process = Pid::from_raw(alarm.pid.cast_signed());
    ptrace::seize(process, ptrace::Options::PTRACE_O_EXITKILL)?;
    ptrace::interrupt(process)?;
    until_stopped(process)?;
    let mut puppet = Puppet::new(process)?;
    puppet.call_by(place + Entry::Syscall.offset());
    // Nothing of the program's own memory is touched: it may be in the middle of anything.
    let soon = place + region::SHARED + layout::SOON;
    let call = i64::from(alarm.call);
    let which = alarm.which;
    let fired = match call {
        libc::SYS_setitimer => puppet.call(call, [which, soon, 0]),
        _ => puppet.call(call, [which, 0, soon, 0]),
    };
    puppet.release()?;
    fired.map(drop)
}
