//! SF-05. A node with nothing but pods of kube-system that are freed in one of the three ways, and that fit together into what
//! is free on another ready node, is given back once that has lasted for the unneeded time, the recheck and the drain. The
//! subject of the promise is the node. It is judged again as long as it has the same pods; excused is a subject that did not
//! run, was refused something or ordered, for that time, a pool at its minimum, paused or rolled out, a node that is annotated
//! to stay or well used by daemons, and most nodes being unready.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  metrics-server, safe to evict, runs alone on small-a; small-b has room for it
//! 2000 s  nothing has been given back
//! ```
//!
//! It does not catch pods that would fit only in parts, or on a node with taints.

use mock_clock::Time;

use crate::check::freed::{let_go, unprotected};
use crate::check::scene::{Scene, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Budget, Mount, Pod};
use crate::terms::{SubjectOption, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-05"),
    promise: "A pod of kube-system no longer keeps its node once it is freed: by a disruption budget, by annotation, or by flag",
    cite: &[
        faq!(
            "How to set PDBs to enable CA to move kube-system pods?",
            "how-to-set-pdbs-to-enable-ca-to-move-kube-system-pods"
        ),
        faq!(
            "What types of pods can prevent CA from removing a node?",
            "what-types-of-pods-can-prevent-ca-from-removing-a-node"
        ),
        flag!("--skip-nodes-with-system-pods"),
    ],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::UnneededTime, Timer::UnremovableRecheck, Timer::EvictionTime], |scene, timers| {
        let mut tally = Tally::default();
        let_go(scene, &mut tally, timers.iter().sum(), freed, "pods of kube-system that are free to go");
        tally.verdict("no node had nothing on it but freed pods of kube-system that fit elsewhere")
    })
}

fn freed(scene: &Scene<'_>, pod: &Pod, at: Time) -> bool {
    let annotated = pod.safe_to_evict() == Some(true);
    let allows = |budget: &Budget| budget.covers(pod) && budget.allowed.is_some_and(|allowed| allowed > 0);
    let budget = scene.budgets.values().any(|track| track.at(at).is_some_and(allows));
    let flag = scene.is_off(SubjectOption::SkipNodesWithSystemPods);
    let local = pod.volumes.values().any(|mount| *mount == Mount::Local);
    pod.namespace == "kube-system"
        && pod.owner.is_some()
        && unprotected(scene, pod, at)
        && (annotated || ((budget || flag) && !local))
}
