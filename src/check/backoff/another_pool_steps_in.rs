//! BO-02. After a batch of orders was refused, a pod that still waits and that another pool takes for
//! certain has something ordered there within the reaction time and two loops.
//!
//! The subject is the pod for which the order was placed: each refused batch is judged once for all such pods that wait on.
//! Excused is what is on its way for it, any call that went wrong but such orders, and, until they are there, servers that the
//! batch did get. The reaction time and two loops are more than latency.
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

use crate::check::arrivals::comes;
use crate::check::backoff::batches::{Batch, batches};
use crate::check::causes::candidates;
use crate::check::fit::fit;
use crate::check::reaction::rivals;
use crate::check::scene::{Scene, TIE, timed, went_wrong};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::query::{Pod, Track};
use crate::history::{History, What};
use crate::terms::{Pool, Timer};

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
                judge(scene, &mut tally, pool, batch, reaction);
            }
        }
        tally.verdict("no order was refused that another pool could have stepped in for")
    })
}

fn judge(scene: &Scene<'_>, tally: &mut Tally, pool: &Pool, batch: &Batch<'_>, reaction: Duration) {
    // What was taken of a batch is stood in until it is there.
    let taken = batch.orders.iter().filter(|order| order.taken()).map(|order| scene.stands_until(order));
    let until = taken.fold(batch.ended, Time::max) + reaction + scene.slack();
    let rivals = rivals(scene, batch.orders[0]);
    if rivals.is_empty() || !scene.watched(batch.began - scene.slack(), until) {
        return;
    }
    let serves = |pod: &Pod| {
        scene.orders.iter().any(|order| {
            let other = order.pool.as_deref().filter(|other| *other != pool.name);
            let fits = other.and_then(|other| scene.pool(other)).map(|other| fit(scene, pod, other));
            fits.is_some_and(|fit| !fit.impossible()) && order.began > batch.began && order.began <= until
        })
    };
    let waits = |track: &&Track<Pod>| track.always(batch.began - TIE, until, Pod::waits);
    let kept_waiting = |pod: &&Pod| {
        !fit(scene, pod, pool).impossible()
            && rivals.iter().any(|rival| fit(scene, pod, rival).sure())
            && !serves(pod)
            && !comes(scene, pod, until)
    };
    let mut pods = scene.pods.values().filter(waits).filter_map(|track| track.at(batch.began));
    let forgotten = pods.find(kept_waiting).filter(|_| only_refusals(scene, batch.began, until));
    if let Some(pod) = forgotten {
        let (pod, rival) = (pod.key(), &rivals[0].name);
        let says = format!("{} failed, and nothing was ordered in {rival} or elsewhere for {pod}", pool.name);
        tally.violated(says, [batch.event()]);
    } else if candidates(scene, batch.orders[0], pool).iter().any(|(pod, _)| serves(pod)) {
        tally.exercised();
    }
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
