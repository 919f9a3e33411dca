//! FT-10. An order, a give-back, an eviction or a write of a node by a replica convicts if another one had held the lease for
//! longer than the time in which a leader must notice. The subject of the promise is the single replica; each deed is judged.
//! Granted are the time of the lease and two loops, and the moment in which a stopped replica goes on. Other faults excuse
//! nothing.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  the lease is held by ca-1
//! 60 s  replica 0, whose host is ca-0, calls DELETE /servers/7
//! ```
//!
//! It does not catch replicas that share a host name.

use std::collections::BTreeSet;

use crate::check::scene::{Scene, TIE};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::{History, query};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-10"),
    promise: "Of several replicas only the one that holds the lease acts",
    cite: &[flag!("--leader-elect")],
    level: Level::Must,
    kind: Kind::FaultTolerance,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let (hosts, leases) = (query::hosts(history), query::leader_lease(history, "cluster-autoscaler"));
    let names: BTreeSet<&String> = hosts.values().collect();
    let Some(lease) = leases.values().next().filter(|_| hosts.len() > 1 && names.len() == hosts.len()) else {
        return Tally::default().verdict("there were no replicas of different hosts with a lease");
    };
    let grace = scene.timer(Timer::LeaseDuration).unwrap_or_default() + scene.slack();
    let writes = query::node_writes(history);
    let deeds = scene
        .orders
        .iter()
        .map(|order| (order.began, order.event, order.replica))
        .chain(scene.give_backs.iter().map(|back| (back.began, back.event, back.replica)))
        .chain(scene.evictions.iter().map(|eviction| (eviction.began, eviction.event, eviction.replica)))
        .chain(writes.iter().map(|write| (write.began, write.event, write.replica)));
    let mut tally = Tally::default();
    let resumed = query::resumptions(history);
    for (at, event, replica) in deeds {
        // What was on its way when it was stopped comes when it goes on.
        if resumed.iter().any(|(then, other)| *other == replica && *then <= at && at <= *then + TIE * 2) {
            continue;
        }
        let Some(own) = hosts.get(&replica) else { continue };
        tally.exercised();
        let foreign = lease.spells(|lease| names.contains(&lease.holder) && lease.holder != *own);
        if let Some(spell) = foreign.iter().find(|spell| spell.spans(at - grace, at)) {
            tally.violated(format!("replica {replica} acted though it did not lead"), [spell.began, event]);
        }
    }
    tally.verdict("no replica did anything")
}
