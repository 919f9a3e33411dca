//! MM-04. If the minimum is to be enforced, a pool that is below it has something ordered within two loops
//! and the time for which the view of the cloud may be old.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the subject starts; pool small has 0 servers, minimum 2
//! 145 s  nothing has been ordered
//! ```
//!
//! It does not catch whether the order comes true.

use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::{Scene, TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Order;
use crate::terms::{Pool, SubjectOption, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("MM-04"),
    promise: "With the flag that enforces it, a pool below its minimum is filled by itself",
    cite: &[
        faq!(
            "My cluster is below minimum / above maximum number of nodes, but CA did not fix that! Why?",
            "my-cluster-is-below-minimum--above-maximum-number-of-nodes-but-ca-did-not-fix-that-why"
        ),
        flag!("--enforce-node-group-min-size"),
    ],
    level: Level::Must,
    kind: Kind::MinMax,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::CloudCache], |scene, [cache]| {
        if !scene.is_on(SubjectOption::EnforceMin) {
            return Tally::default().verdict("the minimum was not to be enforced");
        }
        let mut tally = Tally::default();
        let moments = scene
            .servers
            .values()
            .flat_map(|track| track.seen.iter().filter(|seen| seen.state.is_none()).map(|seen| seen.at));
        let moments: Vec<Time> = moments.chain([scene.history.header.began]).collect();
        for pool in scene.pools() {
            for from in moments.iter().filter_map(|at| scene.awake_from(*at, scene.end)) {
                fills(scene, &mut tally, pool, from, from + cache + scene.slack());
            }
        }
        tally.verdict("no pool was below its minimum")
    })
}

fn fills(scene: &Scene<'_>, tally: &mut Tally, pool: &Pool, from: Time, deadline: Time) {
    let short = |at| scene.live(&pool.name, at).len() < pool.min as usize;
    let begun = scene.history.header.began;
    let since = if from < begun + Duration::from_secs(120) { begun } else { from - TIE };
    let ordered = |order: &Order| {
        order.pool.as_deref() == Some(&pool.name) && order.began >= since && order.began <= deadline
    };
    if scene.orders.iter().any(ordered) {
        tally.exercised();
        return;
    }
    let backoff = scene.timer(Timer::BackoffMax).unwrap_or(Duration::MAX);
    let limited = [SubjectOption::MaxNodesTotal, SubjectOption::CoresTotal, SubjectOption::MemoryTotal];
    if short(from)
        && short(deadline)
        && scene.free(from, deadline)
        && limited.iter().all(|limit| scene.option(*limit).is_none())
        && !scene.mostly_unready(from)
        && !scene.may_back_off(&pool.name, from - backoff, deadline)
    {
        let says = format!("{} stayed below its minimum of {}, and nothing was ordered", pool.name, pool.min);
        tally.violated(says, scene.history.events.len().checked_sub(1));
    }
}
