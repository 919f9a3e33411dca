//! SF-04. A pod of kube-system that is no resident of its node and has no disruption budget keeps it; where the subject has a
//! timer for it, until it is so old. Such a pod is neither evicted, nor is the server given back under it. The subject of the
//! promise is the single pod; each eviction and each give-back is judged, by the moment at which the removal was decided. Pods
//! below the priority cutoff keep nothing, nor does one with a budget that nobody can read. Two seconds are granted at the end
//! of its time.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  metrics-server of kube-system runs on small-a, and nothing else
//! 600 s  POST …/pods/metrics-server-1/eviction
//! ```
//!
//! It does not catch what becomes of the pod once it no longer blocks: that is SF-05.

use mock_clock::Time;

use crate::check::blocked::must_stay;
use crate::check::scene::{Scene, TIE};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Budget, Pod, Track};
use crate::terms::{SubjectOption, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-04"),
    promise: "A pod of kube-system without a disruption budget keeps its node, for as long as the subject says",
    cite: &[
        faq!(
            "What types of pods can prevent CA from removing a node?",
            "what-types-of-pods-can-prevent-ca-from-removing-a-node"
        ),
        flag!("--skip-nodes-with-system-pods"),
        flag!("--blocking-system-pod-distruption-timeout"),
    ],
    level: Level::Must,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    must_stay(
        history,
        blocks,
        "a pod of kube-system without a disruption budget",
        "no pod of kube-system without a disruption budget was on a node that could otherwise go",
    )
}

fn blocks(scene: &Scene<'_>, pod: &Pod, at: Time) -> bool {
    let freed = pod.safe_to_evict() == Some(true);
    let budget =
        |track: &Track<Budget>| track.ever(at - TIE, at + TIE, |budget| budget.obscure || budget.covers(pod));
    let young = scene
        .timer(Timer::SystemPodBlocks)
        .is_none_or(|so_long| pod.created.is_some_and(|created| at + TIE * 2 < created + so_long));
    pod.namespace == "kube-system"
        && !scene.is_off(SubjectOption::SkipNodesWithSystemPods)
        && !freed
        && young
        && !scene.budgets.values().any(budget)
}
