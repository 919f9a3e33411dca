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
