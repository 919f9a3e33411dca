//! BO-06. When a write of the size of a machine deployment was refused because somebody else had changed the deployment, the same
//! deployment is scaled soon after as long as pods wait, and no other one instead. Writes that go through while others change
//! the deployment all the time put it to the test as well.
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

use crate::check::scene::{Scene, timed};
use crate::check::{CLUSTERAPI, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::ScaleWrite;
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
    let mut grown = scene.scalings.iter().filter(after).filter(|other| other.more() > 0);
    match grown.next() {
        Some(next) if next.pool == write.pool => tally.exercised(),
        Some(other) => {
            tally.exercised();
            let says = format!(
                "{} met a conflict when it was scaled, and {} was scaled {} s later instead",
                write.pool,
                other.pool,
                (other.began - write.ended).as_secs()
            );
            tally.violated(says, [write.event, other.event]);
        }
        None if scene.watched(write.began, until) && still_waits(scene, write, until) => {
            tally.exercised();
            let says = format!(
                "{} met a conflict when it was scaled, and was not scaled within {} s",
                write.pool,
                (until - write.ended).as_secs()
            );
            tally.violated(says, [write.event]);
        }
        None => {}
    }
}

/// Whether a pod waited all the time.
fn still_waits(scene: &Scene<'_>, write: &ScaleWrite, until: mock_clock::Time) -> bool {
    let waits = |pod: &crate::history::query::Pod| pod.waits();
    scene.pods.values().any(|track| track.spells(waits).iter().any(|spell| spell.spans(write.began, until)))
}

/// Whether others changed the deployment again and again around a write.
fn in_a_storm(scene: &Scene<'_>, write: &ScaleWrite) -> bool {
    let Some(track) = scene.groups.get(&write.pool) else { return false };
    let (from, to) = (write.began - AROUND, write.ended + AROUND);
    track.seen.iter().filter(|seen| from <= seen.at && seen.at <= to).count() > STORM
}
