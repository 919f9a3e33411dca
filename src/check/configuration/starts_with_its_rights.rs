//! CF-05. A process publishes its status within a minute and two loops after it was started, refused nothing but what it has no
//! right to; and it does not end by itself before.
//!
//! The subject is the process, judged once at each start. That minute is excused by any other call that went wrong, by an order
//! in progress, by whoever ends or stops the process, and by several replicas. Two loops and the duration of a lease are granted,
//! so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  the subject starts; listing volume attachments is answered with 403
//! 85 s  its status has not been published
//! ```
//!
//! It does not catch rights that are needed only later.

use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::{Scene, went_wrong};
use crate::check::{CLUSTER_AUTOSCALER, Citation, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::{History, Phase, SubjectChange, SubjectEvent, What, query};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("CF-05"),
    promise: "With the rights that its manifest asks for, it starts: its status is there within a minute",
    cite: &[
        Citation {
            where_: "cluster-autoscaler, example manifest of the hetzner provider",
            url: "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/hetzner/examples/cluster-autoscaler-run-on-master.yaml",
        },
        thread!(8678),
    ],
    level: Level::Must,
    kind: Kind::Config,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

const MINUTE: Duration = Duration::from_secs(60);

/// How a process has ended.
struct End {
    at: Time,
    /// Its last words, if it had any, and its end.
    evidence: Vec<usize>,
    /// Nobody else has ended or stopped it.
    by_itself: bool,
}

/// The end of the process that was started by an event.
fn end(history: &History, start: usize) -> Option<End> {
    let (mut by_itself, mut words) = (true, None);
    let What::Subject(SubjectEvent { replica, .. }) = history.events[start].what else { return None };
    for (event, happened) in history.events.iter().enumerate().skip(start + 1) {
        match &happened.what {
            What::Log(log) if log.replica == replica => words = Some(event),
            What::Subject(told) if told.replica == replica => match told.change {
                SubjectChange::Exited { signal, .. } => {
                    // The kernel ends by signals, too, when memory runs out.
                    let by_itself = by_itself && !matches!(signal, Some(9 | 15));
                    let evidence = words.into_iter().chain([event]).collect();
                    return Some(End { at: happened.at, evidence, by_itself });
                }
                SubjectChange::Killed | SubjectChange::Paused | SubjectChange::Unwell { .. } => {
                    by_itself = false;
                }
                _ => {}
            },
            // Whatever ends from here on is ended by the harness.
            What::Phase(Phase::Account) => by_itself = false,
            _ => {}
        }
    }
    None
}

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let writes = query::status_writes(history);
    let mut tally = Tally::default();
    if history.header.subject.replicas > 1 {
        return tally.verdict("several replicas share one status");
    }
    for (at, event, _) in query::starts(history) {
        let until = at + MINUTE + scene.slack() + scene.timer(Timer::LeaseDuration).unwrap_or_default();
        let published = writes.iter().any(|(written, _, _)| at <= *written && *written <= until);
        let other_trouble = history.events.iter().any(|happened| match &happened.what {
            What::Call(call) => {
                at <= call.began && call.began <= until && went_wrong(call) && call.status != 403
            }
            _ => false,
        });
        let end = end(history, event).filter(|end| end.at <= until);
        if published {
            tally.exercised();
        } else if let Some(end) = end {
            if end.by_itself && !other_trouble && !scene.busy(at, end.at) {
                let evidence = std::iter::once(event).chain(end.evidence);
                tally.violated("it was started, and ended by itself before it published a status", evidence);
            }
        } else if scene.watched(at, until) && !other_trouble && !scene.busy(at, until) {
            tally.violated("it was started, and published no status", [event]);
        }
    }
    tally.verdict("the subject was not started in peace")
}
