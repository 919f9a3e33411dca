//! SD-15. The size of a machine deployment that is paused is not written: nobody would make anything of it, and whoever paused it
//! wanted it to stay as it is.
//!
//! The subject is the pool, for all of its pause. Only what is written within two loops after its beginning is excused; that is
//! what latency can do. Pods that the pool could take, and its own nodes, put it to the test.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  machine deployment small is annotated as paused; pod web-1 waits
//!  40 s  PATCH machinedeployments/small/scale
//! ```
//!
//! It does not catch nodes that are only tainted or drained.

use std::time::Duration;

use crate::check::fit::fit;
use crate::check::scene::{Scene, timed};
use crate::check::vacancy::{Vacancy, vacancies};
use crate::check::{CLUSTERAPI, Citation, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Pod, Spell, Track};
use crate::terms::{Pool, Timer, Version};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-15"),
    promise: "A paused machine deployment is left alone: nothing is bought in it, and nothing given back",
    cite: &[Citation {
        where_: "kubernetes/autoscaler, commit 39d573259a",
        url: "https://github.com/kubernetes/autoscaler/commit/39d573259a",
    }],
    level: Level::Should,
    kind: Kind::Safety,
    providers: CLUSTERAPI,
    versions: Versions::since(Version::new(1, 36, 0)),
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime, Timer::UnneededTime], |scene, [reaction, unneeded]| {
        let mut tally = Tally::default();
        for pool in scene.pools() {
            for spell in scene.pauses(&pool.name) {
                // Who decided shortly before could not know.
                let (from, to) = (spell.from + scene.slack(), spell.to.unwrap_or(scene.end));
                let ripe = |vacancy: &Vacancy<'_>| {
                    let begins = vacancy.spell.from.max(spell.from);
                    let until = begins + unneeded + scene.slack();
                    vacancy.pool.name == pool.name
                        && vacancy.spell.spans(begins, until)
                        && spell.spans(begins, until)
                        && scene.watched(begins, until)
                };
                let writes = scene.scalings.iter().filter(|write| write.pool == pool.name);
                for write in
                    writes.filter(|write| write.began > from && write.began < to && write.to.is_some())
                {
                    tally.exercised();
                    let says = format!("the size of {} was written while it was paused", pool.name);
                    tally.violated(says, [spell.began, write.event]);
                }
                if tempted(scene, pool, &spell, reaction) || vacancies(scene, true).iter().any(ripe) {
                    tally.exercised();
                }
            }
        }
        tally.verdict(
            "nothing waited for a machine deployment that was paused, and none of its nodes was unneeded",
        )
    })
}

/// Whether a pod that a pool could take waited in its pause for as long as it takes to react.
fn tempted(scene: &Scene<'_>, pool: &Pool, pause: &Spell, reaction: Duration) -> bool {
    let waits = |track: &Track<Pod>, spell: &Spell| {
        let from = spell.from.max(pause.from) + scene.slack();
        let until = from + reaction;
        let fits = track.at(spell.from).is_some_and(|pod| !fit(scene, pod, pool).impossible());
        fits && pause.spans(pause.from, until) && spell.spans(spell.from, until) && scene.watched(from, until)
    };
    scene.pods.values().any(|track| track.spells(Pod::waits).iter().any(|spell| waits(track, spell)))
}
