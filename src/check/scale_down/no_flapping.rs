//! SD-09. In the twenty minutes after a removal nothing is ordered, if since the removal could first be
//! decided the plan did nothing, no fault came or went, and no server was lost to others.
//!
//! The subject is the whole cluster after each removal, judged once by the first order there is. Excused is any step that acts,
//! any fault that is there and any server that is lost, between unneeded time and order only. No latency is long enough to
//! matter.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  DELETE of the server of small-a
//! 40 s  POST /servers for pool small
//! ```
//!
//! It does not catch flapping that is slower, or that began with a change of the plan.

use std::time::Duration;

use crate::check::causes::first_attempts;
use crate::check::scene::{TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-09"),
    promise: "A workload that stays as it is does not have nodes removed and ordered again in turn",
    cite: &[
        faq!(
            "When does Cluster Autoscaler change the size of a cluster?",
            "when-does-cluster-autoscaler-change-the-size-of-a-cluster"
        ),
        faq!("How does scale-down work?", "how-does-scale-down-work"),
    ],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

/// As the documents speak of minutes: twice the time for which a node must be unneeded by default.
const QUIET: Duration = Duration::from_secs(1200);

fn check(history: &History) -> Verdict {
    timed(history, [Timer::UnneededTime], |scene, [unneeded]| {
        let mut tally = Tally::default();
        for (back, name, _) in scene.removals() {
            let (from, until) = (back.began - unneeded, back.began + QUIET);
            let mut orders =
                first_attempts(scene).filter(|order| order.began > back.began + TIE && order.began <= until);
            let order = orders.next();
            let judged = order.map_or(until, |order| order.began);
            let lost = scene.servers.iter().any(|(id, track)| {
                let gone = track
                    .seen
                    .iter()
                    .any(|seen| seen.state.is_none() && from <= seen.at && seen.at <= judged);
                gone && !scene.given_back(*id, judged)
            });
            if scene.disturbed(from, judged)
                || lost
                || judged > scene.end
                || scene.faults.iter().any(|f| f.spell.touches(from, judged))
            {
                continue;
            }
            tally.exercised();
            if let Some(order) = order {
                let says =
                    format!("{} was ordered soon after the server of {name} had been given back", order.name);
                tally.violated(says, [back.event, order.event]);
            }
        }
        tally.verdict("nothing was removed while the workload stayed as it was")
    })
}
