//! SD-14. While machines of a machine deployment are of more than one template, none of them is given back: the roll-out removes
//! the old ones itself, and would make anew what is taken from it.
//!
//! The subject is the pool, for all of its roll-out. Excused is what comes within two loops after its beginning; that is what
//! latency can do.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  small has two machine sets with machines in them
//!  60 s  machine small-a, which has had nothing on it for ten minutes, is marked
//!  60 s  PATCH machinedeployments/small/scale with one less
//! ```
//!
//! It does not catch nodes that are only tainted or drained, nor machines that never had a node: they are cleared away.

use crate::check::scene::{Scene, TIE, timed};
use crate::check::vacancy::vacancies;
use crate::check::{CLUSTERAPI, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{GiveBack, Spell};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-14"),
    promise: "Nodes of a machine deployment that is being rolled out are not scaled down",
    cite: &[thread!("8494")],
    level: Level::Should,
    kind: Kind::Safety,
    providers: CLUSTERAPI,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::UnneededTime], |scene, [unneeded]| {
        let mut tally = Tally::default();
        for pool in scene.pools() {
            for spell in scene.roll_outs(&pool.name) {
                judge(scene, &mut tally, &pool.name, &spell);
                let tested = vacancies(scene, true).into_iter().any(|vacancy| {
                    let Some(awake) = scene.awake_from(vacancy.spell.from, scene.end) else { return false };
                    let ripe = awake + unneeded + scene.slack();
                    vacancy.pool.name == pool.name
                        && spell.touches(ripe, ripe)
                        && spell.to.is_none_or(|to| ripe < to)
                        && vacancy.spell.spans(awake, ripe)
                        && scene.watched(awake, ripe)
                });
                if tested {
                    tally.exercised();
                }
            }
        }
        tally.verdict("no node was unneeded for long enough while its pool was being rolled out")
    })
}

fn judge(scene: &Scene<'_>, tally: &mut Tally, pool: &str, spell: &Spell) {
    // What never had a node may be cleared away.
    let had_a_node = |back: &&GiveBack| scene.registered(back.server).is_some_and(|at| at < back.began);
    let ours = scene.give_backs.iter().filter(|back| scene.pool_of(back.server) == Some(pool));
    for back in ours.filter(had_a_node) {
        // Who decided shortly before could not know.
        let knew = back.began > spell.from + scene.slack();
        if knew && spell.to.is_none_or(|to| back.began + TIE < to) {
            tally.exercised();
            let says =
                format!("machine {} of {pool} was given back in the middle of a roll-out", back.server);
            tally.violated(says, [spell.began, back.event]);
        }
    }
}
