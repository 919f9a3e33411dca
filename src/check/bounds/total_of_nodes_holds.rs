//! MM-06. When a server that the subject has ordered comes into being, its servers that have a node or may still get one are
//! counted, and the nodes of others that were there for two loops. What came or went within a tie does not count.
//!
//! The subject is the whole cluster, at each order. Excused are nodes of others for two loops, which is what latency can do, and
//! servers that did not become nodes within the provision time.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  3 nodes, at most 3 in all
//! 10 s  POST /servers for pool small
//! 10 s  server 9 of pool small is there: 4 of 3
//! ```
//!
//! It does not catch orders that the cloud refused.

use std::collections::BTreeSet;
use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::{Scene, TIE};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Node, REMOVAL_TAINT, Track};
use crate::terms::{SubjectOption, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("MM-06"),
    promise: "With a limit on the nodes in all, no order goes beyond it",
    cite: &[flag!("--max-nodes-total")],
    level: Level::Must,
    kind: Kind::MinMax,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let Some(limit) =
        scene.option(SubjectOption::MaxNodesTotal).and_then(|limit| limit.parse::<usize>().ok())
    else {
        return Tally::default().verdict("the nodes were not limited in all");
    };
    let mut tally = Tally::default();
    for order in &scene.orders {
        let Some(id) = scene.server_of(order) else { continue };
        let Some(first) = scene.servers.get(&id).and_then(|track| track.first()) else { continue };
        tally.exercised();
        let total = others(&scene, first.at) + ours(&scene, first.at);
        if total > limit {
            let says = format!("server {id} made {total} nodes of at most {limit} in all");
            tally.violated(says, [order.event, first.event]);
        }
    }
    tally.verdict("nothing was ordered")
}

fn stays(node: &Node) -> bool {
    !node.ending && !node.has_taint(REMOVAL_TAINT)
}

/// The nodes at a moment that the subject did not order: those that were there for long enough to be known.
fn others(scene: &Scene<'_>, at: Time) -> usize {
    let bought = |name: &str| scene.under(name, at).is_some_and(|server| scene.order_of(server).is_some());
    let known = |track: &Track<Node>| track.always(at - scene.slack(), at + TIE, stays);
    scene.nodes.iter().filter(|(name, track)| !bought(name) && known(track)).count()
}

/// The servers at a moment that it did order, with nodes or young enough to get one.
fn ours(scene: &Scene<'_>, at: Time) -> usize {
    let provision = scene.timer(Timer::ProvisionTime).unwrap_or(Duration::MAX);
    let counts = |id: &u64| {
        let there = scene.servers.get(id).is_some_and(|track| track.at(at).is_some());
        let bare = scene.nodes_on(*id).all(|(_, track)| track.at(at - TIE).is_none());
        let young =
            scene.order_of(*id).is_some_and(|order| order.began <= at && at < order.began + provision);
        let in_use = || scene.nodes_on(*id).any(|(_, track)| track.always(at - TIE, at + TIE, stays));
        there && !scene.given_back(*id, at + TIE) && if bare { young } else { in_use() }
    };
    let bought: BTreeSet<u64> = scene.orders.iter().filter_map(|order| scene.server_of(order)).collect();
    bought.iter().filter(|id| counts(id)).count()
}
