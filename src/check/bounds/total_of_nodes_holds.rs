//! MM-06. When a server that the subject has ordered comes into being, nodes and servers without a node are
//! counted. A node that came or went within a tie does not count.
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

use std::time::Duration;

use crate::check::scene::{Scene, TIE};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Node, REMOVAL_TAINT, Track};
use crate::terms::SubjectOption;

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
        let there = |track: &&Track<Node>| {
            track
                .always(first.at - TIE, first.at + TIE, |node| !node.ending && !node.has_taint(REMOVAL_TAINT))
        };
        let nodes = scene.nodes.values().filter(there).count();
        let coming = scene.upcoming(first.at + TIE, Duration::MAX).into_iter();
        let bare = coming.filter(|(order, id)| {
            order.began <= first.at
                && scene
                    .nodes_on(*id)
                    .next()
                    .is_none_or(|(_, track)| track.first().is_none_or(|seen| seen.at > first.at + TIE))
        });
        let total = nodes + bare.count();
        if total > limit {
            let says = format!("server {id} made {total} nodes of at most {limit} in all");
            tally.violated(says, [order.event, first.event]);
        }
    }
    tally.verdict("nothing was ordered")
}
