//! FT-21. From its start until the documented time for a first loop is over, the health check of a process whose first loop has not
//! come to a good end does not fail.
//!
//! The subject is the process, judged once at each start. Only a bad answer counts, and not that there is none; who is stopped
//! meanwhile is excused. Two loops are granted, so latency alone convicts nobody. It is put to the test by a first loop that takes
//! longer than the time of inactivity, two loops and half a minute, in which a kubelet asks three times.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the subject starts; the cloud does not answer
//! 600 s  its health check fails, and it is ended for that
//! ```
//!
//! It does not catch whether a first loop that takes longer is noticed: that is FT-06.

use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::{Scene, timed, went_wrong};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::{History, SubjectChange, What, query};
use crate::terms::{Timer, Version};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-21"),
    promise: "Until the first loop has had its documented time, the health check does not fail",
    cite: &[flag!("--max-startup-time"), thread!(9510)],
    level: Level::Must,
    kind: Kind::FaultTolerance,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::since(Version::new(1, 36, 0)),
    always: false,
    check,
};

/// From one question for its health to the third.
const ASKED: Duration = Duration::from_secs(30);

fn check(history: &History) -> Verdict {
    timed(history, [Timer::MaxStartup, Timer::MaxInactivity], |scene, [startup, inactivity]| {
        let mut tally = Tally::default();
        for (start, event, replica) in query::starts(history) {
            let Some((failed, until)) = asked(history, event, replica) else { continue };
            if looped(scene, replica, start, until) {
                continue;
            }
            match failed {
                Some(failed) if until + scene.slack() < start + startup => {
                    tally.violated(
                        format!("{} s after its start its health check failed", (until - start).as_secs()),
                        [event, failed],
                    );
                }
                // Whoever counts as after a good loop would have failed by now; of several, one may only have waited to lead.
                _ if history.header.subject.replicas == 1
                    && until > start + inactivity + ASKED + scene.slack() =>
                {
                    tally.exercised();
                }
                _ => {}
            }
        }
        tally.verdict("no first loop took longer than others may")
    })
}

/// Until when the process that was started by an event was asked for its health, and the event at which that failed first, if it
/// did; nothing of one that was never well, or stopped meanwhile.
fn asked(history: &History, start: usize, replica: u32) -> Option<(Option<usize>, Time)> {
    let mut was_well = false;
    for (event, happened) in history.events.iter().enumerate().skip(start + 1) {
        let What::Subject(told) = &happened.what else { continue };
        match told.change {
            _ if told.replica != replica => {}
            SubjectChange::Health { status: 200..400 } => was_well = true,
            SubjectChange::Health { status: 400.. } if was_well => return Some((Some(event), happened.at)),
            SubjectChange::Paused => return None,
            SubjectChange::Exited { .. } | SubjectChange::Killed => {
                return was_well.then_some((None, happened.at));
            }
            _ => {}
        }
    }
    was_well.then_some((None, history.events.last()?.at))
}

/// Whether a process that was started at a moment has had a good loop until another. Its first status says that it begins.
pub(in crate::check) fn looped(scene: &Scene<'_>, replica: u32, start: Time, until: Time) -> bool {
    let written = |(at, _, by): &(Time, usize, u32)| *by == replica && start <= *at && *at <= until;
    let wrong = |until: Time| {
        scene.history.events.iter().any(|event| match &event.what {
            What::Call(call) => {
                call.replica == replica && start <= call.began && call.began <= until && went_wrong(call)
            }
            _ => false,
        })
    };
    // What was wrong before the second was wrong before each later one.
    query::status_writes(scene.history)
        .into_iter()
        .filter(written)
        .nth(1)
        .is_some_and(|(at, _, _)| !wrong(at))
}
