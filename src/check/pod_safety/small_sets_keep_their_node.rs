//! SF-09. With a minimum of replicas asked for, a pod of a replica set or replication controller of which fewer pods are there
//! keeps its node. Pods that are ending count, so that one that is being replaced is not missed; and a pod annotated as safe to
//! evict does not block. The subject of the promise is the single pod; each eviction and each give-back is judged, by the moment
//! at which the removal was decided. Pods below the priority cutoff keep nothing. A set that shrinks within a second convicts
//! nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  at least 2 replicas were asked for; web-1, the only pod of its set, runs on small-a, and nothing else
//! 600 s  POST …/pods/web-1/eviction
//! ```
//!
//! It does not catch sets that ask for fewer replicas than there are pods.

use mock_clock::Time;

use crate::check::blocked::must_stay;
use crate::check::scene::{Scene, TIE};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Pod;
use crate::terms::SubjectOption;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-09"),
    promise: "A pod of a set with fewer replicas than the minimum that was asked for keeps its node",
    cite: &[flag!("--min-replica-count")],
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
        "of whose set there are fewer than the minimum",
        "no pod of a set that is too small was on a node that could otherwise go",
    )
}

fn blocks(scene: &Scene<'_>, pod: &Pod, at: Time) -> bool {
    let asked = scene.option(SubjectOption::MinReplicaCount).and_then(|count| count.parse::<usize>().ok());
    let kind = pod.owner.as_ref().map(|(kind, _)| kind.as_str());
    let counts = matches!(kind, Some("ReplicaSet" | "ReplicationController"));
    let sibling =
        |other: &&Pod| other.owner == pod.owner && other.namespace == pod.namespace && !other.finished();
    let replicas = |at: Time| scene.pods.values().filter_map(|track| track.at(at)).filter(sibling).count();
    let few = |least| [at - TIE, at, at + TIE].into_iter().all(|at| replicas(at) < least);
    counts && pod.safe_to_evict() != Some(true) && asked.is_some_and(few)
}
