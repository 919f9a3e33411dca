//! FT-18. A node that registers, is never ready, and has nothing on it goes once startup time and unready time have passed. The
//! subject of the promise is the single node; each time of emptiness is judged once. Excused is a subject that did not run, was
//! refused something or ordered meanwhile, a pool at its minimum, paused or rolled out, a node that is annotated to stay, and a
//! cluster of which most is unready.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  small-a registers, and is not ready
//! 2400 s  nothing has been given back
//! ```
//!
//! It does not catch such a node in a pool that is at its minimum.

use crate::check::scene::timed;
use crate::check::vacancy::{goes, vacancies};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::{SubjectOption, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-18"),
    promise: "A node that never becomes ready is unready after its startup time, and removed after the unready time",
    cite: &[flag!("--max-node-startup-time"), flag!("--scale-down-unready-time")],
    level: Level::Must,
    kind: Kind::Backoff,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::StartupTime, Timer::UnreadyTime], |scene, [startup, unready]| {
        let mut tally = Tally::default();
        if scene.is_off(SubjectOption::UnreadyEnabled) {
            return tally.verdict("removals of unready nodes were switched off");
        }
        for vacancy in vacancies(scene, false) {
            let due = vacancy.spell.from + startup + unready;
            if scene.ready(vacancy.server).is_none_or(|at| at > due)
                && scene.registered(vacancy.server).is_some()
            {
                goes(scene, &mut tally, &vacancy, vacancy.spell.from, startup + unready);
            }
        }
        tally.verdict("every node became ready")
    })
}
