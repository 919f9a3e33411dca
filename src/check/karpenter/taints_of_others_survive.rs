//! KL-12. A taint that somebody else has put on a node of a claim is still there after the next writes of the
//! subject: it comes off only when others take it off. Put to the test is that by a write that was begun before the taint came,
//! and changed the node's taints after it, or was refused because of it: no other could have lost it.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  somebody taints the node of claim a with hand:NoSchedule
//! 1 s  the subject registers the node
//! 1 s  the node has no taint hand
//! ```
//!
//! Its subject is the taint of one node; each time that it is lost is judged. A step or a fault of the harness in the two
//! seconds before is taken for who took it off. That two writes meet is what it is about: without such a meeting it is unknown,
//! and latency alone loses no taint.
//!
//! It does not catch labels and annotations.

use std::collections::BTreeSet;
use std::time::Duration;

use mock_clock::Time;
use serde_json::Value;

use super::claims::Claims;
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::query::{self, Node, Track};
use crate::history::{FaultChange, History, StepChange, What};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KL-12"),
    promise: "Taints that others have put on a node survive what Karpenter writes",
    cite: &[Citation {
        where_: "kubernetes-sigs/karpenter #1658",
        url: "https://github.com/kubernetes-sigs/karpenter/issues/1658",
    }],
    level: Level::Should,
    kind: Kind::FaultTolerance,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: false,
    check,
};

/// A write of what somebody else has written meanwhile is refused.
const CONFLICT: u16 = 409;
/// After so long nobody can say any more whose write it was.
const AFTER: Duration = Duration::from_secs(2);
/// Those that come and go by themselves.
const OWN: [&str; 4] =
    ["karpenter.sh/", "node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "scaleproof.dev/passing"];

/// Whether anybody else began to do something between two moments, who may have taken a taint away.
fn has_begun(history: &History, from: Time, to: Time) -> bool {
    history.events.iter().filter(|event| from <= event.at && event.at <= to).any(|event| match &event.what {
        What::Step(step) => step.change == StepChange::Begun,
        What::Fault(fault) => !matches!(fault.change, FaultChange::Bit(_)),
        _ => false,
    })
}

/// Whether the node had other taints when a write was over than when it was begun, those of others left out.
fn rewrites(track: &Track<Node>, began: Time, ended: Time) -> bool {
    let own = |at| {
        let taints = track.at(at).map(|node| node.taints.clone()).unwrap_or_default();
        taints.into_iter().filter(|taint| taint.key.starts_with(OWN[0])).collect::<BTreeSet<_>>()
    };
    own(began - TIE) != own(ended + TIE)
}

/// Whether a write may have changed taints: a patch that names none leaves them as they are.
fn is_of_taints(history: &History, write: &query::NodeWrite) -> bool {
    match &history.events[write.event].what {
        What::Call(call) if call.method == "PATCH" => {
            let says = |patch: &Value| !patch.is_object() || patch["spec"].get("taints").is_some();
            call.request.as_ref().is_none_or(says)
        }
        _ => true,
    }
}

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let writes = query::node_writes(history);
    let mut tally = Tally::default();
    for (name, track) in &claims.scene.nodes {
        let Some((_, claim)) = claims.claim_of(name) else { continue };
        let startup: Vec<&str> =
            claim.last().into_iter().flat_map(|it| &it.startup_taints).map(|it| it.key.as_str()).collect();
        let keys = track.seen.iter().filter_map(|seen| seen.state.as_ref()).flat_map(|node| &node.taints);
        let foreign = |key: &&str| !OWN.iter().any(|own| key.starts_with(own)) && !startup.contains(key);
        let keys: BTreeSet<&str> = keys.map(|taint| taint.key.as_str()).filter(foreign).collect();
        for key in keys {
            for spell in track.spells(|node| node.has_taint(key)) {
                let wrote = |write: &&query::NodeWrite| {
                    write.node == *name && write.status < 300 && is_of_taints(history, write)
                };
                let raced = |write: &query::NodeWrite| {
                    let ended = history.events[write.event].at;
                    let conflicts = write.status == CONFLICT;
                    let lasts = write.began <= spell.from && spell.from <= ended && write.node == *name;
                    lasts && (conflicts || (write.status < 300 && rewrites(track, write.began, ended)))
                };
                if writes.iter().any(raced) {
                    tally.exercised();
                }
                let (Some(to), Some(ended)) = (spell.to, spell.ended) else { continue };
                let there = track.at(to).is_some_and(|node| !node.has_taint(key));
                let culprit = writes
                    .iter()
                    .filter(wrote)
                    .find(|write| write.began <= to + TIE && to <= history.events[write.event].at + AFTER);
                let by_hand = has_begun(history, to - AFTER, to);
                if let Some(write) = culprit.filter(|_| there && !by_hand) {
                    tally.violated(
                        format!("{name} lost the taint {key} to a write of the subject"),
                        [ended, write.event],
                    );
                }
            }
        }
    }
    tally.verdict("nobody else tainted a node of a claim")
}
