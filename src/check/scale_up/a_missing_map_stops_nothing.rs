//! SU-09. As SU-01, with twice its reaction time, for pods that wait while the priority expander was asked for and its map does
//! not exist, or holds no priorities.
//!
//! The subject is the single pod, asked again as long as it waits without a map. What excuses it is what excuses SU-01, for as
//! long; twice the reaction time and two loops are more than latency.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  the priority expander was asked for; there is no map cluster-autoscaler-priority-expander
//!  0 s  pod web-1 is unschedulable
//! 85 s  nothing has been ordered
//! ```
//!
//! It does not catch maps whose priorities cannot be read.

use mock_clock::Time;

use crate::check::reaction::reactions_while;
use crate::check::scene::timed;
use crate::check::{CLUSTER_AUTOSCALER, Citation, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::{Change, History, What};
use crate::terms::{SubjectOption, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-09"),
    promise: "The priority expander without its map of priorities stops nothing: something is ordered all the same",
    cite: &[Citation {
        where_: "cluster-autoscaler, priority based expander, Configuration",
        url: "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/expander/priority/readme.md#configuration",
    }],
    level: Level::Must,
    kind: Kind::Config,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

const MAP: &str = "cluster-autoscaler-priority-expander";

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime], |scene, [reaction]| {
        if scene.option(SubjectOption::Expander) != Some("priority") {
            return Tally::default().verdict("the priority expander was not asked for");
        }
        reactions_while(scene, reaction * 2, |_, at| !mapped(history, at))
            .verdict("no pod waited while there was no map of priorities")
    })
}

/// Whether a map of priorities was there at a moment.
fn mapped(history: &History, at: Time) -> bool {
    let seen =
        history.events.iter().take_while(|event| event.at <= at).filter_map(|event| match &event.what {
            What::Object(object) if object.kind == "ConfigMap" && object.name == MAP => Some(object),
            _ => None,
        });
    let there = |object: &crate::history::ObjectEvent| {
        let priorities = object.object["data"]["priorities"].as_str().unwrap_or_default();
        object.change != Change::Deleted && !priorities.trim().is_empty()
    };
    seen.last().is_some_and(there)
}
