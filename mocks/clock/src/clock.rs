//! The seam: what any clock can do, in two methods, and what follows from them.

use std::future::Future;
use std::time::Duration;

use crate::sleep::{Interval, Sleep, Timeout};
use crate::time::Time;

/// Tells the time and waits for it. Everything that must know time or wait takes one.
///
/// ```
/// use std::time::Duration;
/// use mock_clock::{Clock, VirtualClock};
///
/// /// A lease that is renewed every two seconds, whatever "two seconds" means in this run.
/// async fn renew(clock: &impl Clock, times: usize) {
///     let mut ticks = clock.interval(Duration::from_secs(2));
///     for _ in 0..times {
///         ticks.tick().await;
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let clock = VirtualClock::idle_skip()?;
/// let start = clock.now();
/// renew(&clock, 31).await;
/// assert!(clock.now() - start >= Duration::from_secs(60), "a minute, in a fraction of a second");
/// # Ok::<(), mock_clock::ClockError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Clock {
    /// Virtual time now. Never earlier than any time that was read before, in any process of the run.
    fn now(&self) -> Time;

    /// A wait that ends at `deadline` or later, never before. The past is over at once.
    #[track_caller]
    fn sleep_until(&self, deadline: Time) -> Sleep;

    /// A wait of at least `span`, from now on.
    #[track_caller]
    fn sleep(&self, span: Duration) -> Sleep {
        self.sleep_until(self.now() + span)
    }

    /// Ticks now and then every `period`.
    ///
    /// # Panics
    /// If `period` is zero.
    #[track_caller]
    fn interval(&self, period: Duration) -> Interval {
        self.interval_at(self.now(), period)
    }

    /// Ticks at `start` and then every `period`.
    ///
    /// # Panics
    /// If `period` is zero.
    #[track_caller]
    fn interval_at(&self, start: Time, period: Duration) -> Interval {
        assert!(!period.is_zero(), "an interval needs a period longer than zero");
        Interval::new(self.sleep_until(start), period)
    }

    /// What `future` gives, or [`Elapsed`](crate::Elapsed) if it has not finished after `span`.
    #[track_caller]
    fn timeout<F: Future>(&self, span: Duration, future: F) -> Timeout<F>
    where
        Self: Sized,
    {
        self.timeout_at(self.now() + span, future)
    }

    /// What `future` gives, or [`Elapsed`](crate::Elapsed) if it has not finished at `deadline`.
    #[track_caller]
    fn timeout_at<F: Future>(&self, deadline: Time, future: F) -> Timeout<F>
    where
        Self: Sized,
    {
        Timeout::new(future, self.sleep_until(deadline))
    }
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> Time {
        (**self).now()
    }
    #[track_caller]
    fn sleep_until(&self, deadline: Time) -> Sleep {
        (**self).sleep_until(deadline)
    }
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Time {
        (**self).now()
    }
    #[track_caller]
    fn sleep_until(&self, deadline: Time) -> Sleep {
        (**self).sleep_until(deadline)
    }
}
