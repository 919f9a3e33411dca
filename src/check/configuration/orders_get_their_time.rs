//! CF-02. A server that is still being made, and of whose making the last answer of the cloud said so, is
//! not given back before the creation timeout.
//!
//! The subject is the order, by what was told of its own making, judged once. Excused is a look at it that failed or told of a
//! failure, and any other call for its server that went wrong. A second is granted.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  POST /servers for pool small: server 7, which stays initializing
//!  60 s  GET /actions: running
//! 120 s  DELETE /servers/7
//! ```
//!
//! It does not catch what is given up while the answers of the cloud are not in the history.

use std::time::Duration;

use crate::check::making::looks;
use crate::check::scene::{TIE, timed, went_wrong};
use crate::check::{Citation, Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::query::{GiveBack, Order};
use crate::history::{History, What};
use crate::terms::{Api, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("CF-02"),
    promise: "An order is given as much time as the creation timeout says",
    cite: &[
        Citation {
            where_: "kube-hetzner, cluster_autoscaler_server_creation_timeout",
            url: "https://github.com/kube-hetzner/terraform-hcloud-kube-hetzner/blob/master/kube.tf.example",
        },
        thread!(4345),
    ],
    level: Level::Must,
    kind: Kind::Config,
    providers: HETZNER,
    versions: Versions::ALL,
    always: false,
    check,
};

/// Without the setting an order would be given up after it.
const DEFAULT: Duration = Duration::from_secs(300);

fn check(history: &History) -> Verdict {
    timed(history, [Timer::CreationTimeout], |scene, [creation]| {
        let mut tally = Tally::default();
        for order in scene.orders.iter().filter(|order| order.taken()) {
            let Some((id, track)) = scene.server_of(order).and_then(|id| Some((id, scene.servers.get(&id)?)))
            else {
                continue;
            };
            let timeout = order.began + creation;
            let Some(back) = scene.give_backs.iter().find(|back| back.server == id) else {
                let made = track.spells(|server| server.status == "running").first().map(|spell| spell.from);
                if made.is_some_and(|made| order.began + DEFAULT + TIE < made && made <= timeout) {
                    tally.exercised();
                }
                continue;
            };
            let unmade = !track.ever(order.began, back.began + TIE, |server| server.status == "running");
            let early = back.began + TIE < timeout;
            if unmade
                && early
                && scene.watched(order.began, back.began)
                && still_running(history, order, id, back)
            {
                let says = format!(
                    "server {id} was given up {} s after its order",
                    (back.began - order.began).as_secs()
                );
                tally.violated(says, [order.event, back.event]);
            } else if unmade && !early {
                tally.exercised();
            }
        }
        tally.verdict("no order took longer than the creation timeout, or than its default")
    })
}

/// Whether its making was looked at, and whenever it was, went on, and nothing else that was done to a server went wrong.
fn still_running(history: &History, order: &Order, server: u64, back: &GiveBack) -> bool {
    let looks = looks(history, order);
    let mut before = looks.iter().filter(|look| look.event < back.event).peekable();
    let done_to = format!("/servers/{server}/actions/");
    let trouble = history.events[order.event..back.event].iter().any(|event| match &event.what {
        What::Call(call) => call.to == Api::Cloud && call.path.contains(&done_to) && went_wrong(call),
        _ => false,
    });
    before.peek().is_some() && !trouble && before.all(|look| !look.failed && !look.bad_news)
}
