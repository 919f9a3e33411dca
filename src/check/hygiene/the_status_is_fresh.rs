//! HY-06. Between two writes of the status lies no more than the documented age and two loops. Excused is a subject that does
//! not run or is refused something; if it publishes nothing on, the same is asked again. The subject of the promise is the
//! subject itself, whichever process of it publishes. Time in an order is no excuse.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  PUT …/configmaps/cluster-autoscaler-status
//! 240 s  no further one
//! ```
//!
//! It does not catch what the status says.

use crate::check::scene::timed;
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::{History, query};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("HY-06"),
    promise: "The status that the subject publishes is never older than documented",
    cite: &[faq!(
        "CA doesn't work, but it used to work yesterday. Why?",
        "ca-doesnt-work-but-it-used-to-work-yesterday-why"
    )],
    level: Level::Must,
    kind: Kind::Hygiene,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::StatusAge], |scene, [age]| {
        let writes = query::status_writes(history);
        let mut tally = Tally::default();
        for (index, (at, event, _)) in writes.iter().enumerate() {
            let next = writes.get(index + 1).map(|(next, _, _)| *next);
            let mut from = *at;
            loop {
                let until = from + age + scene.slack();
                if next.is_some_and(|next| next <= until) {
                    if from == *at {
                        tally.exercised();
                    }
                    break;
                }
                if scene.calm(from, until) {
                    let says = format!("the status was not published for {} s", (until - *at).as_secs());
                    tally.violated(says, [*event]);
                    break;
                }
                if until > scene.end {
                    break;
                }
                from = until;
            }
        }
        tally.verdict("the status was not published twice")
    })
}
