//! BO-05. If the cloud takes some orders of a batch and refuses others for good, the servers it took are not given back before the
//! creation timeout, unless they have nodes, or a look at their making failed or told of a failure. And while they are on
//! their way nothing is ordered, in any pool whose nodes are not bigger, once one more than the waiting pods need is.
//!
//! The subject of the first half is the server, until its time is over; of the second each later order and the pods that its pool
//! may take, once each. Excused is a look at its own making that failed, an order that fills a minimum, and one server more than
//! is needed, which is what latency can do.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  POST /servers for pool small: server 7
//! 0 s  POST /servers for pool small: 412
//! 5 s  DELETE /servers/7
//! ```
//!
//! It does not catch what is ordered in pools with bigger nodes.

use std::time::Duration;

use crate::check::backoff::batches::{Batch, batches};
use crate::check::causes::{candidates, fills_minimum, first_attempts};
use crate::check::fit::{fit, need};
use crate::check::making::looks;
use crate::check::scene::{Scene, TIE, timed};
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Order, Pod};
use crate::terms::{Pool, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("BO-05"),
    promise: "If only some of the servers of an order can be had, those are kept and counted",
    cite: &[faq!(
        "What happens in scale-up when I have no more quota in the cloud provider?",
        "what-happens-in-scale-up-when-i-have-no-more-quota-in-the-cloud-provider"
    )],
    level: Level::Should,
    kind: Kind::Backoff,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::CreationTimeout, Timer::ProvisionTime], |scene, [creation, provision]| {
        let mut tally = Tally::default();
        for pool in scene.pools() {
            for batch in batches(scene, &pool.name).iter().filter(|batch| batch.failed()) {
                for order in batch.orders.iter().filter(|order| order.taken()) {
                    kept(scene, &mut tally, batch, order, creation.min(provision));
                    counted(scene, &mut tally, order, provision);
                }
            }
        }
        tally.verdict("never was only a part of an order to be had")
    })
}

/// Judges that a server of a batch that failed in part is kept.
fn kept(scene: &Scene<'_>, tally: &mut Tally, batch: &Batch<'_>, order: &Order, time: Duration) {
    let Some(id) = scene.server_of(order) else { return };
    let until = order.began + time - TIE;
    let back = scene.give_backs.iter().find(|back| back.server == id && back.began <= until);
    match back.filter(|back| scene.registered(id).is_none_or(|at| at > back.began)) {
        Some(back) => {
            let looks = looks(scene.history, order);
            let trouble = looks.iter().any(|look| (look.failed || look.bad_news) && look.began <= back.began);
            if !trouble && scene.watched(order.began, back.began) {
                let says = format!("server {id} was given back as others of its order could not be had");
                tally.violated(says, [order.event, batch.event(), back.event]);
            }
        }
        None if scene.registered(id).is_some() || scene.watched(order.began, until) => tally.exercised(),
        None => {}
    }
}

/// Judges that what is ordered later counts a server that is on its way.
fn counted(scene: &Scene<'_>, tally: &mut Tally, bought: &Order, provision: Duration) {
    for order in first_attempts(scene).filter(|order| order.began > bought.began + TIE) {
        let Some(pool) = order.pool.as_deref().and_then(|pool| scene.pool(pool)) else { continue };
        let waiting = candidates(scene, order, pool);
        let pods: Vec<&Pod> = waiting.iter().map(|(pod, _)| *pod).collect();
        let coming = coming(scene, order, pool, &pods, provision);
        let sure = |pod: &&Pod| fit(scene, pod, pool).sure();
        let counts = coming.iter().any(|other| other.event == bought.event);
        if counts
            && !pods.is_empty()
            && pods.iter().all(sure)
            && coming.len() > need(scene, &pods, pool).max(1)
            && !fills_minimum(scene, order, pool)
        {
            let says =
                format!("{} was ordered, though what was on its way was more than is needed", order.name);
            tally.violated(says, coming.iter().map(|other| other.event).chain([order.event]));
        }
    }
}

/// Orders before one whose servers are on their way, in pools that take all these pods and whose nodes are as big.
fn coming<'s>(
    scene: &'s Scene<'_>,
    order: &Order,
    pool: &Pool,
    pods: &[&Pod],
    provision: Duration,
) -> Vec<&'s Order> {
    let as_good = |other: &Order| {
        let other = other.pool.as_deref().and_then(|pool| scene.pool(pool));
        other.is_some_and(|other| {
            other.room.cpu_milli >= pool.room.cpu_milli
                && other.room.memory_mib >= pool.room.memory_mib
                && pods.iter().all(|pod| fit(scene, pod, other).sure())
        })
    };
    let upcoming = scene.upcoming(order.began, provision).into_iter().map(|(other, _)| other);
    upcoming.filter(|other| as_good(other)).collect()
}
