//! HY-03. A server that is not running within the creation timeout is given back within two loops after it. The subject of the
//! promise is the server; it is judged once, for what is left then HY-02 judges. Excused is a subject that did not run, or was
//! refused something meanwhile. One that waits to be switched on is HY-04's, and what was given back before its time has
//! failed otherwise.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  POST /servers for pool small: server 7, which stays initializing
//! 330 s  it has not been given back
//! ```
//!
//! It does not catch orders that fail at once, nor what is ordered afterwards: that is HY-11.

use std::time::Duration;

use mock_clock::Time;

use crate::check::making::switched_on;
use crate::check::scene::{Scene, TIE, timed};
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{GiveBack, Order, Server};
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
    timed(history, [Timer::CreationTimeout], |scene, [creation]| {
        let mut tally = Tally::default();
        for slow in slow_orders(scene, creation) {
            let gone = scene.servers[&slow.server].at(slow.until).is_none();
            if slow.back.is_some() {
                tally.exercised();
            } else if !gone && scene.calm(slow.order.ended + TIE, slow.until) {
                let says = format!("server {} was never made, and not given back", slow.server);
                tally.violated(says, [slow.order.event]);
            }
        }
        tally.verdict("no order took longer than the creation timeout")
    })
}

/// An order that took the cloud longer than the creation timeout.
pub(super) struct SlowOrder<'s> {
    pub(super) order: &'s Order,
    server: u64,
    /// By when it was to be given back.
    until: Time,
    /// The give-back that came in time.
    pub(super) back: Option<&'s GiveBack>,
}

/// All of them.
pub(super) fn slow_orders<'s>(scene: &'s Scene<'_>, creation: Duration) -> Vec<SlowOrder<'s>> {
    let slow = |order: &'s Order| {
        let server = scene.server_of(order)?;
        let until = order.ended + creation + scene.slack();
        let switched_on = switched_on(scene.history, server, until);
        let made = |it: &Server| it.status == "running" || (it.status == "off" && !switched_on);
        let back = scene.give_backs.iter().find(|back| back.server == server && back.began <= until);
        let before = back.is_some_and(|back| back.began + TIE * 2 < order.began + creation);
        let made = scene.servers.get(&server)?.ever(order.began, until, made);
        let slow = order.taken() && !before && !made && scene.watched(order.began, until);
        slow.then_some(SlowOrder { order, server, until, back })
    };
    scene.orders.iter().filter_map(slow).collect()
}
