//! HY-02. A server of which no node has come is given back once the provision time and the listing of
//! machines have passed; before the provision time only if its making took too long. A pool at its minimum
//! keeps it.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  POST /servers for pool small: server 7, which is running, and never becomes a node
//! 1200 s  it has not been given back
//! ```
//!
//! It does not catch servers of others.

use crate::check::scene::{Scene, TIE, timed};
use crate::check::{EVERYBODY, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Order;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("HY-02"),
    promise: "A server that never becomes a node is given back after the documented time, and not earlier",
    cite: &[
        faq!("How does scale-up work?", "how-does-scale-up-work"),
        flag!("--max-node-provision-time"),
        karpenter!("NodeClaims, Registration", "concepts/nodeclaims"),
    ],
    level: Level::Must,
    kind: Kind::Hygiene,
    providers: EVERYBODY,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ProvisionTime], |scene, [provision]| {
        // Only the cloud has an order that takes time.
        let creation = scene.timer(Timer::CreationTimeout).unwrap_or_default();
        let mut tally = Tally::default();
        for (order, id) in bought(scene) {
            let Some(pool) = scene.pool_of(id).and_then(|pool| scene.pool(pool)) else { continue };
            let until = order.ended + provision + scene.listing();
            let back = scene.give_backs.iter().find(|back| back.server == id);
            let over = back.map_or(until, |back| until.min(back.began));
            if scene.nodes_on(id).any(|(_, track)| track.first().is_some_and(|seen| seen.at <= over)) {
                continue;
            }
            let running = scene
                .servers
                .get(&id)
                .is_some_and(|track| track.ever(order.began, until, |server| server.status == "running"));
            match back.filter(|back| back.began <= until) {
                Some(back) if back.began + TIE < order.began + provision => {
                    let made_too_long = back.began <= order.began + creation + scene.slack();
                    if order.taken() && running && !made_too_long {
                        let says = format!(
                            "server {id} was given back {} s after its order",
                            (back.began - order.began).as_secs()
                        );
                        tally.violated(says, [order.event, back.event]);
                    }
                }
                Some(_) => tally.exercised(),
                None => {
                    let there = scene.servers.get(&id).is_some_and(|track| track.at(until).is_some());
                    let spare = scene.live(&pool.name, until).len() > pool.min as usize;
                    if there
                        && spare
                        && scene.free(order.ended + TIE + scene.slack() * 6, until)
                        && scene.watched(order.began, until)
                    {
                        tally.violated(
                            format!("server {id} never became a node, and was not given back"),
                            [order.event],
                        );
                    }
                }
            }
        }
        tally.verdict("every server that was ordered became a node")
    })
}

/// The servers that the subject has bought, with their orders.
fn bought<'s>(scene: &'s Scene<'_>) -> impl Iterator<Item = (&'s Order, u64)> {
    scene.orders.iter().filter_map(|order| Some((order, scene.server_of(order)?)))
}
