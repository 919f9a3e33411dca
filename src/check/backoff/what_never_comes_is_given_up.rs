//! BO-04. If no server of an order became a ready node within the provision time, and a pod waited all the
//! time that another pool takes for certain, something is ordered within the listing of machines and two
//! loops.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  POST /servers for pool small; the server never becomes a node; pool big fits as well
//! 1110 s  nothing else has been ordered
//! ```
//!
//! It does not catch whether the failing pool is left alone: that is BO-01.

use crate::check::causes::first_attempts;
use crate::check::reaction::takes;
use crate::check::scene::{TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Order, Pod};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("BO-04"),
    promise: "When ordered machines do not become nodes in the documented time, something is ordered in another pool that fits",
    cite: &[faq!("How does scale-up work?", "how-does-scale-up-work"), flag!("--max-node-provision-time")],
    level: Level::Should,
    kind: Kind::Backoff,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ProvisionTime, Timer::ReactionTime], |scene, [provision, reaction]| {
        let mut tally = Tally::default();
        for order in first_attempts(scene).filter(|order| order.taken()) {
            let Some(id) = scene.server_of(order) else { continue };
            let overdue = order.began + provision;
            let until = overdue + reaction + scene.listing();
            let elsewhere = |other: &&Order| {
                other.began > order.began + TIE && other.began <= until && other.pool != order.pool
            };
            let next = scene.orders.iter().filter(elsewhere).map(|other| other.began).min();
            // Whoever gets what it waits for waits no longer.
            let judged = next.unwrap_or(until);
            let never = scene.registered(id).is_none_or(|at| at > judged)
                && scene.ready(id).is_none_or(|at| at > judged);
            let waits =
                scene.pods.values().filter(|track| track.always(order.began - TIE, judged - TIE, Pod::waits));
            let pods: Vec<&Pod> = waits.filter_map(|track| track.at(order.began)).collect();
            let others =
                scene.pools().iter().filter(|pool| Some(pool.name.as_str()) != order.pool.as_deref());
            let rival = others
                .filter(|pool| pods.iter().any(|pod| takes(scene, pool, pod, order.began, overdue)))
                .count();
            if !never || rival == 0 || pods.is_empty() || !scene.watched(order.began, judged) {
                continue;
            }
            if let Some(next) = next {
                if next + TIE >= overdue {
                    tally.exercised();
                }
            } else if scene.calm(order.ended + TIE, until) && scene.upcoming(overdue, provision).is_empty() {
                tally.violated(
                    format!("{} never became a node, and nothing was ordered elsewhere", order.name),
                    [order.event],
                );
            }
        }
        tally.verdict("every order became a node, or no other pool fitted")
    })
}
