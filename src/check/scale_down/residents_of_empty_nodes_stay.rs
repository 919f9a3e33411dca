//! SD-12. Between the decision to remove a node with nothing but residents and its give-back, no resident is
//! evicted, unless it is annotated to be. And such a node goes in its time, as SD-01 says.
//!
//! The subject is the node that has nothing but residents: each removal is judged, and its going again and again as in SD-01. An
//! eviction is excused by its pod's annotation only, and one that comes with the decision by a second.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  small-a, with a pod of a daemon set and nothing else, is tainted
//!  5 s  POST …/pods/agent-1/eviction
//! 10 s  DELETE of the server of small-a
//! ```
//!
//! It does not catch evictions from nodes that are drained: there it is allowed.

use crate::check::scene::{Scene, TIE};
use crate::check::vacancy::{goes, vacancies};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Pod, Spell};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-12"),
    promise: "Pods of daemon sets do not keep a node, and are not evicted from one that has nothing else on it",
    cite: &[
        faq!("How does scale-down work?", "how-does-scale-down-work"),
        faq!(
            "How can I enable/disable eviction for a specific DaemonSet",
            "how-can-i-enabledisable-eviction-for-a-specific-daemonset"
        ),
    ],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

const ANNOTATION: &str = "cluster-autoscaler.kubernetes.io/enable-ds-eviction";

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let mut tally = Tally::default();
    if scene.flag("daemonset-eviction-for-empty-nodes").is_some_and(|on| on == "true") {
        return tally.verdict("such evictions were asked for");
    }
    let unneeded = scene.timer(Timer::UnneededTime).unwrap_or_default();
    for vacancy in vacancies(&scene, true) {
        let resident = |pod: &Pod| pod.resident() && pod.node.as_deref() == Some(vacancy.node);
        let runs = |spell: &Spell| vacancy.spell.covers(spell.from.max(vacancy.spell.from));
        // They come once the node is there.
        let since = scene
            .pods_on(vacancy.node)
            .flat_map(|(_, track)| track.spells(resident))
            .filter(runs)
            .map(|spell| spell.from.max(vacancy.spell.from))
            .min();
        if let Some(since) = since {
            goes(&scene, &mut tally, &vacancy, since, unneeded);
        }
    }
    for (back, name, _) in scene.removals() {
        let decided = scene.decided(back);
        let empty = scene.vacant(name).iter().any(|spell| spell.spans(decided - TIE, back.began - TIE));
        let residents: Vec<&Pod> = scene
            .pods_on(name)
            .filter_map(|(_, track)| track.at(decided))
            .filter(|pod| pod.resident())
            .collect();
        if !empty || residents.is_empty() {
            continue;
        }
        tally.exercised();
        let kept = |pod: &&&Pod| pod.annotations.get(ANNOTATION).is_none_or(|value| value != "true");
        for pod in residents.iter().filter(kept) {
            let mut evicted = scene.evictions.iter().filter(|eviction| eviction.pod == pod.key());
            if let Some(eviction) =
                evicted.find(|eviction| decided - TIE <= eviction.began && eviction.began <= back.began)
            {
                let says = format!("{} was evicted from {name}, on which nothing else was", pod.key());
                tally.violated(says, [eviction.event, back.event]);
            }
        }
    }
    tally.verdict("no node had nothing on it but residents for long enough")
}
