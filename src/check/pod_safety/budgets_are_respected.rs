//! SF-01. While a disruption budget says that none of its pods may go, as it said for two loops and a few calls, no removal is
//! decided of a node with such a pod, and its server is not given back under it. A pod with a budget is never deleted, only
//! evicted. The subject of the promise is the single pod; each eviction and each give-back is judged by the moment of the
//! decision: what a drain uses up itself it may wait for. Pods below the priority cutoff are not asked. Two loops of the same
//! budget are more than latency.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  web-1 runs on small-a; its disruption budget allows none to go
//! 700 s  DELETE of the server of small-a
//! ```
//!
//! It does not catch evictions that were tried and refused: the API refuses them, and SF-02 is about that.

use mock_clock::Time;

use crate::check::blocked::must_stay;
use crate::check::scene::{Scene, TIE};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::query::{Budget, Pod};
use crate::history::{History, query};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-01"),
    promise: "A pod whose disruption budget allows none is neither evicted nor does it lose its server",
    cite: &[faq!(
        "Does CA work with PodDisruptionBudget in scale-down?",
        "does-ca-work-with-poddisruptionbudget-in-scale-down"
    )],
    level: Level::Must,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let never = "no pod whose disruption budget allows none to go was on a node that could otherwise go";
    let mut tally = Tally::default();
    let scene = Scene::of(history);
    for deletion in query::pod_deletions(history) {
        let pod = scene.pods.get(&deletion.pod).and_then(|track| track.at(deletion.began - TIE));
        if pod.is_some_and(|pod| {
            scene.budgets.values().any(|track| track.at(deletion.began).is_some_and(|b| b.covers(pod)))
        }) {
            tally.violated(
                format!("{} was deleted, and its disruption budget not asked", deletion.pod),
                [deletion.event],
            );
        }
    }
    let deleted = tally.verdict(never);
    if deleted.is_violated() {
        return deleted;
    }
    must_stay(history, blocks, "whose disruption budget allowed none to go", never)
}

fn blocks(scene: &Scene<'_>, pod: &Pod, at: Time) -> bool {
    let none = |budget: &Budget| budget.covers(pod) && budget.allowed == Some(0);
    scene.budgets.values().any(|track| track.always(at - scene.slack(), at + TIE, none))
}
