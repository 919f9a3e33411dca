//! SF-12. A server is not given back while its node carries such an annotation, as it did when it was tainted, before the delay
//! has passed since the taint. The subject of the promise is the single node; each removal is judged. An annotation that goes
//! for a moment frees it. Nothing else excuses it; a second is granted.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  small-a, annotated with delay-deletion.cluster-autoscaler.kubernetes.io/csi, is tainted
//! 20 s  DELETE of the server of small-a
//! ```
//!
//! It does not catch annotations that come after the taint.

use crate::check::scene::{TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Node;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-12"),
    promise: "A node with a delay-deletion annotation is not given back before the annotation goes or the documented time is over",
    cite: &[flag!("--node-deletion-delay-timeout")],
    level: Level::Must,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

const PREFIX: &str = "delay-deletion.cluster-autoscaler.kubernetes.io/";

fn check(history: &History) -> Verdict {
    timed(history, [Timer::DeletionDelay], |scene, [delay]| {
        let mut tally = Tally::default();
        for (back, name, track) in scene.removals() {
            let Some((tainted, event)) = scene.tainted(back) else { continue };
            let delayed = |node: &Node| node.annotations.keys().any(|key| key.starts_with(PREFIX));
            if !track.at(tainted - TIE).is_some_and(delayed) {
                continue;
            }
            tally.exercised();
            if track.always(tainted - TIE, back.began, delayed) && back.began + TIE < tainted + delay {
                tally.violated(
                    format!("the server of {name} was given back though its deletion was delayed"),
                    [event, back.event],
                );
            }
        }
        tally.verdict("no node whose deletion is delayed was removed")
    })
}
