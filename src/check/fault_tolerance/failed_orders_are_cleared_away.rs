//! FT-04. A server is given back, or gone, a minute and two loops after the subject was told that an action of its order has
//! failed; and the next order in its pool waits for the initial back-off. The subjects of the promise are the server and its
//! pool. Each is judged once: a server that is left then is HY-02's. Excused for the first half is a subject that was refused
//! something, for the second a new process, which may have forgotten; other orders of the same batch are no new ones.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  POST /servers for pool small: server 7
//!  8 s  GET /actions: one of its actions has failed
//! 95 s  server 7 has not been given back
//! ```
//!
//! It does not catch failures of which the subject never heard: that is HY-03.

use std::time::Duration;

use crate::check::causes::first_attempts;
use crate::check::making::looks;
use crate::check::scene::{TIE, timed};
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Order;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-04"),
    promise: "A server whose creation has failed is given back, and its pool is left alone for the back-off",
    cite: &[thread!(6364)],
    level: Level::Should,
    kind: Kind::Hygiene,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

const MINUTE: Duration = Duration::from_secs(60);
/// Before each server of a batch is ordered its image is looked up.
const ONE_BATCH: Duration = Duration::from_secs(5);

fn check(history: &History) -> Verdict {
    timed(history, [Timer::BackoffInitial], |scene, [backoff]| {
        let mut tally = Tally::default();
        for order in scene.orders.iter().filter(|order| order.taken()) {
            let Some(id) = scene.server_of(order) else { continue };
            let looks = looks(history, order);
            let Some(told) = looks.iter().find(|look| look.bad_news) else { continue };
            let until = told.ended + MINUTE + scene.slack();
            let asked = |began| told.began <= began + TIE && began <= until;
            let given = scene.give_backs.iter().any(|back| back.server == id && asked(back.began));
            let there = scene.servers.get(&id).is_some_and(|track| track.always(told.ended, until, |_| true));
            if given || (!there && until <= scene.end) {
                tally.exercised();
            } else if there && scene.watched(order.began, until) && scene.calm(told.ended + TIE, until) {
                let says = format!("server {id}, whose creation had failed, was not given back");
                tally.violated(says, [order.event, told.event]);
            }
            // Orders of one batch may reach the cloud one after the other.
            let soon = |other: &&Order| {
                other.pool == order.pool
                    && other.began > (told.ended + TIE).max(order.began + ONE_BATCH)
                    && other.began + scene.slack() < told.ended + backoff
                    && scene.watched(order.began, other.began)
            };
            if let Some(next) = first_attempts(scene).find(soon) {
                let says = format!("{} was ordered in the back-off after server {id} had failed", next.name);
                tally.violated(says, [told.event, next.event]);
            }
        }
        tally.verdict("no creation of a server failed that the subject looked at")
    })
}
