//! BO-07. As SU-01, with twice its reaction time, for pods that wait while the machines of one pool are no longer sold and that
//! would fit it: another pool that takes them is ordered from.
//!
//! The subject is the single pod, asked again as long as it waits and a pool that it fits is broken. What excuses it is what
//! excuses SU-01; an order in the broken pool makes it unknown. Twice the reaction time and two loops are more than latency.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  the cloud no longer sells cx43, the machines of pool broken; pool sound has cx33
//! 10 s  pod web-1, which fits both, is unschedulable
//! 95 s  nothing has been ordered
//! ```
//!
//! It does not catch pools that are broken otherwise; one whose orders are refused is BO-02's.

use mock_clock::Time;

use crate::check::fit::fit;
use crate::check::reaction::reactions_while;
use crate::check::scene::{Scene, TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Pod;
use crate::terms::{Pool, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("BO-07"),
    promise: "A pool whose machines are no longer sold does not keep others from being ordered from",
    cite: &[thread!(8402), thread!(7928)],
    level: Level::Should,
    kind: Kind::FaultTolerance,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime], |scene, [reaction]| {
        let mut tally = reactions_while(scene, reaction * 2, |pod, at| {
            broken(scene, at).any(|pool| !fit(scene, pod, pool).impossible())
        });
        for track in scene.pods.values() {
            for spell in track.spells(Pod::waits) {
                let broken: Vec<&str> = broken(scene, spell.from).map(|pool| pool.name.as_str()).collect();
                let until = spell.from + reaction * 2 + scene.slack();
                let mut orders = scene.orders.iter().filter(|order| {
                    spell.from <= order.began + TIE
                        && order.began <= until
                        && order.pool.as_deref().is_some_and(|pool| broken.contains(&pool))
                });
                if let Some(order) = orders.next() {
                    tally.doubtful(format!("{} was ordered in the broken pool", order.name));
                }
            }
        }
        tally.verdict("no pod waited that fits a pool whose machines were no longer sold")
    })
}

/// The pools whose machines are not sold at a moment.
fn broken<'s>(scene: &'s Scene<'_>, at: Time) -> impl Iterator<Item = &'s Pool> {
    scene.pools().iter().filter(move |pool| scene.unsold(pool).iter().any(|spell| spell.covers(at)))
}
