//! SF-05. A node with nothing but pods of kube-system that are freed in one of the three ways, and that fit
//! together into what is free on another ready node, is given back once that has lasted for the unneeded
//! time, the recheck and the drain.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  metrics-server, safe to evict, runs alone on small-a; small-b has room for it
//! 2000 s  nothing has been given back
//! ```
//!
//! It does not catch pods that would fit only in parts, or on a node with taints.

use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::{Scene, timed};
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Budget, GiveBack, Mount, Pod};
use crate::terms::{SubjectOption, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-05"),
    promise: "A pod of kube-system no longer keeps its node once it is freed: by a disruption budget, by annotation, or by flag",
    cite: &[
        faq!(
            "How to set PDBs to enable CA to move kube-system pods?",
            "how-to-set-pdbs-to-enable-ca-to-move-kube-system-pods"
        ),
        faq!(
            "What types of pods can prevent CA from removing a node?",
            "what-types-of-pods-can-prevent-ca-from-removing-a-node"
        ),
        flag!("--skip-nodes-with-system-pods"),
    ],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: HETZNER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::UnneededTime, Timer::UnremovableRecheck, Timer::EvictionTime], |scene, timers| {
        let lasting: Duration = timers.iter().sum();
        let mut tally = Tally::default();
        for (name, track) in &scene.nodes {
            for spell in track.spells(|node| node.ready) {
                for from in scene.changes_on(name, spell.from, spell.to.unwrap_or(scene.end)) {
                    let Some(from) = scene.awake_from(from, scene.end) else { continue };
                    let until = from
                        + lasting
                        + scene.slack() * 2
                        + scene.timer(Timer::DelayAfterAdd).unwrap_or_default();
                    if freed_alone(scene, name, from) && spell.covers(from) {
                        decide(scene, &mut tally, name, from, until);
                    }
                }
            }
        }
        tally.verdict("no node had nothing on it but freed pods of kube-system that fit elsewhere")
    })
}

fn decide(scene: &Scene<'_>, tally: &mut Tally, node: &str, from: Time, until: Time) {
    let Some(server) = scene.under(node, from) else { return };
    let asked = |back: &GiveBack| back.server == server && back.began >= from && back.began <= until;
    if let Some(pool) = scene.pool_of_node(node, from).and_then(|pool| scene.pool(pool)) {
        if scene.give_backs.iter().any(asked) {
            tally.exercised();
            return;
        }
        let steady = scene.changes_on(node, from, until).into_iter().all(|at| freed_alone(scene, node, at));
        let spare = scene.live(&pool.name, from).len() > pool.min as usize;
        let ordered = scene.orders.iter().any(|order| order.began >= from && order.began <= until);
        if steady && spare && !ordered && scene.calm(from, until) && room_elsewhere(scene, node, from, until)
        {
            let shows =
                scene.pods_on(node).filter_map(|(_, pod)| pod.sight(from)).map(|seen| seen.event).max();
            tally.violated(format!("{node} was kept by pods of kube-system that are free to go"), shows);
        }
    }
}

/// Whether there are pods on a node, and all of them are of kube-system and freed.
fn freed_alone(scene: &Scene<'_>, node: &str, at: Time) -> bool {
    let pods = scene.occupants(node, at);
    let freed = |pod: &Pod| {
        let annotated = pod.safe_to_evict() == Some(true);
        let allows =
            |budget: &Budget| budget.covers(pod) && budget.allowed.is_some_and(|allowed| allowed > 0);
        let budget = scene.budgets.values().any(|track| track.at(at).is_some_and(allows));
        let flag = scene.is_off(SubjectOption::SkipNodesWithSystemPods);
        let local = pod.volumes.values().any(|mount| *mount == Mount::Local);
        let strict = scene
            .budgets
            .values()
            .any(|track| track.at(at).is_some_and(|b| b.obscure || (b.covers(pod) && !allows(b))));
        !strict && !pod.picky && pod.owner.is_some() && (annotated || ((budget || flag) && !local))
    };
    !pods.is_empty()
        && pods.iter().all(|pod| pod.namespace == "kube-system" && freed(pod))
        && scene
            .nodes
            .get(node)
            .and_then(|track| track.at(at))
            .is_some_and(|state| !scene.well_used(node, state, at))
}

/// Whether another node without taints had room for all pods of a node all the time.
fn room_elsewhere(scene: &Scene<'_>, node: &str, from: Time, until: Time) -> bool {
    let asked = scene.asked_of(node, from);
    let picky = scene.occupants(node, from).iter().any(|pod| !pod.selector.is_empty() || pod.apart);
    let resident = scene.residents;
    !picky
        && scene.nodes.iter().filter(|(other, _)| *other != node).any(|(other, track)| {
            let mut moments = scene.changes_on(other, from, until).into_iter();
            moments.all(|at| {
                let used = scene.asked_of(other, at);
                track.at(at).is_some_and(|state| {
                    state.takes_pods()
                        && used.cpu_milli + asked.cpu_milli + resident.cpu_milli <= state.room.cpu_milli
                        && used.memory_mib + asked.memory_mib + resident.memory_mib <= state.room.memory_mib
                })
            })
        })
}
