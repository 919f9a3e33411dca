//! KM-01. What was due before the subject was started again is done before: a node that had been empty for long
//! enough, and is told to go only in the first two minutes after a start, was waiting for the start.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the node of claim a is empty; consolidateAfter is 30 s
//! 600 s  the subject is killed, and starts again
//! 640 s  DELETE /apis/karpenter.sh/v1/nodeclaims/a
//! ```
//!
//! Its subject is the node, and its evidence the node's own spell of being empty that goes on when a process is started again;
//! the first start of a replica is none. Each restart is judged. What excuses KD-01 excuses here, and for as long: who was
//! dead, refused something or kept all the time was not overdue. Latency is a minute for the decision, so a second or two
//! changes nothing.
//!
//! It does not catch decisions other than the removal of empty nodes.

use std::collections::BTreeSet;
use std::time::Duration;

use mock_clock::Time;

use super::claims::Claims;
use super::empty_nodes_go::overdue;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KM-01"),
    promise: "A restart alone unlocks no pending decision",
    cite: &[
        Citation {
            where_: "kubernetes-sigs/karpenter #2033",
            url: "https://github.com/kubernetes-sigs/karpenter/issues/2033",
        },
        Citation {
            where_: "kubernetes-sigs/karpenter #3176",
            url: "https://github.com/kubernetes-sigs/karpenter/issues/3176",
        },
    ],
    level: Level::Should,
    kind: Kind::FaultTolerance,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: false,
    check,
};

/// So long after a start what it unlocked shows.
const SHOWS: Duration = Duration::from_secs(120);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for (start, event) in restarts(history) {
        for vacancy in claims.vacancies() {
            let (spell, node, ..) = &vacancy;
            let until = spell.to.unwrap_or(claims.scene.end).min(start);
            let due = overdue(&claims, &vacancy, until);
            let call = claims.going().find(|going| going.node == *node).map(|going| going.call);
            match (call, due) {
                (Some(call), None) if spell.from <= call.began && call.began <= until => tally.exercised(),
                (Some(call), Some(due))
                    if spell.covers(start) && start < call.began && call.began <= start + SHOWS =>
                {
                    let says = format!(
                        "{node} had been due since {} s, and went only after a restart",
                        (start - due).as_secs()
                    );
                    tally.violated(says, [spell.began, event, call.event]);
                }
                _ => {}
            }
        }
    }
    tally.verdict("the subject was not started again after a node had been due to go")
}

/// When, and in which event, a replica was started that had been started before.
fn restarts(history: &History) -> Vec<(Time, usize)> {
    let mut known = BTreeSet::new();
    let starts = query::starts(history).into_iter();
    starts.filter(|(_, _, replica)| !known.insert(*replica)).map(|(at, event, _)| (at, event)).collect()
}
