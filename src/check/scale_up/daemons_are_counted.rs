//! SU-12. An order convicts if every pod that waits would fit an empty node of the pool, and none fits beside the daemons that are
//! sure to run there: daemon sets that had been there for two loops, choose all nodes and do not mind the pool's taints.
//!
//! The subject is each order and the pods that its pool may take, judged once: one that fits beside the daemons acquits. Excused
//! is an order that fills a minimum. Who waited within two loops before it counts as waiting, and younger daemon sets do not
//! count, so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  daemon set agent asks for 2 of the 4 processors of a node of pool small
//! 60 s  pod web-1, which asks for 2.4, is unschedulable
//! 70 s  POST /servers for pool small
//! ```
//!
//! It does not catch daemon sets that choose their nodes.

use crate::check::causes::{candidates, fills_minimum, first_attempts};
use crate::check::scene::{Scene, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Pod;
use crate::terms::{Pool, Room, Timer};

use mock_clock::Time;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-12"),
    promise: "A pod that would fit a node of a pool only without its daemons has none ordered there",
    cite: &[faq!("How does scale-up work?", "how-does-scale-up-work")],
    level: Level::Must,
    kind: Kind::ScaleUp,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime], |scene, [reaction]| {
        let mut tally = Tally::default();
        for order in first_attempts(scene) {
            let Some(pool) = order.pool.as_deref().and_then(|pool| scene.pool(pool)) else { continue };
            let waiting = candidates(scene, order, pool);
            let useless = !waiting.is_empty()
                && waiting.iter().all(|(pod, _)| crowded_out(scene, pod, pool, order.began))
                && !fills_minimum(scene, order, pool);
            if useless {
                let says = format!(
                    "{} was ordered in {} for pods that do not fit beside its daemons",
                    order.name, pool.name
                );
                tally.violated(says, waiting.iter().map(|(_, event)| *event).chain([order.event]));
            }
        }
        for track in scene.pods.values() {
            for spell in track.spells(Pod::waits) {
                let Some(pod) = track.at(spell.from) else { continue };
                let until = spell.from + reaction + scene.slack() * 2;
                let crowded = |pool: &Pool| crowded_out(scene, pod, pool, until);
                if scene.pools().iter().any(crowded)
                    && spell.spans(spell.from, until)
                    && scene.watched(spell.from, until)
                {
                    tally.exercised();
                }
            }
        }
        tally.verdict("no pod waited that fits a pool only without its daemons")
    })
}

/// Whether a pod would fit an empty node of a pool, and does not fit beside the daemons that are sure to run there.
fn crowded_out(scene: &Scene<'_>, pod: &Pod, pool: &Pool, at: Time) -> bool {
    let daemons = scene
        .daemons
        .values()
        .filter(|track| track.always(at - scene.slack(), at, |daemon| daemon.runs_under(&pool.taints)));
    let taken = daemons.filter_map(|track| track.at(at)).map(|daemon| daemon.asks).sum();
    let fits = |taken: Room| {
        pod.asks.cpu_milli + taken.cpu_milli <= pool.room.cpu_milli
            && pod.asks.memory_mib + taken.memory_mib <= pool.room.memory_mib
    };
    fits(Room::default()) && !fits(taken)
}
