//! Pods that keep their node, whatever else speaks for its removal. Several promises are this one, for different reasons.

use std::time::Duration;

use mock_clock::Time;

use super::scene::{Scene, TIE, timed};
use super::{Tally, Verdict};
use crate::history::History;
use crate::history::query::{Eviction, Pod, REMOVAL_TAINT, Track};
use crate::terms::Timer;

/// Judges that pods which block are neither evicted nor lose their server while they run.
pub(super) fn must_stay(
    history: &History,
    blocks: impl Fn(&Scene<'_>, &Pod, Time) -> bool,
    because: &str,
    never: &str,
) -> Verdict {
    timed(history, [Timer::UnneededTime], |scene, [unneeded]| {
        let mut tally = Tally::default();
        stay(scene, &mut tally, unneeded, blocks, because);
        tally.verdict(never)
    })
}

/// The same, of a scene. They must have blocked when the removal was decided, and when they were evicted or lost their server;
/// closer than a tie to the moment at which they begin or end to block, nobody is convicted.
pub(super) fn stay(
    scene: &Scene<'_>,
    tally: &mut Tally,
    unneeded: Duration,
    blocks: impl Fn(&Scene<'_>, &Pod, Time) -> bool,
    because: &str,
) {
    let blocks = |pod: &Pod, at: Time| {
        let counts = !pod.resident() && !pod.ending && !pod.finished() && !scene.expendable(pod);
        counts && blocks(scene, pod, at)
    };
    evicted(scene, tally, &blocks, because);
    lost(scene, tally, &blocks, because);
    for (name, track) in &scene.nodes {
        for (_, pod) in scene.pods_on(name) {
            for spell in pod.spells(|pod| pod.occupies(name)) {
                let until = spell.from + unneeded + scene.slack();
                let state = pod
                    .at(spell.from)
                    .filter(|pod| blocks(pod, spell.from + scene.slack()) && blocks(pod, until));
                let pool = scene.pool_of_node(name, spell.from).and_then(|pool| scene.pool(pool));
                let spare =
                    |at| pool.is_some_and(|pool| scene.live(&pool.name, at).len() > pool.min as usize);
                if state.is_some()
                    && spell.spans(spell.from, until)
                    && scene.watched(spell.from, until)
                    && spare(until)
                    && !track.at(until).is_some_and(|node| scene.well_used(name, node, until))
                {
                    tally.exercised();
                }
            }
        }
    }
}

fn evicted(scene: &Scene<'_>, tally: &mut Tally, blocks: &impl Fn(&Pod, Time) -> bool, because: &str) {
    for eviction in &scene.evictions {
        let Some(track) = scene.pods.get(&eviction.pod) else { continue };
        let blocked = |at: Time| track.at(at).is_some_and(|pod| pod.node.is_some() && blocks(pod, at));
        let meant = decided(scene, track, eviction) - TIE;
        if blocked(meant) && blocked(eviction.began - TIE) && (blocked(eviction.began) || eviction.granted())
        {
            let shows = track.sight(meant).map(|seen| seen.event);
            let says = format!("{} was to be evicted, {because}", eviction.pod);
            tally.violated(says, shows.into_iter().chain([eviction.event]));
        }
    }
}

/// When it was decided to evict a pod: when its node was tainted, if that was in the same drain.
fn decided(scene: &Scene<'_>, track: &Track<Pod>, eviction: &Eviction) -> Time {
    let time = |timer| scene.timer(timer).unwrap_or_default();
    let drain = time(Timer::DeleteDelayAfterTaint) + time(Timer::EvictionTime) + scene.slack();
    let node = track.at(eviction.began - TIE).and_then(|pod| scene.nodes.get(pod.node.as_deref()?));
    let taints = node.map(|node| node.spells(|node| node.has_taint(REMOVAL_TAINT))).unwrap_or_default();
    let taint = taints.into_iter().find(|spell| spell.covers(eviction.began));
    taint.map_or(eviction.began, |taint| taint.from.max(eviction.began - drain))
}

fn lost(scene: &Scene<'_>, tally: &mut Tally, blocks: &impl Fn(&Pod, Time) -> bool, because: &str) {
    for (back, name, _) in scene.removals() {
        let decided = scene.decided(back) - TIE;
        for (key, track) in scene.pods_on(name) {
            let blocked = |at: Time| track.at(at).is_some_and(|pod| pod.occupies(name) && blocks(pod, at));
            if blocked(decided) && blocked(back.began - TIE) {
                let shows = track.sight(decided).map(|seen| seen.event);
                let says = format!("the server of {name} was given back under {key}, {because}");
                tally.violated(says, shows.into_iter().chain([back.event]));
            }
        }
    }
}
