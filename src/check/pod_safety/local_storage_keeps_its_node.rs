//! SF-07. A pod with a volume on the disk of its node keeps it, unless the volumes are named as safe, or the subject was told
//! otherwise. Such a pod is neither evicted, nor is the server given back under it. A node with nothing but pods whose storage
//! keeps nobody is given back, as in SF-05. The subject of the promise is the single pod, and for the last part the node. Each
//! eviction and each give-back is judged, by the moment at which the removal was decided. Pods below the priority cutoff keep
//! nothing. What excuses a node that is kept stands in SF-05.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  web-1 with a hostPath volume runs on small-a, and nothing else
//! 600 s  POST …/pods/web-1/eviction
//! ```
//!
//! It does not catch pods that would fit elsewhere only in parts, or on a node with taints.

use mock_clock::Time;

use crate::check::blocked::stay;
use crate::check::freed::{let_go, unprotected};
use crate::check::scene::{Scene, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Mount, Pod};
use crate::terms::{SubjectOption, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-07"),
    promise: "A pod with local storage keeps its node, unless its volumes are named as safe or the flag says otherwise",
    cite: &[
        faq!(
            "What types of pods can prevent CA from removing a node?",
            "what-types-of-pods-can-prevent-ca-from-removing-a-node"
        ),
        flag!("--skip-nodes-with-local-storage"),
    ],
    level: Level::Must,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::UnneededTime, Timer::UnremovableRecheck, Timer::EvictionTime], |scene, timers| {
        let mut tally = Tally::default();
        stay(scene, &mut tally, timers[0], blocks, "which has local storage");
        let_go(scene, &mut tally, timers.iter().sum(), freed, "local storage that keeps nobody");
        tally.verdict("no pod with local storage was on a node that could otherwise go")
    })
}

const SAFE_VOLUMES: &str = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";

fn blocks(scene: &Scene<'_>, pod: &Pod, _: Time) -> bool {
    let safe: Vec<&str> =
        pod.annotations.get(SAFE_VOLUMES).map(|names| names.split(',').collect()).unwrap_or_default();
    let local =
        pod.volumes.iter().any(|(name, mount)| *mount == Mount::Local && !safe.contains(&name.as_str()));
    local && pod.safe_to_evict() != Some(true) && !scene.is_off(SubjectOption::SkipNodesWithLocalStorage)
}

fn freed(scene: &Scene<'_>, pod: &Pod, at: Time) -> bool {
    let local = pod.volumes.values().any(|mount| *mount == Mount::Local);
    let ordinary = pod.owner.is_some() && pod.namespace != "kube-system";
    local && ordinary && !blocks(scene, pod, at) && unprotected(scene, pod, at)
}
