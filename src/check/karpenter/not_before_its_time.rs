//! KD-03. A node that was chosen because it is empty, or not used enough, is not told to go before
//! `consolidateAfter` has passed since a pod last came to it or began to leave it; ten seconds less, for events of pods are
//! taken together.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  a pod begins to leave the node of claim a; consolidateAfter is 300 s
//! 100 s  DELETE /apis/karpenter.sh/v1/nodeclaims/a
//! ```
//!
//! Its subject is the node; each choice is judged by what had happened on this node until it was made. Of what happened three
//! seconds before it, or less, nobody need know, and pods that come or go after it do not matter. Eleven seconds are granted,
//! so latency is none.
//!
//! It does not catch nodes that drifted, which need not wait.

use std::time::Duration;

use super::claims::{Claims, LATE};
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Version;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-03"),
    promise: "No node is consolidated before consolidateAfter has passed since its last pod came or went",
    cite: &[
        Citation {
            where_: "Karpenter, Disruption, Consolidation",
            url: "https://karpenter.sh/docs/concepts/disruption/",
        },
        Citation {
            where_: "Karpenter, NodePools, spec.disruption.consolidateAfter",
            url: "https://karpenter.sh/docs/concepts/nodepools/",
        },
        Citation {
            where_: "kubernetes-sigs/karpenter #3147",
            url: "https://github.com/kubernetes-sigs/karpenter/issues/3147",
        },
    ],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: KARPENTER,
    versions: Versions::since(Version::new(1, 0, 0)),
    always: true,
    check,
};

/// Events of pods are noted every so often only.
const TOGETHER: Duration = Duration::from_secs(10);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for going in claims.chosen().filter(|going| !going.claim.drifted) {
        let Some(after) = claims.after(going.pool) else { continue };
        let usable = claims.all[&going.call.name].spells(|claim| claim.initialized);
        let first = usable.first().map(|spell| (spell.from, spell.began));
        let decided = claims.decided(&going);
        let Some((at, event)) = claims.last_pod_event(going.node, decided - LATE).max(first) else {
            continue;
        };
        tally.exercised();
        if decided + TIE + TOGETHER < at + after {
            let waited = (decided - at).as_secs();
            let says = format!("{} was chosen {waited} s after its last pod came or went", going.call.name);
            tally.violated(says, [event, going.call.event]);
        }
    }
    tally.verdict("no node was consolidated")
}
