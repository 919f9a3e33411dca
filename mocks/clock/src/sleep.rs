//! The futures: a wait, a wait that repeats, and a limit on another future. They need no particular runtime, and
//! dropping one cancels it.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use crate::clock::Clock;
use crate::shared::Mover;
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

    /// Waits for another moment instead. Whoever polled it last is woken then.
    pub fn reset(&mut self, deadline: Time) {
        self.deadline = deadline;
        let shared = self.clock.shared();
        let monotonic = shared.wall.monotonic(deadline);
        self.key = self.key.and_then(|key| shared.timers.postpone(key, monotonic));
        if shared.mover == Mover::Hand {
            // The new moment may be past, and the hand moves no more.
            shared.fire(shared.read().0);
        }
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
        let shared = self.clock.shared();
        if !self.key.is_some_and(|key| shared.timers.rewake(key, context.waker())) {
            shared.ensure_driver();
            let deadline = shared.wall.monotonic(self.deadline);
            let by_hand = shared.mover == Mover::Hand;
            self.key = Some(shared.timers.set(deadline, context.waker().clone(), self.set_at));
            // The hand may have moved past the deadline before the timer was set, and moves no more.
            if by_hand && self.is_elapsed() {
                return self.poll(context);
            }
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

/// A future with a deadline. Gives what the future gives, or [`Elapsed`] if it has not finished in time.
#[derive(Debug)]
#[must_use = "nothing happens unless it is awaited"]
pub struct Timeout<F> {
    future: Pin<Box<F>>,
    sleep: Sleep,
}

impl<F> Timeout<F> {
    pub(crate) fn new(future: F, sleep: Sleep) -> Self {
        Self { future: Box::pin(future), sleep }
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // The future first: an answer that is there in time counts, however late it is looked at.
        if let Poll::Ready(output) = self.future.as_mut().poll(context) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(&mut self.sleep).poll(context).map(|_| Err(Elapsed))
    }
}

/// A timeout has passed. Reads after "failed to …: ".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline has elapsed")
    }
}

impl std::error::Error for Elapsed {}

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
