//! KT-17. A lease of a node that nobody owns is deleted within half a minute of the subject seeing it.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  a lease without owner is in kube-node-lease
//! 40 s  it still is
//! ```
//!
//! Its subject is the lease. It is judged again as long as it is nobody's; a subject that does not run, or what goes wrong with
//! a call about this lease or no one object, excuses until two minutes after it. A lease that gets an owner was not collected.
//! Latency is none of half a minute.
//!
//! It does not catch leases whose owner is gone: the cluster collects those.

use std::time::Duration;

use super::claims::Claims;
use crate::check::scene::Trouble;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query;
use crate::terms::Version;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KT-17"),
    promise: "Leases in kube-node-lease that nobody owns are collected",
    cite: &[
        Citation {
            where_: "kubernetes-sigs/karpenter #1373",
            url: "https://github.com/kubernetes-sigs/karpenter/issues/1373",
        },
        Citation {
            where_: "Karpenter, Troubleshooting, Node leases",
            url: "https://karpenter.sh/docs/troubleshooting/",
        },
    ],
    level: Level::Should,
    kind: Kind::Hygiene,
    providers: KARPENTER,
    versions: Versions::until(Version::new(1, 1, 0)),
    always: true,
    check,
};

/// It is event-driven: only the calls take time.
const SOON: Duration = Duration::from_secs(30);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for (name, track) in query::node_leases(history) {
        for spell in track.spells(|owned| !owned) {
            let until = spell.to.unwrap_or(claims.scene.end);
            let concerns = |trouble: &Trouble| {
                let of = trouble.object.as_ref();
                of.is_none_or(|(kind, of)| kind == "leases" && name.ends_with(&format!("/{of}")))
            };
            // Who has got an owner was not collected.
            let collected = spell.to.filter(|to| track.at(*to).is_none());
            if claims.scene.calm_from(spell.from, SOON, until, concerns).is_some() {
                tally.violated(format!("the lease {name} is nobody's, and was left"), [spell.began]);
            } else if collected.is_some_and(|to| claims.scene.watched(to, to)) {
                tally.exercised();
            }
        }
    }
    tally.verdict("no lease of a node was nobody's")
}
