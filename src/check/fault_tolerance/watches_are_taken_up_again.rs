//! FT-11. As SU-01, for pods that begin to wait after the door has ended, expired or silenced a watch of the subject and has
//! stopped doing so. The subject of the promise is the single pod. Each wait is judged once, by its first window: SU-01 judges
//! on, and has the same excuses. Any broken watch will do, as who lists again lists all.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the watch of pods is ended with 410
//! 180 s  pod web-1 is unschedulable
//! 235 s  nothing has been ordered
//! ```
//!
//! It does not catch a watch that is still silent: until it ends, the subject cannot know.

use crate::check::reaction::reactions;
use crate::check::scene::{is_watch, timed};
use crate::check::{Citation, EVERYBODY, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::query::Spell;
use crate::history::{History, What};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-11"),
    promise: "After watches were dropped or expired the subject lists again and reacts as before",
    cite: &[Citation {
        where_: "Kubernetes API concepts, efficient detection of changes (410 Gone)",
        url: "https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes",
    }],
    level: Level::Should,
    kind: Kind::FaultTolerance,
    providers: EVERYBODY,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime], |scene, [reaction]| {
        let broken = history.events.iter().find_map(|event| match &event.what {
            What::Call(call) if is_watch(call) && call.fate.is_some() => Some(event.at),
            _ => None,
        });
        let after = |spell: &Spell| broken.is_some_and(|broken| broken < spell.from);
        reactions(scene, reaction, |_, spell| after(spell))
            .verdict("no pod waited after a watch had been broken")
    })
}
