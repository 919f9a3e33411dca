//! What is in flight: the clock is held while a call passes, but not for ever.
//!
//! A caller that was stopped in the middle of an answer, or an API that takes its time, must not hold up everybody's
//! time. So a flight that has not moved for a moment lets go of the clock by itself; the moment is real, because the
//! clock is held. It takes hold again when it moves.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mock_clock::{Busy, Clock as _, Time, VirtualClock};
use tokio::sync::Notify;

/// How long something can be in flight without moving.
const PATIENCE: Duration = Duration::from_millis(250);

/// All flights of a door.
pub(super) struct Flights {
    clock: VirtualClock,
    airborne: Mutex<Airborne>,
    /// The first has started, or the last has ended.
    turned: Notify,
}

#[derive(Default)]
struct Airborne {
    started: u64,
    /// Those that hold the clock, with the moment at which they let go.
    holding: BTreeMap<u64, (Time, Busy)>,
}

/// One flight.
pub(super) struct Flight {
    flights: Arc<Flights>,
    number: u64,
}

impl Flights {
    pub(super) fn new(clock: &VirtualClock) -> Arc<Self> {
        Arc::new(Self { clock: clock.clone(), airborne: Mutex::default(), turned: Notify::new() })
    }

    /// Something is in flight from now on, until what this gives is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Flight {
        let number = {
            let mut airborne = self.lock();
            airborne.started += 1;
            airborne.started
        };
        let flight = Flight { flights: Arc::clone(self), number };
        flight.moved();
        flight
    }

    /// Lets go of the clock for those that do not move.
    pub(super) async fn watch(&self) {
        loop {
            let first = self.lock().holding.values().map(|(until, _)| *until).min();
            let Some(first) = first else {
                self.turned.notified().await;
                continue;
            };
            tokio::select! {
                now = self.clock.sleep_until(first) => self.lock().holding.retain(|_, (until, _)| *until > now),
                () = self.turned.notified() => {}
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Airborne> {
        self.airborne.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flight {
    /// It moves: the clock is held, for a moment from now on.
    pub(super) fn moved(&self) {
        let flights = &self.flights;
        let until = flights.clock.now() + PATIENCE;
        let mut airborne = flights.lock();
        if let Some((held_until, _)) = airborne.holding.get_mut(&self.number) {
            *held_until = until;
            return;
        }
        let first = airborne.holding.is_empty();
        airborne.holding.insert(self.number, (until, flights.clock.busy()));
        drop(airborne);
        if first {
            flights.turned.notify_one();
        }
    }

    /// It waits for something that takes virtual time, or for its caller's pleasure.
    pub(super) fn rests(&self) {
        let mut airborne = self.flights.lock();
        let held = airborne.holding.remove(&self.number);
        let last = held.is_some() && airborne.holding.is_empty();
        drop(airborne);
        drop(held);
        if last {
            self.flights.turned.notify_one();
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.rests();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(clock: &VirtualClock) -> bool {
        clock.status().to_string().contains("guards held here")
    }

    async fn others() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_does_not_move_lets_go_and_takes_hold_again() {
        let (clock, hand) = VirtualClock::manual(Time::EPOCH);
        let flights = Flights::new(&clock);
        let watched = Arc::clone(&flights);
        let watching = tokio::spawn(async move { watched.watch().await });
        let (stuck, moving) = (flights.begin(), flights.begin());
        others().await;
        hand.advance(PATIENCE / 2);
        moving.moved();
        others().await;
        hand.advance(PATIENCE / 2);
        others().await;
        assert_eq!(flights.lock().holding.keys().collect::<Vec<_>>(), [&moving.number]);
        drop(moving);
        assert!(!held(&clock), "{}", clock.status());
        stuck.moved();
        assert!(held(&clock), "{}", clock.status());
        others().await;
        hand.advance(PATIENCE);
        others().await;
        assert!(!held(&clock), "{}", clock.status());
        stuck.moved();
        stuck.rests();
        assert!(!held(&clock), "{}", clock.status());
        watching.abort();
    }
}
