//! SU-11. What a pool declares of its nodes counts before it has any: nothing is bought there for pods that
//! do not tolerate its taints. An order convicts if all that waited were impossible in its pool, one of them
//! for a taint.
//!
//! The subject is each order and its pool, judged once: a pod that waits and that this pool may take acquits. Excused is an order
//! that fills a minimum. Who waited within two loops before it counts as waiting, so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pod web-1 without tolerations is unschedulable; pool gpu has the taint gpu:NoSchedule
//! 10 s  POST /servers for pool gpu
//! ```
//!
//! It does not catch a taint that the node itself lacks in the end.

use crate::check::causes::never_bought_for;
use crate::check::fit::Misfit;
use crate::check::{Citation, EVERYBODY, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-11"),
    promise: "Taints that a pool declares restrict the pods for which a node is ordered there, from zero on",
    cite: &[
        Citation {
            where_: "cluster-autoscaler, README of the hetzner provider, HCLOUD_CLUSTER_CONFIG",
            url: "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/hetzner/README.md",
        },
        karpenter!("NodePools, spec.template.spec.taints", "concepts/nodepools"),
    ],
    level: Level::Must,
    kind: Kind::ScaleUp,
    providers: EVERYBODY,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    never_bought_for(
        history,
        Misfit::Taint,
        false,
        "which does not tolerate its taints",
        "no pod waited that does not tolerate the taints of a pool",
    )
}
