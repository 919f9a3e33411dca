//! The machine's own clocks and the only real waits: every other file of the project asks the virtual clock.
//!
//! It stands below everything else and knows nothing of virtual time. All times are nanoseconds.

#![expect(clippy::disallowed_methods, reason = "this is the one file that reads the machine's clock")]

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// `CLOCK_MONOTONIC`: the one clock from which every virtual time is computed, the same in all processes.
pub(crate) fn monotonic() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// `CLOCK_REALTIME`, read once when a clock is made.
pub(crate) fn wall() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime))
}

/// `CLOCK_BOOTTIME`, read once when a clock is made.
pub(crate) fn boot() -> u64 {
    nanoseconds(clock_gettime(ClockId::Boottime))
}

/// What this thread has cost so far.
pub(crate) fn thread_cpu() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

/// What the kernel calls this thread.
pub(crate) fn thread_id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

/// Sleeps in real time and says how much longer it took than asked: what the machine owed us.
pub(crate) fn pause(duration: Duration) -> Duration {
    let before = monotonic();
    std::thread::sleep(duration);
    Duration::from_nanos(monotonic() - before).saturating_sub(duration)
}

/// Whether something comes that takes a moment, however busy the machine is: it is given a minute.
#[cfg(test)]
pub(crate) fn comes(mut it: impl FnMut() -> bool) -> bool {
    (0..60_000).any(|_| {
        pause(Duration::from_millis(1));
        it()
    })
}

fn nanoseconds(t: Timespec) -> u64 {
    let seconds = u64::try_from(t.tv_sec).unwrap_or(0);
    let rest = u64::try_from(t.tv_nsec).unwrap_or(0);
    seconds * 1_000_000_000 + rest
}
