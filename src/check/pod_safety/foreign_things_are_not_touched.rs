//! SF-14. No server without the label of one of the pools is given back, no pod on a node of no pool is evicted, and no such
//! node gets a taint of the subject. Put to the test wherever there is one while the subject runs for as long as a removal
//! takes. The subject of the promise is the single server, pod or node; each deed is judged, whatever came of it. A node that
//! ever was of a pool is not foreign. Nothing excuses it; a taint is the subject's if it came while the subject wrote the node.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  server 5 has no label of a pool
//! 10 s  DELETE /servers/5
//! ```
//!
//! It does not catch reading, and taints that the subject only takes away.

use crate::check::scene::{Scene, TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::query::{CANDIDATE_TAINT, REMOVAL_TAINT};
use crate::history::{History, query};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-14"),
    promise: "Servers and nodes outside the pools are never touched",
    cite: &[
        faq!(
            "I have a couple of pending pods, but there was no scale-up?",
            "i-have-a-couple-of-pending-pods-but-there-was-no-scale-up"
        ),
        thread!(6716),
    ],
    level: Level::Must,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::UnneededTime], |scene, [unneeded]| {
        let mut tally = Tally::default();
        for back in &scene.give_backs {
            let Some(server) = scene.servers.get(&back.server).and_then(|track| track.first()) else {
                continue;
            };
            if foreign_server(scene, back.server) {
                tally.violated(
                    format!("server {} of no pool was given back", back.server),
                    [server.event, back.event],
                );
            }
        }
        for eviction in &scene.evictions {
            let pod = scene.pods.get(&eviction.pod).and_then(|track| track.at(eviction.began - TIE));
            if let Some(node) =
                pod.and_then(|pod| pod.node.as_deref()).filter(|node| foreign_node(scene, node))
            {
                tally.violated(
                    format!("{} was evicted from {node}, which is of no pool", eviction.pod),
                    [eviction.event],
                );
            }
        }
        let writes = query::node_writes(history);
        for (name, track) in scene.nodes.iter().filter(|(name, _)| foreign_node(scene, name)) {
            let spells = [REMOVAL_TAINT, CANDIDATE_TAINT].map(|key| track.spells(|node| node.has_taint(key)));
            for spell in spells.into_iter().flatten() {
                // Whoever else writes the taint does not do it while the subject writes.
                let wrote = |write: &&query::NodeWrite| {
                    let ended = history.events[write.event].at;
                    write.node == *name && write.began <= spell.from + TIE && spell.from <= ended + TIE
                };
                if let Some(write) = writes.iter().find(wrote) {
                    tally.violated(
                        format!("{name}, which is of no pool, was tainted"),
                        [write.event, spell.began],
                    );
                }
            }
            let from = track.first().map_or(scene.end, |seen| seen.at);
            if let Some(awake) = scene.awake_from(from, scene.end)
                && scene.watched(awake, awake + unneeded)
            {
                tally.exercised();
            }
        }
        for (_, track) in scene.servers.iter().filter(|(id, _)| foreign_server(scene, **id)) {
            let from = track.first().map_or(scene.end, |seen| seen.at);
            if let Some(awake) = scene.awake_from(from, scene.end)
                && scene.watched(awake, awake + unneeded)
            {
                tally.exercised();
            }
        }
        tally.verdict("there was nothing outside the pools for long enough")
    })
}

fn foreign_server(scene: &Scene<'_>, id: u64) -> bool {
    scene.servers.contains_key(&id)
        && scene.pool_of(id).is_none_or(|pool| scene.pool(pool).is_none())
        && scene.order_of(id).is_none()
}

/// A node that never was on a server of a pool, nor says by its label that it is of one.
fn foreign_node(scene: &Scene<'_>, name: &str) -> bool {
    let Some(track) = scene.nodes.get(name) else { return false };
    track.seen.iter().filter_map(|seen| Some((seen.at, seen.state.as_ref()?))).all(|(at, node)| {
        let labelled = node.labels.get(query::POOL_LABEL).is_some_and(|pool| scene.pool(pool).is_some());
        !labelled && scene.under(name, at).is_none_or(|id| foreign_server(scene, id))
    })
}
