//! What a connection is at: whether anybody waits for an answer, and since when a request has been half said.
//!
//! A connection that rests between two requests may rest as long as it likes. Real servers close it after a while,
//! but here hours can pass between two requests of a client that has not had time to blink.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mock_clock::{Clock as _, Time, VirtualClock};

/// How long a client may take over the head of a request, as in a real server; its handshake counts.
pub(crate) const HEAD: Duration = Duration::from_secs(32);

/// One connection's.
#[derive(Debug)]
pub(crate) struct Pace {
    clock: VirtualClock,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    asked: bool,
    multiplexed: bool,
    running: usize,
    half_said_since: Option<Time>,
}

/// A request that has not been answered to its end.
#[derive(Debug)]
pub(crate) struct Running {
    pace: Arc<Pace>,
}

impl Pace {
    pub(crate) fn new(clock: &VirtualClock) -> Arc<Self> {
        Arc::new(Self { clock: clock.clone(), state: Mutex::default() })
    }

    /// Bytes came.
    pub(crate) fn heard(&self) {
        let mut state = self.state();
        if state.asked && !state.multiplexed && state.running == 0 && state.half_said_since.is_none() {
            state.half_said_since = Some(self.clock.now());
        }
    }

    /// The head of a request is complete.
    pub(crate) fn asked(self: &Arc<Self>, multiplexed: bool) -> Running {
        let mut state = self.state();
        state.asked = true;
        state.multiplexed |= multiplexed;
        state.running += 1;
        state.half_said_since = None;
        Running { pace: Arc::clone(self) }
    }

    /// Whether there ever was a request.
    pub(crate) fn was_asked(&self) -> bool {
        self.state().asked
    }

    /// When the client will have taken too long.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.state().half_said_since.map(|since| since + HEAD)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.pace.state().running -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_half_said_request_is_limited() {
        let (clock, _hand) = VirtualClock::manual(Time::EPOCH);
        let pace = Pace::new(&clock);
        pace.heard();
        assert_eq!(pace.deadline(), None, "the handshake is limited by whoever waits for the first request");
        let running = pace.asked(false);
        pace.heard();
        assert_eq!(pace.deadline(), None, "a body");
        drop(running);
        assert_eq!(pace.deadline(), None, "a rest");
        pace.heard();
        assert_eq!(pace.deadline(), Some(Time::EPOCH + HEAD));
        drop(pace.asked(true));
        pace.heard();
        assert_eq!(pace.deadline(), None, "pings are no requests");
    }
}
