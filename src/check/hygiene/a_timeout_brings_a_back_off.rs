//! HY-11. After a server was given back because it took longer than the creation timeout, the next order in its pool waits for the
//! initial back-off, which begins then. The subject of the promise is the pool. Each such server is judged; a new process may
//! have forgotten it. What a client repeats of an order from before is no new one.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  POST /servers for pool small: server 7, which stays initializing
//! 300 s  DELETE /servers/7
//! 310 s  POST /servers for pool small
//! ```
//!
//! It does not catch orders that fail at once (BO-01), nor those whose actions fail (FT-04).

use super::slow_orders_are_cleared_away::slow_orders;
use crate::check::causes::first_attempts;
use crate::check::scene::{TIE, timed};
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Order;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("HY-11"),
    promise: "After an order took longer than the creation timeout its pool is left alone for the initial back-off",
    cite: &[flag!("--initial-node-group-backoff-duration"), thread!(5756)],
    level: Level::Should,
    kind: Kind::Backoff,
    providers: HETZNER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::CreationTimeout, Timer::BackoffInitial], |scene, [creation, backoff]| {
        let mut tally = Tally::default();
        for slow in slow_orders(scene, creation) {
            let Some(back) = slow.back else { continue };
            let soon = |other: &&Order| {
                other.pool == slow.order.pool
                    && other.began > back.began + TIE
                    && other.began + scene.slack() < back.began + backoff
                    && scene.watched(slow.order.began, other.began)
            };
            if let Some(next) = first_attempts(scene).find(soon) {
                let says = format!("{} was ordered in the back-off after server {}", next.name, back.server);
                tally.violated(says, [back.event, next.event]);
            } else if scene.watched(slow.order.began, back.began + backoff) {
                tally.exercised();
            }
        }
        tally.verdict("no order was given back for taking longer than the creation timeout")
    })
}
