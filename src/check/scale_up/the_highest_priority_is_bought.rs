//! SU-08. With the priority expander, an order convicts if another pool of a higher priority takes every pod
//! that waits, is not full, and has had no failure for as long as the longest back-off.
//!
//! The subject is each order and the pods that its pool may take, judged once: only a pool that takes all of them is a rival. A
//! rival is excused while it is full, limited, paused, mostly unready or not sold, and for a back-off after a failure. No latency
//! is in it.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pod web-1 is unschedulable; pools big (priority 50) and small (priority 10) fit
//! 10 s  POST /servers for pool small
//! ```
//!
//! It does not catch a change of the priorities during the run: it reads those of the header.

use crate::check::causes::{fills_minimum, first_attempts};
use crate::check::reaction::rivals;
use crate::check::scene::Scene;
use crate::check::{CLUSTER_AUTOSCALER, Citation, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::SubjectOption;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-08"),
    promise: "With the priority expander, of the pools that fit the one with the highest priority is ordered from",
    cite: &[Citation {
        where_: "cluster-autoscaler, priority based expander, Configuration",
        url: "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/expander/priority/readme.md#configuration",
    }],
    level: Level::Must,
    kind: Kind::ScaleUp,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    if scene.option(SubjectOption::Expander) != Some("priority") {
        return Tally::default().verdict("the priority expander was not asked for");
    }
    let mut tally = Tally::default();
    for order in first_attempts(&scene) {
        let Some(pool) = order.pool.as_deref().and_then(|pool| scene.pool(pool)) else { continue };
        if fills_minimum(&scene, order, pool) {
            continue;
        }
        for rival in rivals(&scene, order).into_iter().filter(|rival| rival.priority != pool.priority) {
            tally.exercised();
            if rival.priority > pool.priority {
                let says = format!(
                    "{} was ordered in {} though {} has a higher priority",
                    order.name, pool.name, rival.name
                );
                tally.violated(says, [order.event]);
            }
        }
    }
    tally.verdict("nothing was ordered where two pools of different priorities fitted")
}
