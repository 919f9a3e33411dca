//! HY-03. A server that is not running within the creation timeout is given back within two loops after it,
//! if its process still runs; and the next order in its pool waits for the initial back-off.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  POST /servers for pool small: server 7, which stays initializing
//! 330 s  it has not been given back
//! ```
//!
//! It does not catch orders that fail at once.

use crate::check::making::switched_on;
use crate::check::scene::{TIE, timed};
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Order, Server};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("HY-03"),
    promise: "An order that takes the cloud longer than the creation timeout is given back then, and not left",
    cite: &[thread!(5757), thread!(8013)],
    level: Level::Should,
    kind: Kind::Hygiene,
    providers: HETZNER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::CreationTimeout, Timer::BackoffInitial], |scene, [creation, backoff]| {
        let mut tally = Tally::default();
        for order in scene.orders.iter().filter(|order| order.taken()) {
            let Some((id, track)) = scene.server_of(order).and_then(|id| Some((id, scene.servers.get(&id)?)))
            else {
                continue;
            };
            let until = order.ended + creation + scene.slack();
            let switched_on = switched_on(history, id, until);
            // One that is off waits to be switched on: that is HY-04.
            let made = |server: &Server| {
                server.status == "running" || (server.status == "off" && !switched_on)
            };
            let back = scene.give_backs.iter().find(|back| back.server == id && back.began <= until);
            let failed_before = back.is_some_and(|back| back.began + TIE * 2 < order.began + creation);
            if failed_before || track.ever(order.began, until, made) || !scene.watched(order.began, until) {
                continue;
            }
            let gone = track.seen.iter().any(|seen| seen.state.is_none() && seen.at <= until);
            match back {
                None if !gone && scene.calm(order.ended + TIE, until) => {
                    tally.violated(format!("server {id} was never made, and not given back"), [order.event]);
                }
                None => {}
                Some(back) => {
                    tally.exercised();
                    let soon = |other: &&Order| {
                        other.pool == order.pool
                            && other.began > back.began + TIE
                            && other.began + scene.slack() < back.began + backoff
                    };
                    if let Some(next) =
                        scene.orders.iter().find(soon).filter(|next| scene.watched(order.began, next.began))
                    {
                        tally.violated(
                            format!("{} was ordered in the back-off after server {id}", next.name),
                            [back.event, next.event],
                        );
                    }
                }
            }
        }
        tally.verdict("no order took longer than the creation timeout")
    })
}
