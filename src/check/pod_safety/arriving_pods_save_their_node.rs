//! SF-11. A node on which there was nothing when it was tainted for removal, and on which a pod has come to run before the delay
//! between taint and removal was over, is not given back with it. The subject of the promise is the node; each pod that came is
//! looked at. A pod that was asked to go, or is of a priority that does not count, saves nothing.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  small-a, with nothing on it, is tainted with ToBeDeletedByClusterAutoscaler
//! 2 s  web-1, which tolerates that, is bound to small-a
//! 5 s  DELETE of the server of small-a
//! ```
//!
//! It does not catch pods that come after the delay: who has looked once more cannot look again.

use mock_clock::Time;

use crate::check::scene::{Scene, TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Eviction, GiveBack, Pod, REMOVAL_TAINT, Spell, Track};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-11"),
    promise: "A pod that comes to an empty node after it was tainted, and before it is removed, saves it",
    cite: &[
        flag!("--node-delete-delay-after-taint"),
        faq!(
            "When does Cluster Autoscaler change the size of a cluster?",
            "when-does-cluster-autoscaler-change-the-size-of-a-cluster"
        ),
    ],
    level: Level::Should,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::DeleteDelayAfterTaint], |scene, [delay]| {
        let mut tally = Tally::default();
        for (name, track) in &scene.nodes {
            for taint in track.spells(|node| node.has_taint(REMOVAL_TAINT)) {
                let over = taint.from + delay - TIE;
                let server = scene.under(name, taint.from);
                let arrivals = arrivals(scene, name, &taint, over);
                let lost = arrivals.iter().find_map(|(key, arrival)| {
                    let taken = |back: &&GiveBack| {
                        Some(back.server) == server
                            && back.taken()
                            && taint.covers(back.began)
                            && arrival.spans(arrival.from, back.began)
                            && arrival.from + TIE < back.began
                    };
                    let asked = |eviction: &Eviction| {
                        eviction.pod == *key && taint.from <= eviction.began && arrival.covers(eviction.began)
                    };
                    let back = scene.give_backs.iter().find(taken)?;
                    (!scene.evictions.iter().any(asked)).then_some((key, arrival, back))
                });
                if let Some((key, arrival, back)) = lost {
                    let says =
                        format!("the server of {name} was given back under {key}, which had just come");
                    tally.violated(says, [taint.began, arrival.began, back.event]);
                } else if !arrivals.is_empty()
                    && (taint.to.is_some() || scene.watched(taint.from, over + scene.slack()))
                {
                    tally.exercised();
                }
            }
        }
        tally.verdict("no pod came to a node that was tainted while there was nothing on it")
    })
}

/// The pods that came to an empty node from its taint to a moment, with the times for which they stayed.
fn arrivals<'s>(scene: &'s Scene<'_>, node: &str, taint: &Spell, until: Time) -> Vec<(&'s str, Spell)> {
    let empty = scene.vacant(node).iter().any(|spell| spell.spans(taint.from - TIE, taint.from + TIE));
    let came = |(key, track): (&'s str, &'s Track<Pod>)| {
        let spells = track.spells(|pod: &Pod| pod.occupies(node) && !pod.ending && !scene.expendable(pod));
        let spell = spells.into_iter().find(|spell| taint.from + TIE <= spell.from && spell.from <= until)?;
        Some((key, spell))
    };
    scene.pods_on(node).filter_map(came).filter(|_| empty).collect()
}
