//! HY-02. A server of which no node has come is given back once the provision time and the listing of machines have passed;
//! before the provision time only if its making took too long. A pool at its minimum keeps it. The subject of the promise is the
//! single server. As long as it is there it is judged again: after a time in which the subject did not run or was refused
//! something, which begins the provision time anew, and after one in which it stood in an order or the cloud refused to take the
//! server. What is refused of orders excuses nothing. The listing is longer than any latency.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  POST /servers for pool small: server 7, which is running, and never becomes a node
//! 1200 s  it has not been given back
//! ```
//!
//! It does not catch servers of others.

use std::time::Duration;

use crate::check::scene::{Scene, TIE, timed};
use crate::check::unregistered::{Fate, fate};
use crate::check::{EVERYBODY, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{GiveBack, Order, Server};
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
            let early = |back: &&GiveBack| back.server == id && back.began + TIE < order.began + provision;
            if let Some(back) = scene.give_backs.iter().find(early) {
                too_early(scene, &mut tally, (order, id), back, creation);
                if back.taken() {
                    continue;
                }
            }
            match fate(scene, id, order.ended, provision) {
                Fate::GivenBack => tally.exercised(),
                Fate::Left => {
                    let says = format!("server {id} never became a node, and was not given back");
                    tally.violated(says, [order.event]);
                }
                Fate::Node | Fate::Gone | Fate::Untold => {}
            }
        }
        tally.verdict("every server that was ordered became a node")
    })
}

/// Judges a give-back before the provision time: before a node had come, only what took too long to be made may go.
fn too_early(
    scene: &Scene<'_>,
    tally: &mut Tally,
    (order, id): (&Order, u64),
    back: &GiveBack,
    creation: Duration,
) {
    let came = scene.nodes_on(id).any(|(_, track)| track.first().is_some_and(|seen| seen.at <= back.began));
    let running = |server: &Server| server.status == "running";
    let made = scene.servers.get(&id).is_some_and(|track| track.ever(order.began, back.began, running));
    let made_too_long = back.began <= order.began + creation + scene.slack();
    if order.taken() && made && !came && !made_too_long {
        let after = (back.began - order.began).as_secs();
        let says = format!("server {id} was given back {after} s after its order");
        tally.violated(says, [order.event, back.event]);
    }
}

/// The servers that the subject has bought, with their orders.
fn bought<'s>(scene: &'s Scene<'_>) -> impl Iterator<Item = (&'s Order, u64)> {
    scene.orders.iter().filter_map(|order| Some((order, scene.server_of(order)?)))
}
