//! SF-02. When all evictions of a pod are refused for the eviction time, its server is not given back while the pod runs there,
//! and its node is free of the taint within a minute and two loops. The subject of the promise is the single pod, and its node;
//! each drain is judged for itself. Excused from taking the taint away is a subject that does not run so long, or whose writes
//! of that node go wrong.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  POST …/pods/web-1/eviction: 429, and again every 10 s
//! 130 s  DELETE of the server of small-a
//! ```
//!
//! It does not catch how often an eviction is tried.

use std::collections::BTreeMap;
use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::{TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Eviction, REMOVAL_TAINT};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-02"),
    promise: "If a pod cannot be evicted for the documented time, its node is kept, and its taint taken away",
    cite: &[
        faq!(
            "Does CA work with PodDisruptionBudget in scale-down?",
            "does-ca-work-with-poddisruptionbudget-in-scale-down"
        ),
        flag!("--max-pod-eviction-time"),
    ],
    level: Level::Must,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

/// The last try may itself wait, and the taint is taken away by calls that may be repeated.
const GRACE: Duration = Duration::from_secs(60);

fn check(history: &History) -> Verdict {
    timed(history, [Timer::EvictionTime], |scene, [eviction_time]| {
        let mut tally = Tally::default();
        let mut tried: BTreeMap<&str, Vec<&Eviction>> = BTreeMap::new();
        for eviction in &scene.evictions {
            tried.entry(&eviction.pod).or_default().push(eviction);
        }
        let refused = tried.iter().flat_map(|(pod, tries)| {
            let drains = tries.chunk_by(|one, next| next.began < one.ended + GRACE);
            let refused = drains.flat_map(|drain| drain.split(|eviction| eviction.status != 429));
            refused.map(move |refused| (*pod, refused))
        });
        for (pod, tries) in refused {
            let [first, .., last] = tries else { continue };
            let Some(track) = scene.pods.get(pod) else { continue };
            let Some(node) = track.at(first.began).and_then(|pod| pod.node.clone()) else { continue };
            if last.began - first.began + scene.slack() < eviction_time {
                continue;
            }
            let there = |at: Time| track.at(at).is_some_and(|pod| pod.occupies(&node));
            let mut removed =
                scene.removals().filter(|(back, name, _)| *name == node && back.began > first.began);
            if let Some((back, _, _)) =
                removed.find(|(back, _, _)| there(back.began - TIE) && there(back.began))
            {
                tally.violated(
                    format!("the server of {node} was given back under {pod}, which could not be evicted"),
                    [first.event, back.event],
                );
                continue;
            }
            let (from, until) = (last.began, last.began + GRACE + scene.slack());
            if !scene.watched(first.began, until) || scene.hindered("nodes", &node, from, until) {
                continue;
            }
            tally.exercised();
            let tainted = scene
                .nodes
                .get(&node)
                .is_some_and(|track| track.always(from, until, |node| node.has_taint(REMOVAL_TAINT)));
            if tainted && there(until) {
                tally.violated(format!("{node} kept its taint though the drain was given up"), [last.event]);
            }
        }
        tally.verdict("no pod could not be evicted for long enough")
    })
}
