//! CF-05. A process that runs on, and of several the one that leads, publishes its status within a minute
//! and two loops after it was started, refused nothing but what it has no right to.
//!
//! The subject is the process, judged once at each start. That minute is excused by any other call that went wrong, by an order
//! in progress and by several replicas. Two loops and the duration of a lease are granted, so latency alone convicts nobody.
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

use crate::check::scene::{Scene, went_wrong};
use crate::check::{CLUSTER_AUTOSCALER, Citation, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::{History, What, query};
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
        if published {
            tally.exercised();
        } else if scene.watched(at, until) && !other_trouble && !scene.busy(at, until) {
            tally.violated("it was started, and published no status", [event]);
        }
    }
    tally.verdict("the subject was not started in peace")
}
