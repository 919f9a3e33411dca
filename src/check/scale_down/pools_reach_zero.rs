//! SD-13. As SD-01, for the last server of a pool that may have none.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  the last pod leaves small-a, the only node of pool small (minimum 0)
//! 1000 s  nothing has been given back
//! ```
//!
//! It does not catch a last node with pods that could move.

use crate::check::scene::timed;
use crate::check::vacancy::{goes, vacancies};
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
            let last = scene.live(&vacancy.pool.name, vacancy.spell.from).len() == 1;
            if vacancy.pool.min == 0 && last {
                goes(scene, &mut tally, &vacancy, vacancy.spell.from, unneeded);
            }
        }
        tally.verdict("no pool that may be empty had one node with nothing on it")
    })
}
