//! BO-03. A pod that waits for the only pool that takes it, after an order there was refused, has something
//! ordered there again within the longest back-off, the reaction time and two loops.
//!
//! The subject is the pool, and a pod that it takes and that waits all the time; each refused batch is judged once. Excused is
//! what is on its way for the pod, a limit that is reached, a pause, and any call that went wrong from a few minutes after the
//! refusal on. The longest back-off is more than latency.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  POST /servers for pool small: 412; web-1 waits
//! 1900 s  nothing has been ordered again
//! ```
//!
//! It does not catch that it is tried as soon as a shorter back-off ends.

use crate::check::arrivals::comes;
use crate::check::backoff::batches::batches;
use crate::check::reaction::has_place;
use crate::check::scene::{TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Order, Pod};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("BO-03"),
    promise: "After its back-off a pool that is still needed is tried again",
    cite: &[flag!("--node-group-backoff-reset-timeout")],
    level: Level::Should,
    kind: Kind::Backoff,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::BackoffMax, Timer::ReactionTime], |scene, [most, reaction]| {
        let mut tally = Tally::default();
        for pool in scene.pools() {
            for batch in batches(scene, &pool.name).iter().filter(|batch| batch.failed()) {
                let until = batch.ended + most + reaction + scene.slack();
                let again = |order: &&Order| {
                    order.pool.as_deref() == Some(&pool.name)
                        && order.began > batch.ended
                        && order.began <= until
                };
                if scene.orders.iter().any(|order| again(&order)) {
                    tally.exercised();
                    continue;
                }
                let waited = scene.pods.values().filter(|it| it.always(batch.began - TIE, until, Pod::waits));
                let mut pods = waited.filter_map(|track| track.at(batch.began));
                let forgotten =
                    |pod: &Pod| has_place(scene, pool, pod, batch.ended, until) && !comes(scene, pod, until);
                let quiet = scene.calm(batch.ended + scene.slack() * 8, until);
                if quiet && !scene.mostly_unready(until) && pods.any(forgotten) {
                    tally.violated(
                        format!("{} was never tried again after it had failed", pool.name),
                        [batch.event()],
                    );
                }
            }
        }
        tally.verdict("no order was refused while pods went on waiting")
    })
}
