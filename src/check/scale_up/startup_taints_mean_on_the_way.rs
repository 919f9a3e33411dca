//! SU-14. While nodes of a pool that are ready, have nothing on them and carry a startup taint suffice, together with what is on
//! its way, for the pods that wait, nothing more is ordered there; until their startup time is over. And as SU-01, for pods
//! that wait while a node with room for them carries a status taint: it is no room.
//!
//! The subject of the first half is each order and the pods that its pool may take, judged once; of the second the single pod, as
//! long as it waits. Excused is an order that fills a minimum, and whatever excuses SU-01. A startup taint counts once it has
//! been there for two loops, so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  small-a is ready, with the taint startup-taint.cluster-autoscaler.kubernetes.io/agent; pod web-1 waits for it
//! 60 s  POST /servers for pool small
//! ```
//!
//! It does not catch taints that only the flag --startup-taint or --status-taint names.

use std::time::Duration;

use crate::check::causes::{candidates, fills_minimum, first_attempts};
use crate::check::fit::{STARTUP_TAINT, STATUS_TAINT, fit, need};
use crate::check::reaction::{has_barred_room, reactions_while};
use crate::check::scene::{Scene, TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Node, Order, Pod, Track};
use crate::terms::{Pool, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-14"),
    promise: "A node with a startup taint is on its way and no reason for another; one with a status taint is no room",
    cite: &[faq!("Startup taints", "startup-taints"), faq!("Status taints", "status-taints")],
    level: Level::Must,
    kind: Kind::ScaleUp,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime, Timer::StartupTime], |scene, [reaction, startup]| {
        let out_of_service = |node: &Node| tainted(node, STATUS_TAINT);
        let mut tally = reactions_while(scene, reaction, |pod, at| {
            has_barred_room(scene, pod, at, STATUS_TAINT, out_of_service)
        });
        for order in first_attempts(scene) {
            let Some(pool) = order.pool.as_deref().and_then(|pool| scene.pool(pool)) else { continue };
            if let Some(shows) = superfluous(scene, order, pool, startup) {
                let says = format!("{} was ordered, though nodes with a startup taint sufficed", order.name);
                tally.violated(says, shows.into_iter().chain([order.event]));
            }
        }
        for (name, track) in &scene.nodes {
            for spell in track.spells(|node| node.ready && tainted(node, STARTUP_TAINT)) {
                let until = spell.from + scene.slack() * 2;
                let pool = scene.pool_of_node(name, spell.from).and_then(|pool| scene.pool(pool));
                let waits = |track: &Track<Pod>| {
                    let pod = track.at(until).filter(|_| track.always(spell.from, until, Pod::waits));
                    pod.zip(pool).is_some_and(|(pod, pool)| !fit(scene, pod, pool).impossible())
                };
                if spell.spans(spell.from, until)
                    && scene.watched(spell.from, until)
                    && scene.pods.values().any(waits)
                {
                    tally.exercised();
                }
            }
        }
        tally.verdict("no pod waited while a ready node had a startup taint or a status taint")
    })
}

fn tainted(node: &Node, prefix: &str) -> bool {
    node.taints.iter().any(|taint| taint.key.starts_with(prefix))
}

/// If an order is one too many for the pods that wait because of nodes with a startup taint: the events that show these.
fn superfluous(scene: &Scene<'_>, order: &Order, pool: &Pool, startup: Duration) -> Option<Vec<usize>> {
    let waiting = candidates(scene, order, pool);
    let pods: Vec<&Pod> = waiting.iter().map(|(pod, _)| *pod).collect();
    let since = order.began - scene.slack();
    let starting = scene.nodes.iter().filter(|(name, track)| {
        let starts = track.always(since, order.began + TIE, |node| {
            node.ready && !node.unschedulable && !node.ending && tainted(node, STARTUP_TAINT)
        });
        let young = track.first().is_some_and(|seen| order.began < seen.at + startup);
        let ours = scene.pool_of_node(name, order.began) == Some(pool.name.as_str());
        starts && young && ours && scene.occupants(name, order.began).is_empty()
    });
    let shows: Vec<usize> = starting.filter_map(|(_, track)| Some(track.sight(order.began)?.event)).collect();
    let upcoming = scene.upcoming(order.began, startup).into_iter();
    let coming = upcoming.filter(|(other, _)| other.pool == order.pool).count();
    let suffices = !pods.is_empty()
        && !shows.is_empty()
        && shows.len() + coming >= need(scene, &pods, pool).max(1)
        && !fills_minimum(scene, order, pool);
    suffices.then_some(shows)
}
