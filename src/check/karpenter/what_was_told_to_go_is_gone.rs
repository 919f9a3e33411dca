//! KT-13. A claim that was told to go, by whomever, is gone within a minute and a half after the last pod that may keep it has left
//! its node and the last volume was detached; so is its node.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  claim a is told to go; nothing runs on its node
//!  90 s  claim a is still there
//! ```
//!
//! Its subject is the claim. It is judged again until it is gone: a subject that does not run, or what goes wrong with a call
//! about this claim, its node, its pods and its server, or about no one object, excuses until two minutes after it, and the
//! cloud for as long as it takes the server back. Pods that do not mind the taint keep nothing; those of daemons that do, do.
//! Latency is none of a minute and a half.
//!
//! It does not catch pods that never leave (KT-09).

use std::time::Duration;

use super::claims::Claims;
use crate::check::scene::Trouble;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KT-13"),
    promise: "A claim that was told to go is gone, with its node, once nothing keeps it",
    cite: &[
        Citation {
            where_: "Karpenter, Disruption, Termination Controller",
            url: "https://karpenter.sh/docs/concepts/disruption/",
        },
        Citation {
            where_: "kubernetes-sigs/karpenter #1578",
            url: "https://github.com/kubernetes-sigs/karpenter/issues/1578",
        },
    ],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: true,
    check,
};

/// How long that may take when nothing keeps it.
const GONE: Duration = Duration::from_secs(90);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for (name, track) in &claims.all {
        for spell in track.spells(|claim| claim.ending) {
            let long = GONE + claims.scene.slack();
            let free = claims.busy_until(name, spell.from, long);
            let concerns = |trouble: &Trouble| claims.concerns(name, trouble);
            let until = spell.to.unwrap_or(claims.scene.end);
            if let Some(since) = claims.scene.calm_from(free, long, until, concerns) {
                let says = format!(
                    "claim {name} was told to go, and was still there {} s later",
                    (since + long - spell.from).as_secs()
                );
                tally.violated(says, [spell.began]);
            } else if spell.to.is_some() {
                tally.exercised();
            }
        }
    }
    tally.verdict("no claim was told to go")
}
