//! MM-08. A server of which no node ever came is not given back after the provision time if that leaves its
//! pool below the minimum.
//!
//! The subject is the server and its pool, at its give-back. It is excused by the flag, and by its own order's time for being
//! made. The pool must have been at its minimum for two loops, so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  POST /servers for pool small (minimum 1): server 7, which never becomes a node
//! 920 s  DELETE /servers/7
//! ```
//!
//! It does not catch servers that were not made in their time: these are cleared away as a part of their order. Nor does it
//! catch that one is given back where that is asked for.

use mock_clock::Time;

use crate::check::scene::{TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::{SubjectOption, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("MM-08"),
    promise: "Removing servers that never became nodes respects the minimum, unless it is asked for otherwise",
    cite: &[flag!("--force-delete-unregistered-nodes")],
    level: Level::Must,
    kind: Kind::MinMax,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ProvisionTime], |scene, [provision]| {
        let mut tally = Tally::default();
        if scene.is_on(SubjectOption::ForceDeleteUnregistered) {
            return tally.verdict("it was asked for otherwise");
        }
        for id in scene.servers.keys() {
            let came = scene.nodes_on(*id).filter_map(|(_, node)| node.first()).map(|seen| seen.at).min();
            let lacks_node = |at: Time| came.is_none_or(|came| came > at);
            let Some(pool) = scene.pool_of(*id).and_then(|pool| scene.pool(pool)) else { continue };
            let Some(first) = scene.servers.get(id).and_then(|track| track.first()) else { continue };
            let due = first.at + provision;
            let at_minimum = |at: Time| scene.live(&pool.name, at).len() <= pool.min as usize;
            let back = scene.give_backs.iter().find(|back| back.server == *id && back.taken());
            if let Some(back) = back.filter(|back| {
                back.began + TIE >= due
                    && !scene.order_of(*id).is_some_and(|order| scene.in_vain(order, back))
                    && lacks_node(back.began)
                    && at_minimum(back.began - TIE)
                    && at_minimum(back.began - scene.slack())
            }) {
                let says = format!("server {id} was given back, which left {} below its minimum", pool.name);
                tally.violated(says, [first.event, back.event]);
            }
            let until = due + scene.listing();
            if scene.servers.get(id).is_some_and(|track| track.at(until).is_some())
                && lacks_node(until)
                && at_minimum(until)
                && scene.watched(first.at, until)
            {
                tally.exercised();
            }
        }
        tally.verdict("no server at the minimum of its pool was without a node for long enough")
    })
}
