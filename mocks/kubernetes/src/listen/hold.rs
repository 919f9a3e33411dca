//! Holding the clock for a client, but not for ever.
//!
//! While a request is on its way time must not jump: its sender may be a program that the clock does not know. But a
//! client that went to sleep in the middle of a sentence must not hold up everybody's time. So the clock is held for
//! a moment, which is real because the clock is held; then time may jump, and the limit comes.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use mock_clock::{Busy, Clock as _, Elapsed, VirtualClock};

/// How long a client can hold the clock by sending nothing, or by reading nothing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
/// The same for one that is connected and has not asked anything yet: HTTP libraries open connections that they then need not.
const GREETING: Duration = Duration::from_millis(50);

/// The clock, held.
#[derive(Debug)]
pub(crate) struct Hold {
    clock: VirtualClock,
    busy: Option<Busy>,
}

impl Hold {
    #[track_caller]
    pub(crate) fn new(clock: &VirtualClock) -> Self {
        Self { clock: clock.clone(), busy: Some(clock.busy()) }
    }

    /// Waits for the client at most `limit`, and holds the clock for the first moment of that. Held again after.
    pub(crate) async fn wait<F: Future>(&mut self, limit: Duration, future: F) -> Result<F::Output, Elapsed> {
        self.wait_after(PATIENCE, limit, future).await
    }

    /// The same for a client's first words.
    pub(crate) async fn wait_for_first<F: Future>(
        &mut self,
        limit: Duration,
        future: F,
    ) -> Result<F::Output, Elapsed> {
        self.wait_after(GREETING, limit, future).await
    }

    async fn wait_after<F: Future>(
        &mut self,
        held: Duration,
        limit: Duration,
        future: F,
    ) -> Result<F::Output, Elapsed> {
        let start = self.clock.now();
        let mut future = pin!(future);
        if let Ok(output) = self.clock.timeout_at(start + held.min(limit), future.as_mut()).await {
            return Ok(output);
        }
        self.busy = None;
        let outcome = self.clock.timeout_at(start + limit, future).await;
        self.busy = Some(self.clock.busy());
        outcome
    }
}

#[cfg(test)]
mod tests {
    use mock_clock::Time;

    use super::*;

    fn held(clock: &VirtualClock) -> bool {
        clock.status().to_string().contains("guards held here")
    }

    #[tokio::test]
    async fn a_silent_client_is_let_go_of_and_then_cut() {
        let (clock, hand) = VirtualClock::manual(Time::EPOCH);
        let mut hold = Hold::new(&clock);
        let limit = Duration::from_secs(32);
        let (outcome, ()) = tokio::join!(hold.wait(limit, std::future::pending::<()>()), async {
            assert!(held(&clock), "{}", clock.status());
            hand.advance(PATIENCE);
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            assert!(!held(&clock), "{}", clock.status());
            hand.advance(limit);
        });
        assert!(outcome.is_err());
        assert!(held(&clock), "the answer is still to be written");
        drop(hold);
        assert!(!held(&clock));
    }
}
