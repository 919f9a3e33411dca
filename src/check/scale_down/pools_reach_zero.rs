//! SD-13. As SD-01, for the last server of a pool that may have none.
//!
//! The subject is the node, from the moment at which it is the last. It is judged again as long as it stays so; what excuses it,
//! and what is granted, is as in SD-01.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  the last pod leaves small-a, the only node of pool small (minimum 0)
//! 1000 s  nothing has been given back
//! ```
//!
//! It does not catch a last node with pods that could move.

use mock_clock::Time;

use crate::check::scene::{Scene, timed};
use crate::check::vacancy::{Vacancy, goes, vacancies};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-13"),
    promise: "A pool with a minimum of zero gives its last node back once nothing needs it",
    cite: &[faq!("How can I scale a node group to 0?", "how-can-i-scale-a-node-group-to-0")],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::UnneededTime], |scene, [unneeded]| {
        let mut tally = Tally::default();
        for vacancy in vacancies(scene, true) {
            if vacancy.pool.min == 0
                && let Some(since) = alone_since(scene, &vacancy)
            {
                let to = vacancy.spell.to.unwrap_or(scene.end);
                let (_, unneeded) = scene.unneeded_times(Some(&vacancy.pool.name), unneeded, since, to);
                goes(scene, &mut tally, &vacancy, since, unneeded);
            }
        }
        tally.verdict("no pool that may be empty had one node with nothing on it")
    })
}

/// When, while it had nothing on it, a node came to be the last of its pool.
fn alone_since(scene: &Scene<'_>, vacancy: &Vacancy<'_>) -> Option<Time> {
    let ours = scene.servers.iter().filter(|(id, _)| scene.pool_of(**id) == Some(&vacancy.pool.name));
    let gone = ours.flat_map(|(_, track)| track.seen.iter().map(|seen| seen.at));
    let given = scene.give_backs.iter().filter(|back| back.taken()).map(|back| back.began);
    let moments = gone.chain(given).filter(|at| vacancy.spell.covers(*at)).chain([vacancy.spell.from]);
    moments.filter(|at| scene.live(&vacancy.pool.name, *at) == [vacancy.server]).min()
}
