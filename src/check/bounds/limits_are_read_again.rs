//! MM-09. When the maximum of a machine deployment is raised by its annotation while pods wait, and nothing else keeps it from
//! growing, it grows: bounds are read again and again, not once.
//!
//! The subject is the pool whose maximum had been reached, and a pod that it takes; each raise is judged once, and SU-01 goes on
//! with the new maximum. Excused is a call that went wrong, an order in progress, mostly unready nodes, a back-off, what is on
//! its way for the pod, and an order elsewhere that it fits. The reaction time and two loops are more than latency.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pod web-1 waits; small has the one machine that it may have
//! 10 s  the annotation of machine deployment small says a maximum of 2
//! 90 s  nothing has been ordered
//! ```
//!
//! It does not catch a maximum that is lowered: MM-01 does.

use std::time::Duration;

use crate::check::arrivals::comes;
use crate::check::fit::fit;
use crate::check::reaction::takes;
use crate::check::scene::{Scene, timed};
use crate::check::{CLUSTERAPI, Citation, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Group, Order, Pod, Seen, Track};
use crate::terms::{Pool, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("MM-09"),
    promise: "The bounds in the annotations of a machine deployment are read again while it runs",
    cite: &[Citation {
        where_: "cluster-autoscaler, provider clusterapi, README, \"Enabling Autoscaling\"",
        url: "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/clusterapi/README.md#enabling-autoscaling",
    }],
    level: Level::Must,
    kind: Kind::MinMax,
    providers: CLUSTERAPI,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime], |scene, [reaction]| {
        let mut tally = Tally::default();
        for pool in scene.pools() {
            let Some(track) = scene.groups.get(&pool.name) else { continue };
            for pair in track.seen.windows(2) {
                if raised(scene, pool, &pair[0], &pair[1]) {
                    judge(scene, &mut tally, pool, &pair[1], reaction);
                }
            }
        }
        tally.verdict("no maximum that had been reached was raised while pods waited for it")
    })
}

/// Whether a maximum was raised that the pool had reached.
fn raised(scene: &Scene<'_>, pool: &Pool, before: &Seen<Group>, after: &Seen<Group>) -> bool {
    let max = |seen: &Seen<Group>| seen.state.as_ref().and_then(|group| group.max);
    let reached = |max: u32| scene.live(&pool.name, after.at).len() >= max as usize;
    max(before).zip(max(after)).is_some_and(|(before, after)| after > before && reached(before))
}

fn judge(scene: &Scene<'_>, tally: &mut Tally, pool: &Pool, raised: &Seen<Group>, reaction: Duration) {
    let until = raised.at + reaction + scene.slack();
    let ordered = |order: &Order| raised.at <= order.began && order.began <= until;
    let serves = |order: &Order, pod: &Pod| {
        let pool = order.pool.as_deref().and_then(|pool| scene.pool(pool));
        ordered(order) && pool.is_some_and(|pool| !fit(scene, pod, pool).impossible())
    };
    let forgotten = |track: &Track<Pod>| {
        let pod = track.at(raised.at).filter(|_| track.always(raised.at, until, Pod::waits));
        pod.is_some_and(|pod| {
            takes(scene, pool, pod, raised.at, until)
                && !scene.orders.iter().any(|order| serves(order, pod))
                && !comes(scene, pod, until)
        })
    };
    if scene.orders.iter().any(|order| ordered(order) && order.pool.as_deref() == Some(&pool.name)) {
        tally.exercised();
    } else if scene.free(raised.at, until)
        && !scene.mostly_unready(raised.at)
        && scene.pods.values().any(forgotten)
    {
        tally.exercised();
        let says = format!("{} may be larger, pods wait for it, and nothing was ordered", pool.name);
        tally.violated(says, [raised.event]);
    }
}
