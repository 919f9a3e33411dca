//! BO-06. When a write of the size of a machine deployment was refused because somebody else had changed the deployment, the same
//! deployment is scaled soon after as long as pods wait, and no other one instead. Writes that go through while others change
//! the deployment all the time put it to the test as well.
//!
//! The subject is the pool that met the conflict and the pods that it takes; each conflict is judged once, and SU-01 goes on.
//! Another pool may be scaled for pods that this one does not take. Excused, if nothing is scaled, is any call that went wrong,
//! what is on its way, and a pool that is full, paused or rolled out.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pod web-1 is unschedulable; pools big (priority 50) and small (priority 10) fit
//! 10 s  PUT machinedeployments/big/scale: 409
//! 20 s  PATCH machinedeployments/small/scale, though nothing was bought in big
//! ```
//!
//! It does not catch conflicts on other objects.

use std::time::Duration;

use mock_clock::Time;

use crate::check::arrivals::comes;
use crate::check::causes::candidates;
use crate::check::fit::fit;
use crate::check::scene::{Scene, timed};
use crate::check::{CLUSTERAPI, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Pod, ScaleWrite};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("BO-06"),
    promise: "A write conflict on a machine deployment is no failure of the pool: it is scaled all the same, and no other instead",
    cite: &[thread!("7872"), thread!("7908")],
    level: Level::Should,
    kind: Kind::Backoff,
    providers: CLUSTERAPI,
    versions: Versions::ALL,
    always: true,
    check,
};

/// So many changes by others around a write make a storm.
const STORM: usize = 3;
const AROUND: Duration = Duration::from_secs(5);

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime], |scene, [reaction]| {
        let mut tally = Tally::default();
        for write in scene.scalings.iter().filter(|write| write.more() > 0) {
            if write.status == 409 {
                judge(scene, &mut tally, write, reaction);
            } else if write.taken() && in_a_storm(scene, write) {
                tally.exercised();
            }
        }
        tally.verdict("no machine deployment was changed by others while it was scaled up")
    })
}

fn judge(scene: &Scene<'_>, tally: &mut Tally, write: &ScaleWrite, reaction: Duration) {
    let until = write.ended + reaction + scene.slack();
    let after = |other: &&ScaleWrite| other.event > write.event && other.began <= until && other.taken();
    let grown: Vec<&ScaleWrite> = scene.scalings.iter().filter(after).filter(|it| it.more() > 0).collect();
    if let Some(other) = grown.iter().find(|other| is_instead(scene, write, other)) {
        tally.exercised();
        let says = format!(
            "{} met a conflict when it was scaled, and {} was scaled {} s later instead",
            write.pool,
            other.pool,
            (other.began - write.ended).as_secs()
        );
        tally.violated(says, [write.event, other.event]);
    } else if grown.iter().any(|other| other.pool == write.pool) {
        tally.exercised();
    } else if scene.calm(write.began, until) && still_waits(scene, write, until) {
        tally.exercised();
        let says = format!(
            "{} met a conflict when it was scaled, and was not scaled within {} s",
            write.pool,
            (until - write.ended).as_secs()
        );
        tally.violated(says, [write.event]);
    }
}

/// Whether another pool was scaled for pods that the one which met the conflict would have taken as well, all of them.
fn is_instead(scene: &Scene<'_>, write: &ScaleWrite, other: &ScaleWrite) -> bool {
    let order = scene.orders.iter().find(|order| order.event == other.event);
    let Some((order, pool)) = order.zip(scene.pool(&other.pool)).filter(|_| other.pool != write.pool) else {
        return false;
    };
    let meant = candidates(scene, order, pool);
    !meant.is_empty() && meant.iter().all(|(pod, _)| would_take(scene, write, pod, other.began))
}

/// Whether the pool of a write takes a pod for certain, but for the conflict.
fn would_take(scene: &Scene<'_>, write: &ScaleWrite, pod: &Pod, to: Time) -> bool {
    let Some(pool) = scene.pool(&write.pool) else { return false };
    let room = |at| scene.live(&pool.name, at).len() < scene.max(pool, at) as usize;
    fit(scene, pod, pool).sure()
        && room(write.began)
        && room(to)
        && !scene.hands_off(&pool.name, write.began, to)
}

/// Whether a pod that its pool would take waited all the time, and nothing came for it.
fn still_waits(scene: &Scene<'_>, write: &ScaleWrite, until: Time) -> bool {
    scene.pods.values().filter(|track| track.always(write.began, until, Pod::waits)).any(|track| {
        let took = |pod: &Pod| would_take(scene, write, pod, until) && !comes(scene, pod, until);
        track.at(write.began).is_some_and(took)
    })
}

/// Whether others changed the deployment again and again around a write.
fn in_a_storm(scene: &Scene<'_>, write: &ScaleWrite) -> bool {
    let Some(track) = scene.groups.get(&write.pool) else { return false };
    let (from, to) = (write.began - AROUND, write.ended + AROUND);
    track.seen.iter().filter(|seen| from <= seen.at && seen.at <= to).count() > STORM
}
