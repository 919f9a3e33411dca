//! SU-10. Where no other expander is asked for, an order for one pod convicts if another pool, of nodes that
//! are smaller in processors and in memory, takes it, is not full, and has had no failure for as long as the
//! longest back-off.
//!
//! The subject is each order and the pods that its pool may take, judged once: only a pool that takes all of them is a rival. A
//! rival is excused while it is full, limited, paused, mostly unready or not sold, and for a back-off after a failure. No latency
//! is in it.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pod web-1 asks for half a processor and is unschedulable; pools big (16) and small (2) fit
//! 10 s  POST /servers for pool big
//! ```
//!
//! It does not catch waste that needs arithmetic: pools of which one has more processors and the other more
//! memory, nor several pods at once.

use crate::check::causes::{candidates, fills_minimum, first_attempts};
use crate::check::reaction::rivals;
use crate::check::scene::Scene;
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::{Pool, SubjectOption, Version};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-10"),
    promise: "By default, of the pools that fit the one is ordered from whose node would be wasted least",
    cite: &[faq!("What are Expanders?", "what-are-expanders")],
    level: Level::Must,
    kind: Kind::ScaleUp,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::since(Version::new(1, 33, 0)),
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    if scene.option(SubjectOption::Expander).is_some_and(|expander| expander != "least-waste") {
        return Tally::default().verdict("another expander was asked for");
    }
    let mut tally = Tally::default();
    for order in first_attempts(&scene) {
        let Some(pool) = order.pool.as_deref().and_then(|pool| scene.pool(pool)) else { continue };
        if fills_minimum(&scene, order, pool) || candidates(&scene, order, pool).len() != 1 {
            continue;
        }
        let smaller = |one: &Pool, other: &Pool| {
            one.room.cpu_milli < other.room.cpu_milli && one.room.memory_mib < other.room.memory_mib
        };
        for rival in rivals(&scene, order) {
            if smaller(pool, rival) {
                tally.exercised();
            } else if smaller(rival, pool) {
                let says = format!(
                    "{} was ordered in {} though the smaller {} fits",
                    order.name, pool.name, rival.name
                );
                tally.violated(says, [order.event]);
            }
        }
    }
    tally.verdict("nothing was ordered for one pod where a smaller and a bigger pool fitted")
}
