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
//! Its subject is the node with its claim, once for the label and once for the condition, when each is first said. It was ready
//! in the three seconds before, or it was not: a write that takes as long is no conviction. Nothing else excuses it, and what a
//! predecessor left is left out.
//!
//! It does not catch extended resources that are not there yet.

use mock_clock::Time;

use super::claims::{Claims, LATE};
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Node, Track};

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

const LABEL: &str = "karpenter.sh/initialized";

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for (name, track) in &claims.all {
        let Some((node, nodes)) = claims.node_of(name) else { continue };
        let told = said(track, |claim| claim.initialized);
        let labelled = said(nodes, |node| node.labels.get(LABEL).is_some_and(|value| value == "true"));
        for (at, event) in told.into_iter().chain(labelled) {
            let Some(claim) = track.at(at) else { continue };
            tally.exercised();
            let fine = |node: &Node| {
                node.ready && !claim.startup_taints.iter().any(|taint| node.has_taint(&taint.key))
            };
            if !nodes.ever(at - LATE, at + TIE, fine) {
                tally.violated(format!("{name} was initialised, and {node} was not ready for pods"), [event]);
            }
        }
    }
    tally.verdict("no claim was initialised")
}

/// When, and in which event, it was first said. What was like this when it was first seen, a predecessor has left.
fn said<T>(track: &Track<T>, is: impl Fn(&T) -> bool) -> Option<(Time, usize)> {
    let said = track.spells(is).into_iter().next()?;
    let first = track.first()?;
    (first.event != said.began && said.from > first.at + TIE).then_some((said.from, said.began))
}
