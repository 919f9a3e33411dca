//! KL-05. When a node is first said to be initialised, by its label or by its claim, it is ready and has none of the
//! startup taints of its claim.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  the node of claim a is not ready
//! 1 s  claim a says Initialized
//! ```
//!
//! It does not catch extended resources that are not there yet.

use super::claims::Claims;
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Node;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KL-05"),
    promise: "A node is initialised only when it is ready and its startup taints are gone",
    cite: &[
        Citation {
            where_: "Karpenter, Troubleshooting, Node not initialized",
            url: "https://karpenter.sh/docs/troubleshooting/",
        },
        Citation {
            where_: "Karpenter, NodeClaims, Node initialization",
            url: "https://karpenter.sh/docs/concepts/nodeclaims/",
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
    let mut tally = Tally::default();
    for (name, track) in &claims.all {
        let Some(said) = track.spells(|claim| claim.initialized).into_iter().next() else { continue };
        let Some((node, nodes)) = claims.node_of(name) else { continue };
        // One that was like this when it was first seen, a predecessor has left.
        if track.first().is_some_and(|seen| seen.event == said.began || said.from <= seen.at + TIE) {
            continue;
        }
        let Some(claim) = track.at(said.from) else { continue };
        tally.exercised();
        let fine =
            |node: &Node| node.ready && !claim.startup_taints.iter().any(|taint| node.has_taint(&taint.key));
        if !nodes.ever(said.from - TIE, said.from + TIE, fine) {
            tally
                .violated(format!("{name} was initialised, and {node} was not ready for pods"), [said.began]);
        }
    }
    tally.verdict("no claim was initialised")
}
