//! MM-05. While a pool has more servers than its maximum at that time, none of them is given back whose node is used more than
//! the threshold. That none is ordered is MM-01.
//!
//! The subject is the node, and its pool, at each removal. Nothing excuses it but that it was used less within two loops before
//! the decision; that is what latency can do.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  pool small has 3 servers, maximum 2, each node used to 90 %
//! 600 s  DELETE /servers/7
//! ```
//!
//! It does not catch removals of nodes that are used little: they may go.

use mock_clock::Time;

use crate::check::scene::{TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::{Pool, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("MM-05"),
    promise: "A pool above its maximum is not shrunk while its nodes are needed",
    cite: &[faq!(
        "My cluster is below minimum / above maximum number of nodes, but CA did not fix that! Why?",
        "my-cluster-is-below-minimum--above-maximum-number-of-nodes-but-ca-did-not-fix-that-why"
    )],
    level: Level::Must,
    kind: Kind::MinMax,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::UnneededTime], |scene, [unneeded]| {
        let mut tally = Tally::default();
        let above = |pool: &Pool, at: Time| scene.live(&pool.name, at).len() > scene.max(pool, at) as usize;
        for (back, name, _) in scene.removals() {
            let Some(pool) = scene.pool_of(back.server).and_then(|pool| scene.pool(pool)) else { continue };
            let decided = scene.decided(back) - TIE;
            let used = scene.well_used_throughout(name, decided - scene.slack(), decided);
            if above(pool, decided) && used {
                let says = format!(
                    "the server of {name} was given back though it was used, as {} was above its maximum",
                    pool.name
                );
                tally.violated(says, [back.event]);
            }
        }
        for pool in scene.pools() {
            for (name, track) in &scene.nodes {
                for spell in track.spells(|node| node.ready) {
                    let from = scene.awake_from(spell.from, scene.end).unwrap_or(scene.end) + scene.slack();
                    let until = from + unneeded + scene.slack();
                    let ours = scene.pool_of_node(name, from) == Some(&pool.name);
                    if ours
                        && spell.spans(from, until)
                        && scene.watched(from, until)
                        && above(pool, from)
                        && above(pool, until)
                        && scene.well_used_throughout(name, from, until)
                    {
                        tally.exercised();
                    }
                }
            }
        }
        tally.verdict("no pool was above its maximum with nodes that were needed")
    })
}
