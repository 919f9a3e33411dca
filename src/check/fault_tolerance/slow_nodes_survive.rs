//! FT-17. The server of a node that names it and has never been ready is not given back before the startup
//! time has passed since the node came; unless the server itself was never made.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  small-a registers, and is not ready
//! 200 s  DELETE of the server of small-a
//! ```
//!
//! It does not catch replacements that are ordered meanwhile: that is SU-02.

use crate::check::scene::{TIE, timed};
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-17"),
    promise: "A node that registers and is slow to become ready, within its startup time, is not removed",
    cite: &[faq!("How does scale-up work?", "how-does-scale-up-work"), flag!("--max-node-startup-time")],
    level: Level::Must,
    kind: Kind::FaultTolerance,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::StartupTime], |scene, [startup]| {
        let mut tally = Tally::default();
        for order in scene.orders.iter().filter(|order| order.taken()) {
            let Some(id) = scene.server_of(order) else { continue };
            let Some(registered) = scene.registered(id) else { continue };
            let ready = scene.ready(id);
            let made = scene.servers.get(&id).is_some_and(|track| {
                track.ever(order.began, registered + startup, |server| server.status == "running")
            });
            let early = scene.give_backs.iter().find(|back| {
                let before = ready.is_none_or(|ready| ready > back.began + TIE);
                back.server == id
                    && before
                    && back.began > registered + TIE
                    && back.began + TIE < registered + startup
            });
            if let Some(back) = early.filter(|_| made) {
                let says = format!(
                    "server {id} was given back {} s after its node had come",
                    (back.began - registered).as_secs()
                );
                tally.violated(says, [order.event, back.event]);
            } else if ready.is_none_or(|ready| ready > registered + scene.slack())
                && scene.watched(registered, registered + scene.slack())
            {
                tally.exercised();
            }
        }
        tally.verdict("no node was slow to become ready")
    })
}
