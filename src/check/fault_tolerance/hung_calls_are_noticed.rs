//! FT-06. While a call to the cloud has no answer and the subject publishes no status, its health check fails within the time of
//! inactivity, half a minute and two loops after the call began (in a first loop: within the time of one after the start); or it
//! ends. The subject of the promise is the process that called; each call is judged once. Excused is who writes its status while
//! the call hangs, was not well before, or is ended or stopped meanwhile. Half a minute and two loops are more than any latency.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  GET /servers, which is never answered
//! 700 s  the health check still says 200
//! ```
//!
//! It does not catch hangs before the health check was ever asked.

use std::time::Duration;

use mock_clock::Time;

use super::first_loops_get_their_time::looped;
use crate::check::scene::timed;
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::{History, SubjectChange, What, query};
use crate::terms::{Api, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-06"),
    promise: "When a call to the cloud hangs, the health check says so within the documented time",
    cite: &[
        flag!("--max-inactivity"),
        faq!("How can I monitor Cluster Autoscaler?", "how-can-i-monitor-cluster-autoscaler"),
    ],
    level: Level::Must,
    kind: Kind::FaultTolerance,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

const HALF_A_MINUTE: Duration = Duration::from_secs(30);

fn check(history: &History) -> Verdict {
    timed(history, [Timer::MaxInactivity], |scene, [inactivity]| {
        let changes: Vec<(Time, u32, &SubjectChange)> = history
            .events
            .iter()
            .filter_map(|event| match &event.what {
                What::Subject(subject) => Some((event.at, subject.replica, &subject.change)),
                _ => None,
            })
            .collect();
        let asked = |replica: u32, at: Time| {
            changes.iter().any(|(then, other, change)| {
                *then <= at && *other == replica && matches!(change, SubjectChange::Health { status: 200 })
            })
        };
        let writes = query::status_writes(history);
        let starts = query::starts(history);
        let startup = scene.timer(Timer::MaxStartup).unwrap_or_default();
        let mut tally = Tally::default();
        for (event, happened) in history.events.iter().enumerate() {
            let What::Call(call) = &happened.what else { continue };
            let late = call.began + inactivity;
            // Most calls are not for this: what follows looks at the whole history.
            let of_use = call.to == Api::Cloud && call.method == "GET" && !call.open;
            if !of_use || happened.at <= late || !asked(call.replica, call.began) {
                continue;
            }
            let start = starts.iter().rev().find(|(at, _, by)| *by == call.replica && *at <= call.began);
            let starting = start.filter(|(at, _, _)| !looped(scene, call.replica, *at, call.began));
            let patience = starting.map_or(late, |(at, _, _)| late.max(*at + startup));
            let until = patience + HALF_A_MINUTE + scene.slack();
            // Who writes while it hangs does not wait for it; a process that is started after it says nothing of that.
            let published = writes.iter().any(|(at, _, replica)| {
                *replica == call.replica && *at > call.began + scene.slack() && *at <= until.min(happened.at)
            });
            let noticed = changes.iter().any(|(at, replica, change)| {
                let sick = match change {
                    SubjectChange::Health { status } => *status != 200,
                    SubjectChange::Exited { .. } | SubjectChange::Killed | SubjectChange::Paused => true,
                    _ => false,
                };
                sick && *replica == call.replica && call.began <= *at && *at <= until
            });
            // One that is noticed is over when the subject is started again.
            let long = if noticed { patience } else { until };
            if happened.at <= long || published {
                continue;
            }
            tally.exercised();
            if !noticed {
                tally.violated(
                    format!("{} {} hung, and the health check was good", call.method, call.path),
                    [event],
                );
            }
        }
        tally.verdict("no call to the cloud hung for long enough")
    })
}
