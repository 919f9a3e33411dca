//! SD-10. A node that was ready once, is not ready, and has nothing on it goes once that has lasted for the
//! unready time, which begins when it is as old as the startup time: until then it is taken for one that still starts. While it is unready it does not go before it has been unneeded for so long; if such
//! removals are switched off it stays.
//!
//! The subject is the single node, judged again as in SD-01, with the same excuses. Two loops before the decision count, so
//! latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  the last pod leaves small-a; it becomes unready
//! 1800 s  nothing has been given back
//! ```
//!
//! It does not catch unready nodes with pods on them.

use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::{Scene, TIE, timed};
use crate::check::vacancy::{Vacancy, goes, vacancies};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::{SubjectOption, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-10"),
    promise: "A node that is unready and unneeded is removed after the documented time, and not earlier; if that is switched off, never",
    cite: &[flag!("--scale-down-unready-time"), flag!("--scale-down-unready-enabled")],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::UnreadyTime], |scene, [unready]| {
        let mut tally = Tally::default();
        for vacancy in vacancies(scene, false) {
            let was_ready = scene.ready(vacancy.server).is_some_and(|ready| ready < vacancy.spell.from);
            if !was_ready {
                continue;
            }
            if scene.is_off(SubjectOption::UnreadyEnabled) {
                stays(scene, &mut tally, &vacancy, unready);
            } else {
                goes(scene, &mut tally, &vacancy, old_enough(scene, &vacancy), unready);
                early(scene, &mut tally, &vacancy, unready);
            }
        }
        tally.verdict("no node with nothing on it was unready for long enough")
    })
}

/// When an unready node counts as unready, and not as one that is still starting.
fn old_enough(scene: &Scene<'_>, vacancy: &Vacancy<'_>) -> Time {
    let startup = scene.timer(Timer::StartupTime).unwrap_or_default();
    let came = scene.nodes.get(vacancy.node).and_then(|track| track.first()).map(|seen| seen.at);
    came.map_or(vacancy.spell.from, |came| vacancy.spell.from.max(came + startup))
}

fn stays(scene: &Scene<'_>, tally: &mut Tally, vacancy: &Vacancy<'_>, unready: Duration) {
    let until = vacancy.spell.from + unready + scene.slack();
    if vacancy.spell.spans(vacancy.spell.from, until) && scene.watched(vacancy.spell.from, until) {
        tally.exercised();
    }
    for back in scene.give_backs.iter().filter(|back| back.taken() && back.server == vacancy.server) {
        if vacancy.spell.spans(scene.decided(back) - scene.slack(), scene.decided(back) - TIE) {
            let says = format!(
                "the server of {} was given back while it was unready, which was switched off",
                vacancy.node
            );
            tally.violated(says, [vacancy.spell.began, back.event]);
        }
    }
}

fn early(scene: &Scene<'_>, tally: &mut Tally, vacancy: &Vacancy<'_>, unready: Duration) {
    let vacant = scene.vacant(vacancy.node).into_iter().find(|spell| spell.covers(vacancy.spell.from));
    let Some(since) = vacant.map(|spell| spell.from) else { return };
    for back in scene.give_backs.iter().filter(|back| back.taken() && back.server == vacancy.server) {
        let decided = scene.decided(back);
        let unready_then = vacancy.spell.spans(decided - scene.slack(), decided - TIE);
        if unready_then && back.began + TIE < since + unready {
            let says =
                format!("the server of {} was given back too early for a node that is unready", vacancy.node);
            tally.violated(says, [vacancy.spell.began, back.event]);
        }
    }
}
