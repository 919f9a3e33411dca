//! KL-02. Within fifteen seconds of a node with the provider id of a claim, the node has the labels and taints of
//! the claim, its finalizer and its owner, says that it is registered, and no longer has the taint of those that are not.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  claim a is launched, and its node comes
//! 20 s  the node still has the taint karpenter.sh/unregistered
//! ```
//!
//! Its subject is the claim with the node that has its provider id: a node that nobody registers is not named by its claim. A
//! call that went wrong about either, or about no one object, excuses until two minutes after it, then fifteen seconds are
//! granted again as long as the claim is there. Latency is none of fifteen seconds.
//!
//! It does not catch what others change afterwards.

use std::time::Duration;

use super::claims::Claims;
use crate::check::scene::Trouble;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Node, TERMINATION};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KL-02"),
    promise: "A node is registered when it comes: labels, taints, owner and finalizer are those of its claim",
    cite: &[Citation {
        where_: "Karpenter, NodeClaims, Node registration",
        url: "https://karpenter.sh/docs/concepts/nodeclaims/",
    }],
    level: Level::Must,
    kind: Kind::ScaleUp,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: true,
    check,
};

/// How long it may take: a look, and the calls.
const SOON: Duration = Duration::from_secs(15);
/// A node whose taints are not to be those of its claim.
const UNSYNCED: &str = "karpenter.sh/do-not-sync-taints";
const UNREGISTERED: &str = "karpenter.sh/unregistered";

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for (name, track) in &claims.all {
        let Some((node, nodes)) = claims.node_of(name) else { continue };
        let Some(launched) = track.spells(|claim| claim.launched && !claim.ending).into_iter().next() else {
            continue;
        };
        // Until it has a provider id, nobody knows whose it is.
        let Some(came) = nodes.spells(|node| node.provider_id.is_some()).into_iter().next() else { continue };
        let from = came.from.max(launched.from);
        let until = launched.to.unwrap_or(claims.scene.end);
        // One that was there before the history begins was registered by others.
        if launched.from <= claims.scene.history.header.began + SOON {
            continue;
        }
        let concerns = |trouble: &Trouble| claims.concerns(name, trouble);
        let Some(at) = claims.scene.calm_from(from, SOON, until, concerns) else { continue };
        let due = at + SOON;
        tally.exercised();
        let Some(claim) = track.at(due) else { continue };
        let is_so = |node: &Node| {
            !node.has_taint(UNREGISTERED)
                && node.finalizers.iter().any(|finalizer| finalizer == TERMINATION)
                && node.owners.iter().any(|(kind, owner)| kind == "NodeClaim" && owner == name)
                && node.labels.get("karpenter.sh/registered").is_some_and(|value| value == "true")
                && claim.labels.iter().all(|(key, value)| node.labels.get(key) == Some(value))
                && (node.labels.contains_key(UNSYNCED)
                    || claim.taints.iter().all(|taint| node.taints.contains(taint)))
        };
        if !nodes.ever(from, due, is_so) {
            tally.violated(format!("{node} was not registered as {name} says"), [came.began, launched.began]);
        }
    }
    tally.verdict("no node of a claim came while the subject ran")
}
