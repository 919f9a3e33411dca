//! HY-04. A server that was made (it runs, or waits to be switched on and nobody has asked for that) by more than a tie before
//! its creation timeout is not given back at that timeout, unless its node was being removed, or it has none and the provision
//! time is no longer than the timeout. The subject of the promise is the single server; it is judged once, at its timeout.
//! Nothing else excuses it; latency cannot, as it has to have been made two seconds before.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  POST /servers for pool small: server 7
//! 260 s  server 7 is running
//! 300 s  DELETE /servers/7
//! ```
//!
//! It does not catch servers that are given back at another time: that is HY-02.

use crate::check::making::switched_on;
use crate::check::scene::{TIE, timed};
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{GiveBack, Node, REMOVAL_TAINT, Server};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("HY-04"),
    promise: "A server that was made before the creation timeout is kept",
    cite: &[thread!(8013)],
    level: Level::Should,
    kind: Kind::Hygiene,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::CreationTimeout, Timer::ProvisionTime], |scene, [creation, provision]| {
        let mut tally = Tally::default();
        for order in scene.orders.iter().filter(|order| order.taken()) {
            let Some((id, track)) = scene.server_of(order).and_then(|id| Some((id, scene.servers.get(&id)?)))
            else {
                continue;
            };
            let timeout = order.began + creation;
            let switched_on = switched_on(history, id, timeout);
            let is_made =
                |server: &Server| server.status == "running" || (server.status == "off" && !switched_on);
            let Some(made) = track.spells(is_made).first().copied() else { continue };
            // Who never registers goes when the provision time is over.
            let unregistered = scene.registered(id).is_none_or(|at| at > timeout);
            if made.from + TIE * 2 >= timeout || (unregistered && creation >= provision) {
                continue;
            }
            let at_timeout = |back: &&GiveBack| {
                back.server == id && back.began + TIE >= timeout && back.began <= timeout + scene.slack()
            };
            let removed = |back: &&GiveBack| {
                let tainted = |node: &Node| node.has_taint(REMOVAL_TAINT);
                scene.nodes_on(id).any(|(_, node)| node.ever(order.began, back.began, tainted))
            };
            if let Some(back) = scene.give_backs.iter().find(at_timeout).filter(|back| !removed(back)) {
                let says = format!(
                    "server {id} had been made {} s after its order, and was given back",
                    (made.from - order.began).as_secs()
                );
                tally.violated(says, [order.event, made.began, back.event]);
            } else if scene.watched(order.began, timeout + scene.slack()) {
                tally.exercised();
            }
        }
        tally.verdict("no server was made before its timeout")
    })
}
