//! KM-05. No node is written or deleted, and no pod evicted or deleted from it, that neither belongs to a pool by its label
//! nor ever was the node of a claim.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  node by-hand has no label of a pool
//! 1 s  PATCH /api/v1/nodes/by-hand by the subject
//! ```
//!
//! Its subject is the node; each call is judged, granted or not. Whose a node is, its label says, its claim, or the provider id
//! that it has in common with one, at any time: a node that is just being registered is nobody else's. Nothing excuses, and
//! there is no time that could be late.
//!
//! It does not catch leases and events.

use super::claims::Claims;
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{self, CLAIM_POOL_LABEL};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KM-05"),
    promise: "Nodes that are of no pool are never touched",
    cite: &[
        Citation {
            where_: "Karpenter, NodePools, NodePools",
            url: "https://karpenter.sh/docs/concepts/nodepools/",
        },
        Citation {
            where_: "Karpenter, Disruption, Manual Methods",
            url: "https://karpenter.sh/docs/concepts/disruption/",
        },
    ],
    level: Level::Must,
    kind: Kind::Safety,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let foreign = |node: &str| {
        let labelled = claims.scene.nodes.get(node).is_some_and(|track| {
            track
                .seen
                .iter()
                .filter_map(|seen| seen.state.as_ref())
                .any(|it| it.labels.contains_key(CLAIM_POOL_LABEL))
        });
        !labelled && claims.claim_of(node).is_none() && claims.scene.nodes.contains_key(node)
    };
    let mut tally = Tally::default();
    for write in query::node_writes(history).into_iter().chain(query::node_deletions(history)) {
        if foreign(&write.node) {
            tally.violated(format!("{}, which is of no pool, was written", write.node), [write.event]);
        }
    }
    for eviction in &claims.scene.evictions {
        let pod = claims.scene.pods.get(&eviction.pod).and_then(|track| track.at(eviction.began - TIE));
        if let Some(node) = pod.and_then(|pod| pod.node.as_deref()).filter(|node| foreign(node)) {
            tally.violated(
                format!("{} was evicted from {node}, which is of no pool", eviction.pod),
                [eviction.event],
            );
        }
    }
    for deletion in query::pod_deletions(history) {
        let pod = claims.scene.pods.get(&deletion.pod).and_then(|track| track.at(deletion.began - TIE));
        if let Some(node) = pod.and_then(|pod| pod.node.as_deref()).filter(|node| foreign(node)) {
            tally.violated(
                format!("{} was deleted from {node}, which is of no pool", deletion.pod),
                [deletion.event],
            );
        }
    }
    if !claims.all.is_empty() {
        claims.scene.nodes.keys().filter(|node| foreign(node)).for_each(|_| tally.exercised());
    }
    tally.verdict("there was no node outside the pools, or no claim")
}
