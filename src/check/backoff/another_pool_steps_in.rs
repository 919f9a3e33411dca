//! BO-02. After a batch of orders was refused, a pod that still waits and that another pool takes for
//! certain has something ordered there within the reaction time and two loops.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  POST /servers for pool small: 412; pool big fits as well
//! 60 s  nothing has been ordered in big
//! ```
//!
//! It does not catch pools that failed before.

use std::time::Duration;

use mock_clock::Time;

use crate::check::backoff::batches::batches;
use crate::check::reaction::rivals;
use crate::check::scene::{Scene, TIE, timed, went_wrong};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::query::{Order, Pod, Track};
use crate::history::{History, What};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("BO-02"),
    promise: "When a pool fails, another one that fits is ordered from at once",
    cite: &[faq!("How does scale-up work?", "how-does-scale-up-work"), thread!(6240)],
    level: Level::Must,
    kind: Kind::Backoff,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime], |scene, [reaction]| {
        let mut tally = Tally::default();
        for pool in scene.pools() {
            for batch in batches(scene, &pool.name).iter().filter(|batch| batch.failed()) {
                let until = batch.ended + reaction + scene.slack();
                let rivals = rivals(scene, batch.orders[0]);
                let elsewhere = |order: &Order| {
                    order.pool.as_deref() != Some(&pool.name)
                        && order.began > batch.began
                        && order.began <= until
                };
                let pods: Vec<&Track<Pod>> = scene
                    .pods
                    .values()
                    .filter(|track| track.always(batch.began - TIE, until, Pod::waits))
                    .collect();
                if rivals.is_empty() || !scene.watched(batch.began - scene.slack(), until) {
                    continue;
                }
                if scene.orders.iter().any(elsewhere) {
                    tally.exercised();
                } else if !pods.is_empty()
                    && only_refusals(scene, batch.began, until)
                    && scene.upcoming(until, Duration::MAX).is_empty()
                {
                    let says = format!(
                        "{} failed, and nothing was ordered in {} instead",
                        pool.name, rivals[0].name
                    );
                    tally.violated(says, [batch.event()]);
                }
            }
        }
        tally.verdict("no order was refused that another pool could have stepped in for")
    })
}

/// Whether nothing went wrong between two moments but orders that the cloud refused.
fn only_refusals(scene: &Scene<'_>, from: Time, to: Time) -> bool {
    scene.history.events.iter().filter(|event| from - scene.slack() <= event.at && event.at <= to).all(
        |event| match &event.what {
            What::Call(call) => {
                !went_wrong(call) || (call.method == "POST" && call.path.ends_with("/servers"))
            }
            _ => true,
        },
    )
}
