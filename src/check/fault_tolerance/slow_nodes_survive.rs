//! FT-17. The server of a node that names it and has never been ready is not given back before the startup time has passed since
//! the node came; unless the server itself was never made. While it is on its way nothing is ordered for pods for which it
//! suffices. The subject of the promise is the single server, and each order after it for pods that its pool takes. Neither
//! restart nor fault excuses a give-back; who is misled by lists is judged by FT-20. It is no matter of latency: the startup
//! time is long.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  small-a registers, and is not ready
//! 200 s  DELETE of the server of small-a
//! ```
//!
//! It does not catch replacements in another pool.

use crate::check::causes::{first_attempts, one_too_many};
use crate::check::scene::{TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Order;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-17"),
    promise: "A node that registers and is slow to become ready, within its startup time, is neither removed nor replaced",
    cite: &[faq!("How does scale-up work?", "how-does-scale-up-work"), flag!("--max-node-startup-time")],
    level: Level::Must,
    kind: Kind::FaultTolerance,
    providers: CLUSTER_AUTOSCALER,
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
        let knew = |order: &&Order| order.taken() && !scene.misled(order.began, order.began);
        for order in first_attempts(scene).filter(knew) {
            let Some(pool) = order.pool.as_deref().and_then(|pool| scene.pool(pool)) else { continue };
            let slow = |other: &&&Order| {
                let registered = scene.server_of(other).and_then(|id| scene.registered(id));
                registered.is_some_and(|at| at + TIE < order.began)
            };
            let coming = one_too_many(scene, order, pool, startup).unwrap_or_default();
            if let Some(other) = coming.iter().find(slow) {
                let says = format!("{} was ordered, as {} was slow to become ready", order.name, other.name);
                tally.violated(says, [other.event, order.event]);
            }
        }
        tally.verdict("no node was slow to become ready")
    })
}
