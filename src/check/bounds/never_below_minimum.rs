//! MM-02. When the subject gives back a server that had a node, the servers of its pool before that are
//! counted. Losses by others that it cannot have seen yet count as still there.
//!
//! The subject is the pool, at each removal. Excused is what the view and two loops may not have shown; that is what latency can
//! do.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pool small has 1 server, minimum 1, with a node
//! 10 s  DELETE /servers/7
//! ```
//!
//! It does not catch servers that never became nodes: what is cleared away is no removal.

use mock_clock::Time;

use crate::check::scene::timed;
use crate::check::vacancy::vacancies;
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("MM-02"),
    promise: "No give-back of the subject brings a pool below its minimum",
    cite: &[
        faq!(
            "My cluster is below minimum / above maximum number of nodes, but CA did not fix that! Why?",
            "my-cluster-is-below-minimum--above-maximum-number-of-nodes-but-ca-did-not-fix-that-why"
        ),
        faq!(
            "I have a couple of nodes with low utilization, but they are not scaled down. Why?",
            "i-have-a-couple-of-nodes-with-low-utilization-but-they-are-not-scaled-down-why"
        ),
    ],
    level: Level::Must,
    kind: Kind::MinMax,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::CloudCache], |scene, [cache]| {
        let mut tally = Tally::default();
        for (back, _, _) in scene.removals() {
            let Some(pool) = scene.pool_of(back.server).and_then(|pool| scene.pool(pool)) else { continue };
            let unseen = |id: &u64| {
                let view = back.began - cache - scene.slack();
                let lives = scene.servers.get(id).is_some_and(|track| track.ever(view, back.began, |_| true));
                lives && *id != back.server && !scene.given_back(*id, back.began)
            };
            let others = scene
                .servers
                .keys()
                .filter(|id| scene.pool_of(**id) == Some(&pool.name) && unseen(id))
                .count();
            tally.exercised();
            if others < pool.min as usize {
                let says = format!(
                    "server {} was given back, which left {others} of at least {} in {}",
                    back.server, pool.min, pool.name
                );
                tally.violated(says, [back.event]);
            }
        }
        for pool in scene.pools() {
            let unneeded = scene.timer(Timer::UnneededTime).unwrap_or_default() + scene.slack();
            let vacant = vacancies(scene, true).into_iter().filter(|vacancy| vacancy.pool.name == pool.name);
            let kept = |at: Time| {
                !scene.live(&pool.name, at).is_empty()
                    && scene.live(&pool.name, at).len() <= pool.min as usize
            };
            for vacancy in vacant {
                let until = vacancy.spell.from + unneeded;
                if vacancy.spell.spans(vacancy.spell.from, until)
                    && scene.watched(vacancy.spell.from, until)
                    && kept(until)
                {
                    tally.exercised();
                }
            }
        }
        tally.verdict("nothing was given back, and no pool was empty at its minimum")
    })
}
