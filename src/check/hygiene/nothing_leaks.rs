//! HY-01. When the run is accounted for, each server that the subject has bought and not given back has a node on which
//! something runs, or keeps its pool at the minimum; unless there was not yet time to notice: provision time, unneeded time, the
//! delay after the last order, recheck and listing. The subject of the promise is the single server, judged once, at the end.
//! What was ordered, changed by the plan, or refused in that last hour makes it unknown, and not held; orders that were refused
//! do not. A pod that runs there, of whatever priority, is a need.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  POST /servers for pool small: server 7
//! 4000 s  the end; server 7 exists, and never had a node
//! ```
//!
//! It does not catch what was leaked and cleared away by others.

use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::{Scene, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::query::{self, Node};
use crate::history::{History, Phase};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("HY-01"),
    promise: "A server that was bought is used or given back: once it is quiet, none is left that nothing needs",
    cite: &[
        faq!("How does scale-up work?", "how-does-scale-up-work"),
        faq!("How does scale-down work?", "how-does-scale-down-work"),
    ],
    level: Level::Must,
    kind: Kind::Hygiene,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(
        history,
        [Timer::ProvisionTime, Timer::UnneededTime, Timer::DelayAfterAdd, Timer::UnreadyTime],
        |scene, timers| {
            let recheck = scene.timer(Timer::UnremovableRecheck).unwrap_or_default();
            let quiet: Duration = timers.iter().sum::<Duration>() + recheck + scene.listing();
            // Then the subject is ended, and could do nothing more.
            let end = query::began_phase(history, Phase::Account).unwrap_or(scene.end);
            let from = end - quiet;
            let mut tally = Tally::default();
            for order in &scene.orders {
                let Some(id) = scene.server_of(order) else { continue };
                let Some(pool) = scene.pool_of(id).and_then(|pool| scene.pool(pool)) else { continue };
                let left = scene.servers.get(&id).is_some_and(|track| track.at(end).is_some());
                let spare = scene.live(&pool.name, end).len() > pool.min as usize;
                if !left || !spare || used(scene, id, end) {
                    tally.exercised();
                } else if leaked(scene, id, from, end)
                    && order.began < from
                    && no_order_since(scene, from, end)
                    && scene.watched(from, end)
                    && scene.last_trouble_but_orders(from, end).is_none()
                {
                    let event = scene.history.events.len() - 1;
                    tally.violated(
                        format!("server {id} was left at the end, and nothing needed it"),
                        [order.event, event],
                    );
                } else {
                    tally.doubtful(format!(
                        "server {id} was left at the end, and there was not yet time to give it back"
                    ));
                }
            }
            tally.verdict("nothing was ordered")
        },
    )
}

fn used(scene: &Scene<'_>, id: u64, at: Time) -> bool {
    scene.nodes_on(id).any(|(name, _)| !scene.occupants(name, at).is_empty())
}

/// Whether a server had no node at all, or one with nothing on it and no protection, since a moment.
fn leaked(scene: &Scene<'_>, id: u64, from: Time, end: Time) -> bool {
    let protected =
        |node: &Node| node.annotations.contains_key("cluster-autoscaler.kubernetes.io/scale-down-disabled");
    scene.nodes_on(id).all(|(name, track)| {
        let there = track.ever(from, end, |_| true);
        let vacant = scene.vacant(name).iter().any(|spell| spell.spans(from, end));
        !track.ever(from, end, protected) && (!there || vacant)
    })
}

/// What is refused puts nothing off.
fn no_order_since(scene: &Scene<'_>, from: Time, end: Time) -> bool {
    scene.orders.iter().all(|order| order.began < from || order.refused()) && !scene.disturbed(from, end)
}
