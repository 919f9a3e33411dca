//! SU-02. At each order, the servers of its pool that were ordered before, exist and have no ready node yet
//! are counted, for as long as a machine may take to become one. If they already suffice for all pods that
//! wait, packed the biggest first, the order is one too many. A restart of the subject is no excuse. For Karpenter the pods of
//! nodes that go wait as well: it makes room for them in the same round. Whoever is misled by lists of the cloud is judged by
//! FT-20.
//!
//! The subject is each order and the pods that its pool may take, judged once. Excused is an order that fills a minimum, that
//! another replica could not know of, or that comes when the provision time of the one before is over. Who waited within two
//! loops before it counts as waiting, so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pod web-1 is unschedulable
//! 10 s  POST /servers for pool small: server 7
//! 20 s  POST /servers for pool small: server 8
//! ```
//!
//! It does not catch what was ordered in another pool, nor one node too many where pods could be packed
//! better than the biggest first.

use crate::check::causes::{candidates, fills_minimum, first_attempts, not_one_too_many};
use crate::check::scene::timed;
use crate::check::{EVERYBODY, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-02"),
    promise: "While ordered nodes are on their way, the same pods have no further ones ordered",
    cite: &[
        faq!("How does scale-up work?", "how-does-scale-up-work"),
        karpenter!("NodeClaims", "concepts/nodeclaims"),
    ],
    level: Level::Must,
    kind: Kind::ScaleUp,
    providers: EVERYBODY,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ProvisionTime], |scene, [provision]| {
        let mut tally = Tally::default();
        for order in first_attempts(scene).filter(|order| order.taken()) {
            let Some(pool) = order.pool.as_deref().and_then(|pool| scene.pool(pool)) else { continue };
            let meant = !candidates(scene, order, pool).is_empty() && !fills_minimum(scene, order, pool);
            if !meant || scene.misled(order.began, order.began) {
                continue;
            }
            tally.exercised();
            not_one_too_many(scene, &mut tally, order, pool, provision);
        }
        tally.verdict("nothing was ordered for pods that wait")
    })
}
