//! KT-03. Pods on nodes of claims are evicted; the subject asks for none of them to be deleted, unless the pool
//! sets a termination grace period that forces it.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  claim a is going, web-1 runs on its node
//! 1 s  DELETE /api/v1/namespaces/default/pods/web-1
//! ```
//!
//! Its subject is the pod; each call is judged. Excused is a pod of a node whose claim is told to go, from the moment on at
//! which its own grace would not be over before that of its pool: a grace period that is far from its end forces nothing. Two
//! loops are granted for the clock, so latency is none.
//!
//! It does not catch pods that others delete.

use std::time::Duration;

use super::claims::{Claims, disruption};
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KT-03"),
    promise: "Pods leave a node by the Eviction API; none is deleted unless a termination grace period forces it",
    cite: &[Citation {
        where_: "Karpenter, Disruption, Termination Controller",
        url: "https://karpenter.sh/docs/concepts/disruption/",
    }],
    level: Level::Must,
    kind: Kind::Safety,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for eviction in claims.scene.evictions.iter().filter(|eviction| eviction.granted()) {
        if claims.scene.pods.contains_key(&eviction.pod) {
            tally.exercised();
        }
    }
    for deletion in query::pod_deletions(history) {
        let pod = claims.scene.pods.get(&deletion.pod).and_then(|track| track.at(deletion.began - TIE));
        let pod = pod.filter(|pod| !pod.ending);
        let Some(node) = pod.and_then(|pod| pod.node.as_deref()) else { continue };
        let Some((_, claim)) = claims.claim_of(node) else { continue };
        let grace = claim.last().and_then(|claim| claims.pool_of(claim)).and_then(|it| disruption(it).grace);
        let told = claim.spells(|claim| claim.ending).first().map(|spell| spell.from);
        let own = pod.map_or(Duration::ZERO, |pod| pod.grace);
        let forced = told
            .zip(grace)
            .is_some_and(|(told, grace)| deletion.began + own + claims.scene.slack() >= told + grace.0);
        if !forced {
            tally.violated(format!("{} on {node} was deleted, not evicted", deletion.pod), [deletion.event]);
        }
    }
    tally.verdict("no pod was evicted")
}
