//! SF-07. A pod with a volume on the disk of its node keeps it, unless the volumes are named as safe, or the
//! subject was told otherwise. Such a pod is neither evicted, nor is the server given back under it.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  web-1 with a hostPath volume runs on small-a, and nothing else
//! 600 s  POST …/pods/web-1/eviction
//! ```
//!
//! It does not catch that a node goes once nothing is local: that is SD-01.

use mock_clock::Time;

use crate::check::blocked::must_stay;
use crate::check::scene::Scene;
use crate::check::{Expectation, HETZNER, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Mount, Pod};
use crate::terms::SubjectOption;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-07"),
    promise: "A pod with local storage keeps its node by default",
    cite: &[
        faq!(
            "What types of pods can prevent CA from removing a node?",
            "what-types-of-pods-can-prevent-ca-from-removing-a-node"
        ),
        flag!("--skip-nodes-with-local-storage"),
    ],
    level: Level::Must,
    kind: Kind::Safety,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    must_stay(
        history,
        blocks,
        "which has local storage",
        "no pod with local storage was on a node that could otherwise go",
    )
}

const SAFE_VOLUMES: &str = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";

fn blocks(scene: &Scene<'_>, pod: &Pod, _: Time) -> bool {
    let freed = pod.safe_to_evict() == Some(true);
    let safe: Vec<&str> =
        pod.annotations.get(SAFE_VOLUMES).map(|names| names.split(',').collect()).unwrap_or_default();
    let local =
        pod.volumes.iter().any(|(name, mount)| *mount == Mount::Local && !safe.contains(&name.as_str()));
    local && !freed && !scene.is_off(SubjectOption::SkipNodesWithLocalStorage)
}
