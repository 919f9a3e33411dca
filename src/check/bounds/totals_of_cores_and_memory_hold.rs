//! MM-07. With a limit on cores or memory in all, no server is ordered with which the nodes of no pool and the servers of the
//! pools have more than it. Counted is what they have for pods, which is never more than what they have.
//!
//! The subject is the whole cluster, at each order. Excused is what came by others within the age of the view and two loops; that
//! is what latency can do.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  at most 9 cores; a node of no pool has 2, server 7 of pool small has 4
//! 10 s  POST /servers for pool small: server 8, with 4 more
//! ```
//!
//! It does not catch minima, nor an excess that only what is kept from pods makes up.

use mock_clock::Time;

use crate::check::scene::{Scene, TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::REMOVAL_TAINT;
use crate::terms::{Room, SubjectOption, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("MM-07"),
    promise: "With a limit on cores or memory in all, no order goes beyond it",
    cite: &[flag!("--cores-total"), flag!("--memory-total")],
    level: Level::Must,
    kind: Kind::MinMax,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::CloudCache], |scene, [cache]| {
        let (cores, gibibytes) =
            (most(scene, SubjectOption::CoresTotal), most(scene, SubjectOption::MemoryTotal));
        let mut tally = Tally::default();
        if cores.is_none() && gibibytes.is_none() {
            return tally.verdict("neither cores nor memory were limited in all");
        }
        for order in &scene.orders {
            let Some(id) = scene.server_of(order) else { continue };
            let Some(first) = scene.servers.get(&id).and_then(|track| track.first()) else { continue };
            tally.exercised();
            let all = total(scene, first.at, first.at - cache - scene.slack());
            let too_much = [
                cores.filter(|most| all.cpu_milli > most * 1000).map(|most| format!("{most} cores")),
                gibibytes.filter(|most| all.memory_mib > most * 1024).map(|most| format!("{most} GiB")),
            ];
            if let Some(limit) = too_much.into_iter().flatten().next() {
                let says = format!("server {id} was ordered beyond the limit of {limit} in all");
                tally.violated(says, [order.event, first.event]);
            }
        }
        tally.verdict("nothing was ordered")
    })
}

/// The maximum of a limit that is written as `min:max`.
fn most(scene: &Scene<'_>, limit: SubjectOption) -> Option<u64> {
    scene.option(limit)?.split_once(':')?.1.parse().ok()
}

/// What all have at a moment, at least: nodes of no pool that are known for long enough, and servers of pools that are, or that
/// the subject ordered itself.
fn total(scene: &Scene<'_>, at: Time, known: Time) -> Room {
    let foreign = scene.nodes.iter().filter(|(name, track)| {
        scene.pool_of_node(name, at).is_none() && track.always(known, at, |node| !node.ending)
    });
    let foreign = foreign.filter_map(|(_, track)| Some(track.at(at)?.room));
    let ours = scene.pools().iter().flat_map(|pool| {
        let servers = scene.live(&pool.name, at).into_iter().filter(|id| {
            let old =
                scene.servers.get(id).and_then(|track| track.first()).is_some_and(|seen| seen.at < known);
            let going = scene
                .nodes_on(*id)
                .any(|(_, track)| track.ever(at - TIE, at + TIE, |node| node.has_taint(REMOVAL_TAINT)));
            (old || scene.order_of(*id).is_some()) && !going
        });
        servers.map(|_| pool.room).collect::<Vec<_>>()
    });
    foreign.chain(ours).sum()
}
