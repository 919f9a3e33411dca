//! FT-03. A server is not given back within a minute after a look at the actions of its order has failed, if no look told that
//! one of them had failed, its creation timeout has not passed, and it has no node yet. The same is asked of each failure that
//! follows a look that was answered. Nothing else excuses it.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  POST /servers for pool small: server 7
//! 1 s  GET /actions: 503
//! 1 s  DELETE /servers/7
//! ```
//!
//! It does not catch looks that fail for longer than a minute: who can see nothing may give up.

use std::time::Duration;

use crate::check::making::{Look, looks};
use crate::check::scene::{TIE, timed};
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-03"),
    promise: "An error while an order is awaited does not cost the server",
    cite: &[thread!(8013)],
    level: Level::Should,
    kind: Kind::FaultTolerance,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

const MINUTE: Duration = Duration::from_secs(60);

fn check(history: &History) -> Verdict {
    timed(history, [Timer::CreationTimeout, Timer::ProvisionTime], |scene, [creation, provision]| {
        let mut tally = Tally::default();
        for order in scene.orders.iter().filter(|order| order.taken()) {
            let Some(id) = scene.server_of(order) else { continue };
            let looks = looks(history, order);
            for failed in first_failures(&looks) {
                let until = (failed.ended + MINUTE).min(order.began + creation.min(provision) - TIE);
                let hit = scene.give_backs.iter().find(|back| {
                    let bad_news = looks.iter().any(|look| look.bad_news && look.began <= back.began);
                    let unregistered = scene.registered(id).is_none_or(|at| at > back.began);
                    back.server == id
                        && failed.began <= back.began
                        && back.began <= until
                        && unregistered
                        && !bad_news
                        && scene.watched(order.began, back.began)
                });
                if let Some(back) = hit {
                    let says = format!("server {id} was given back as a look at its actions had failed");
                    tally.violated(says, [order.event, failed.event, back.event]);
                    break;
                }
                if scene.watched(order.began, until) && failed.ended < until {
                    tally.exercised();
                }
            }
        }
        tally.verdict("no look at the actions of an order failed")
    })
}

/// Failed looks after which others may have failed as well, up to one that did not.
fn first_failures(looks: &[Look]) -> impl Iterator<Item = &Look> {
    let first = |(index, look): &(usize, &Look)| {
        look.failed && index.checked_sub(1).is_none_or(|before| !looks[before].failed)
    };
    looks.iter().enumerate().filter(first).map(|(_, look)| look)
}
