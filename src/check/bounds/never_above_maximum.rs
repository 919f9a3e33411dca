//! MM-01. When a server that the subject has ordered comes into being, the servers of its pool are counted:
//! those it has ordered itself, and those of others that were there long enough to be seen. What it has
//! given back does not count.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pool small has 2 of 2 servers
//! 10 s  POST /servers for pool small
//! 10 s  server 9 of pool small is there: 3 of 2
//! ```
//!
//! It does not catch orders that the cloud refused.

use crate::check::scene::timed;
use crate::check::{EVERYBODY, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("MM-01"),
    promise: "No order of the subject brings a pool above its maximum, whatever happens",
    cite: &[
        faq!(
            "My cluster is below minimum / above maximum number of nodes, but CA did not fix that! Why?",
            "my-cluster-is-below-minimum--above-maximum-number-of-nodes-but-ca-did-not-fix-that-why"
        ),
        flag!("--nodes"),
        karpenter!("NodePools, spec.limits", "concepts/nodepools"),
    ],
    level: Level::Must,
    kind: Kind::MinMax,
    providers: EVERYBODY,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [], |scene, []| {
        // Who keeps no list of machines for a while sees them at once.
        let cache = scene.timer(Timer::CloudCache).unwrap_or_default();
        let mut tally = Tally::default();
        for order in &scene.orders {
            let Some(pool) = order.pool.as_deref().and_then(|pool| scene.pool(pool)) else { continue };
            let Some((id, first)) =
                scene.server_of(order).and_then(|id| Some((id, scene.servers.get(&id)?.first()?)))
            else {
                continue;
            };
            tally.exercised();
            let seen = |other: &u64| {
                let added = scene
                    .servers
                    .get(other)
                    .and_then(|track| track.first())
                    .map(|seen| (seen.at, seen.event));
                let before = added.is_some_and(|(_, event)| event <= first.event);
                let long_ago = added.is_some_and(|(at, _)| at + cache + scene.slack() < order.began);
                before && (long_ago || scene.order_of(*other).is_some())
            };
            let there: Vec<u64> = scene.live(&pool.name, first.at).into_iter().filter(seen).collect();
            // Who decided shortly before the maximum became another one may have meant the one before.
            let max = scene.max(pool, order.began).max(scene.max(pool, order.began - scene.slack()));
            if there.len() > max as usize {
                let says = format!("server {id} made {} of at most {} in {}", there.len(), max, pool.name);
                tally.violated(says, [order.event, first.event]);
            }
        }
        tally.verdict("nothing was ordered")
    })
}
