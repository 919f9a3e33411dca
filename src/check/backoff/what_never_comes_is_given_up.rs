//! BO-04. If no server of an order became a ready node within the provision time, and a pod waited all the
//! time that another pool takes for certain, something is ordered within the listing of machines and two
//! loops.
//!
//! The subject is the pod that the order may have been placed for; each order is judged once. Excused is what is on its way for
//! the pod (but what was bought in the same pool again, after the provision time), a rival that may be in back-off, and any call
//! that went wrong. The listing and two loops are more than latency.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  POST /servers for pool small; the server never becomes a node; pool big fits as well
//! 1110 s  nothing else has been ordered
//! ```
//!
//! It does not catch whether the failing pool is left alone: that is BO-01.

use mock_clock::Time;

use crate::check::arrivals::comes_but;
use crate::check::causes::first_attempts;
use crate::check::fit::fit;
use crate::check::reaction::takes;
use crate::check::scene::{Scene, TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Order, Pod, Track};
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
            let window = (overdue, overdue + reaction + scene.listing());
            let ends: Vec<End> =
                scene.pods.values().filter_map(|track| end(scene, order, id, track, window)).collect();
            if ends.contains(&End::Forgotten) {
                tally.violated(
                    format!("{} never became a node, and nothing was ordered elsewhere", order.name),
                    [order.event],
                );
            } else if ends.contains(&End::Served) {
                tally.exercised();
            }
        }
        tally.verdict("every order became a node, or no other pool fitted")
    })
}

/// What came of a pod for which nothing came.
#[derive(PartialEq, Eq)]
enum End {
    /// Another pool was ordered from.
    Served,
    /// No other pool was, and nothing excuses that.
    Forgotten,
}

/// What came of a pod that an order may have been placed for, and that another pool takes; nothing if it did not wait for so
/// long, or was served before.
fn end(
    scene: &Scene<'_>,
    order: &Order,
    server: u64,
    track: &Track<Pod>,
    (overdue, until): (Time, Time),
) -> Option<End> {
    let pod = track.at(order.began)?;
    let others = || scene.pools().iter().filter(|pool| Some(pool.name.as_str()) != order.pool.as_deref());
    let pool = order.pool.as_deref().and_then(|pool| scene.pool(pool));
    let meant = pool.is_some_and(|pool| !fit(scene, pod, pool).impossible());
    if !meant || !others().any(|pool| takes(scene, pool, pod, order.began, overdue)) {
        return None;
    }
    let suits = |other: &&Order| {
        let pool = others().find(|pool| Some(pool.name.as_str()) == other.pool.as_deref());
        let in_time = other.began > order.began + TIE && other.began <= until;
        in_time && pool.is_some_and(|pool| !fit(scene, pod, pool).impossible())
    };
    let next = scene.orders.iter().filter(suits).map(|other| other.began).min();
    // Whoever gets what it waits for waits no longer.
    let judged = next.unwrap_or(until);
    let never = scene.registered(server).is_none_or(|at| at > judged)
        && scene.ready(server).is_none_or(|at| at > judged);
    let waits = track.always(order.began - TIE, judged - TIE, Pod::waits);
    if !never || !waits || !scene.watched(order.began, judged) {
        return None;
    }
    if let Some(next) = next {
        return (next + TIE >= overdue).then_some(End::Served);
    }
    // To buy there again is no answer.
    let again = |pool: Option<&str>, began: Time| pool == order.pool.as_deref() && began + TIE >= overdue;
    let alone = scene.calm(order.ended + TIE, until) && !comes_but(scene, pod, until, again);
    alone.then_some(End::Forgotten)
}
