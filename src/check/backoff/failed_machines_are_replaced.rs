//! BO-08. A machine of which the infrastructure says that it has failed, and that never had a node, is given back without the
//! provision time being waited for: within the two minutes for which instances of a group are believed, and two loops. A pool
//! at its minimum keeps it.
//!
//! The subject is the single machine, judged once, when it first says that it failed. Excused is a minimum, a pause or roll-out
//! of its pool, any call that went wrong and any order in progress meanwhile. Four loops are granted, so latency alone convicts
//! nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  PATCH machinedeployments/small/scale: machine small-a
//!  20 s  small-a says failureMessage, and has no node
//! 300 s  it has not been given back
//! ```
//!
//! It does not catch machines whose failure is told elsewhere than in `status.failureMessage`.

use std::time::Duration;

use crate::check::scene::Scene;
use crate::check::{CLUSTERAPI, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("BO-08"),
    promise: "A machine that has failed before it had a node is given back at once, not after the provision time",
    cite: &[thread!("7989")],
    level: Level::Should,
    kind: Kind::Backoff,
    providers: CLUSTERAPI,
    versions: Versions::ALL,
    always: true,
    check,
};

/// How long it may believe what it saw of the instances of a group; no flag shortens that.
const BELIEVED: Duration = Duration::from_secs(120);

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let mut tally = Tally::default();
    for (id, track) in &scene.servers {
        let Some(spell) = track.spells(|machine| machine.status == "failed").into_iter().next() else {
            continue;
        };
        let Some(pool) = scene.pool_of(*id).and_then(|pool| scene.pool(pool)) else { continue };
        let until = spell.from + BELIEVED + scene.slack() * 2;
        let back = scene.give_backs.iter().find(|back| back.server == *id && back.taken());
        let spare = |at| scene.live(&pool.name, at).len() > pool.min as usize;
        if back.is_some_and(|back| back.began <= until) {
            tally.exercised();
        } else if spell.spans(spell.from, until)
            && scene.nodes_on(*id).next().is_none()
            && spare(spell.from)
            && spare(until)
            && scene.free(spell.from + scene.slack(), until)
            && !scene.hands_off(&pool.name, spell.from, until)
        {
            tally.exercised();
            let lasted = (until - spell.from).as_secs();
            let says =
                format!("machine {id} of {} had failed for {lasted} s, and was not given back", pool.name);
            tally.violated(says, [spell.began]);
        }
    }
    tally.verdict("no machine failed before it had a node")
}
