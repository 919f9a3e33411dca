//! The futures: a wait, and a wait that repeats. They need no particular runtime, and dropping one cancels it.

use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use crate::clock::Clock;
use crate::time::Time;
use crate::timers::Key;
use crate::virtual_clock::VirtualClock;

/// A wait for a moment of virtual time. Gives the time at which it was found to be over.
#[derive(Debug)]
#[must_use = "nothing waits unless it is awaited"]
pub struct Sleep {
    clock: VirtualClock,
    deadline: Time,
    set_at: &'static Location<'static>,
    key: Option<Key>,
}

impl Sleep {
    pub(crate) fn new(clock: VirtualClock, deadline: Time, set_at: &'static Location<'static>) -> Self {
        Self { clock, deadline, set_at, key: None }
    }

    /// The moment it waits for.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Whether the moment has come.
    pub fn is_elapsed(&self) -> bool {
        self.clock.now() >= self.deadline
    }

    /// Waits for another moment instead.
    pub fn reset(&mut self, deadline: Time) {
        self.cancel();
        self.deadline = deadline;
    }

    /// Blocks this thread until the moment has come.
    pub fn wait(self) -> Time {
        block_on(self)
    }

    fn cancel(&mut self) {
        if let Some(key) = self.key.take() {
            self.clock.shared().timers.remove(key);
        }
    }
}

impl Future for Sleep {
    type Output = Time;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Time> {
        let now = self.clock.now();
        if now >= self.deadline {
            self.cancel();
            return Poll::Ready(now);
        }
        if self.deadline == Time::NEVER {
            // A timer for it would make time run away in search of it.
            return Poll::Pending;
        }
        let shared = self.clock.shared();
        if !self.key.is_some_and(|key| shared.timers.rewake(key, context.waker())) {
            shared.ensure_driver();
            let deadline = shared.wall.monotonic(self.deadline);
            self.key = Some(shared.timers.set(deadline, context.waker().clone(), self.set_at));
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Drives a future on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// What an interval does about ticks that nobody took in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissedTicks {
    /// Gives them one after the other until it has caught up.
    #[default]
    Burst,
    /// Gives one, and counts the period from there.
    Delay,
    /// Gives one, and leaves out the rest: later ticks stay on the original grid.
    Skip,
}

/// Ticks at regular moments of virtual time.
#[derive(Debug)]
pub struct Interval {
    sleep: Sleep,
    period: Duration,
    missed: MissedTicks,
}

impl Interval {
    pub(crate) fn new(sleep: Sleep, period: Duration) -> Self {
        Self { sleep, period, missed: MissedTicks::default() }
    }

    /// Another way to deal with missed ticks.
    #[must_use]
    pub fn missed_ticks(mut self, missed: MissedTicks) -> Self {
        self.missed = missed;
        self
    }

    /// Waits for the next tick and gives the moment it was meant for. Cancelling loses no tick.
    pub async fn tick(&mut self) -> Time {
        poll_fn(|context| self.poll_tick(context)).await
    }

    /// The same for hand-written futures.
    pub fn poll_tick(&mut self, context: &mut Context<'_>) -> Poll<Time> {
        Pin::new(&mut self.sleep).poll(context).map(|now| {
            let meant = self.sleep.deadline();
            self.sleep.reset(self.after(meant, now));
            meant
        })
    }

    /// Waits for the next tick, blocking this thread.
    pub fn wait(&mut self) -> Time {
        block_on(self.tick())
    }

    /// The tick after the one that was meant for `meant` and came at `now`.
    fn after(&self, meant: Time, now: Time) -> Time {
        let next = meant + self.period;
        if next > now {
            return next;
        }
        match self.missed {
            MissedTicks::Burst => next,
            MissedTicks::Delay => now + self.period,
            MissedTicks::Skip => {
                let periods = (now - meant).as_nanos() / self.period.as_nanos() + 1;
                let ahead = periods.saturating_mul(self.period.as_nanos());
                meant + Duration::from_nanos(u64::try_from(ahead).unwrap_or(u64::MAX))
            }
        }
    }
}
