//! SD-08. No removal is decided of a node that had the annotation for two loops and a few calls before.
//!
//! The subject is the node, at each removal. Excused is an annotation that is younger than two loops and a few calls, so latency
//! alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  small-a is annotated with scale-down-disabled=true, and has nothing on it
//! 650 s  DELETE of the server of small-a
//! ```
//!
//! It does not catch an annotation that comes while the removal is being decided.

use crate::check::scene::{TIE, timed};
use crate::check::vacancy::vacancies;
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Node;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-08"),
    promise: "A node annotated with scale-down-disabled is not removed",
    cite: &[faq!(
        "How can I prevent Cluster Autoscaler from scaling down a particular node?",
        "how-can-i-prevent-cluster-autoscaler-from-scaling-down-a-particular-node"
    )],
    level: Level::Must,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::UnneededTime], |scene, [unneeded]| {
        let mut tally = Tally::default();
        let protected = |node: &Node| {
            node.annotations
                .get("cluster-autoscaler.kubernetes.io/scale-down-disabled")
                .is_some_and(|value| value == "true")
        };
        for (back, name, track) in scene.removals() {
            let decided = scene.decided(back) - TIE;
            let spells = track.spells(protected);
            if let Some(spell) = spells.iter().find(|spell| spell.spans(decided - scene.slack(), decided)) {
                tally.violated(
                    format!("the server of {name} was given back though it is protected"),
                    [spell.began, back.event],
                );
            }
        }
        for vacancy in vacancies(scene, true) {
            let Some(from) = scene.awake_from(vacancy.spell.from, scene.end) else { continue };
            let until = from + unneeded + scene.slack();
            let lasts = vacancy.spell.spans(from, until) && scene.watched(from, until);
            if lasts && scene.nodes[vacancy.node].always(until - scene.slack(), until, protected) {
                tally.exercised();
            }
        }
        tally.verdict("no protected node had nothing on it for long enough")
    })
}
