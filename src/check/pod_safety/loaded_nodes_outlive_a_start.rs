//! SF-13. After each start, no server is given back on whose node a pod that is no resident has run for the whole unneeded time,
//! and which nobody asked to go. The subject of the promise is the single pod; each give-back is judged. Excused is who has
//! asked the pod to go in this removal, whatever the answer, and pods below the priority cutoff. Latency is not: the unneeded
//! time is long.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the subject starts, and its list of pods hangs; web-1 has been running on small-a
//! 605 s  DELETE of the server of small-a
//! ```
//!
//! It does not catch pods that came shortly before the give-back.

use crate::check::scene::{TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{self, Pod};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-13"),
    promise: "The subject does not act before it has seen what runs: it gives no server back under pods that ran there all the time",
    cite: &[thread!(7897)],
    level: Level::Should,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::UnneededTime], |scene, [unneeded]| {
        let mut tally = Tally::default();
        for (back, name, _) in scene.removals() {
            let (from, decided) = (back.began - unneeded + TIE, scene.decided(back) - scene.slack());
            for (key, track) in scene.pods_on(name) {
                let ran = track.always(from, back.began + TIE, |pod| {
                    pod.occupies(name) && pod.phase == "Running" && !pod.ending && !scene.expendable(pod)
                });
                let asked = scene
                    .evictions
                    .iter()
                    .any(|it| it.pod == key && decided <= it.began && it.began <= back.began);
                if ran && !asked {
                    let shows = track.sight(from).map(|seen| seen.event);
                    tally.violated(
                        format!("the server of {name} was given back under {key}"),
                        shows.into_iter().chain([back.event]),
                    );
                }
            }
        }
        for (at, _, _) in query::starts(history) {
            let until = at + unneeded + scene.slack() * 2;
            let loaded = |name: &String| {
                let counts = |pod: &Pod| pod.occupies(name) && !scene.expendable(pod);
                scene.pool_of_node(name, at).is_some()
                    && scene.pods_on(name).any(|(_, track)| track.always(at, at + unneeded, counts))
            };
            if scene.watched(at, until) && scene.nodes.keys().any(loaded) {
                tally.exercised();
            }
        }
        tally.verdict("the subject did not start while pods ran on a node of a pool")
    })
}
