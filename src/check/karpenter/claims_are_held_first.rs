//! KL-01. A claim whose machine was bought carries the finalizer by which Karpenter holds it: otherwise it could vanish
//! and leave the machine behind.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  claim a says Launched, and has no finalizer
//! ```
//!
//! Its subject is the claim, once, when it is first said to be launched: who is held then was held in time or not. Nothing
//! excuses it. What is read is one state of one object, so latency has no part in it.
//!
//! It does not catch a finalizer that comes after the order and before it is told.

use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KL-01"),
    promise: "A claim is held by its finalizer before its machine is bought",
    cite: &[Citation {
        where_: "Karpenter, Disruption, Control Flow",
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
    let mut tally = Tally::default();
    for (name, track) in query::claims(history) {
        let Some(launched) = track.spells(|claim| claim.launched).into_iter().next() else { continue };
        tally.exercised();
        let held =
            track.seen.iter().find(|seen| seen.event == launched.began).and_then(|seen| seen.state.as_ref());
        if held.is_some_and(|claim| !claim.held && !claim.ending) {
            tally.violated(format!("{name} was launched, and nothing held it"), [launched.began]);
        }
    }
    tally.verdict("no claim was launched")
}
