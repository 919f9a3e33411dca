//! SD-07. After a granted eviction no pod of the same controller that came into being within a minute may
//! wait for longer than a minute. If pods of others came into being meanwhile and got a node, the plan acted, or a fault
//! came or went, they may have taken the room.
//!
//! The subject is the controller of each evicted pod, judged once by the pods that come in its stead. Those two minutes are
//! excused by a step that acts, a fault that comes or goes, and a pod of others that got a node. A wait of a minute is more than
//! latency.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  POST …/pods/web-1/eviction
//!  2 s  pod web-2 of the same replica set is unschedulable, and stays so
//! 63 s  it still waits
//! ```
//!
//! It does not catch pods without a controller, and a wait that a new node ends within the minute.

use std::time::Duration;

use crate::check::scene::{Scene, TIE};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Pod, Track};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-07"),
    promise: "A node is removed only if its pods fit elsewhere: they are not left waiting",
    cite: &[
        faq!("How does scale-down work?", "how-does-scale-down-work"),
        faq!(
            "What types of pods can prevent CA from removing a node?",
            "what-types-of-pods-can-prevent-ca-from-removing-a-node"
        ),
    ],
    level: Level::Must,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

/// So long an evicted pod may take to run again.
const MINUTE: Duration = Duration::from_secs(60);

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let mut tally = Tally::default();
    for eviction in scene.evictions.iter().filter(|eviction| eviction.granted()) {
        let Some(pod) = scene.pods.get(&eviction.pod).and_then(|track| track.at(eviction.began)) else {
            continue;
        };
        let (Some(_), false) = (&pod.owner, pod.resident()) else { continue };
        let (from, until) = (eviction.began - TIE, eviction.began + MINUTE);
        let born = |track: &Track<Pod>| track.first().is_some_and(|seen| seen.at > from && seen.at <= until);
        let kin = |track: &Track<Pod>| {
            track.last().is_some_and(|other| other.owner == pod.owner && other.namespace == pod.namespace)
        };
        let takes_room = |track: &Track<Pod>| {
            track.seen.iter().filter_map(|seen| seen.state.as_ref()).any(|pod| pod.node.is_some())
                && track.last().is_some_and(|pod| !pod.resident())
        };
        if until + MINUTE > scene.end
            || scene.disturbed(from, until + MINUTE)
            || scene.pods.values().any(|track| born(track) && !kin(track) && takes_room(track))
        {
            continue;
        }
        tally.exercised();
        for (key, track) in scene.pods.iter().filter(|(_, track)| born(track) && kin(track)) {
            let waits = track.spells(Pod::waits).into_iter();
            let mut long =
                waits.filter(|spell| spell.from <= until && spell.spans(spell.from, spell.from + MINUTE));
            if let Some(spell) = long.next() {
                let says = format!("{} was evicted, and {key} found no room instead", eviction.pod);
                tally.violated(says, [eviction.event, spell.began]);
            }
        }
    }
    tally.verdict("no pod was evicted in peace")
}
