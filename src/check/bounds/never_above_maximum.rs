//! MM-01. When a server that the subject has ordered comes into being, the servers of its pool are counted:
//! those it has ordered itself, and those of others that were there long enough to be seen. What it has
//! given back does not count.
//!
//! The subject is the pool, at each order. Nothing excuses it; servers of others count when they have been there for the time of
//! the view and two loops, and a maximum that was lowered within two loops does not, so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pool small has 2 of 2 servers
//! 10 s  POST /servers for pool small
//! 10 s  server 9 of pool small is there: 3 of 2
//! ```
//!
//! It does not catch orders that the cloud refused. Whoever is misled by lists of the cloud is judged by FT-20.

use crate::check::maximum::above;
use crate::check::scene::timed;
use crate::check::{EVERYBODY, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

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
        let mut tally = Tally::default();
        for order in scene.orders.iter().filter(|order| !scene.misled(order.began, order.began)) {
            above(scene, &mut tally, order);
        }
        tally.verdict("nothing was ordered")
    })
}
