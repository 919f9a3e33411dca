//! FT-08. A server that the cloud made for an order whose answer never came is registered, given back or gone once the provision
//! time and the listing of machines have passed; a pool at its minimum keeps it. And while it is on its way, nothing more is
//! ordered in its pool once one server more than the waiting pods need is on its way. The subjects of the promise are the single
//! server, judged as in HY-02 and as long as it is there, and each later order, for pods that its pool takes. Who is misled by
//! lists besides cannot know. One server more than needed is granted to who is not answered.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  POST /servers for pool small: server 7, and no answer
//! 1200 s  server 7 has no node, and has not been given back
//! ```
//!
//! It does not catch what is ordered in other pools instead: they do not count what the subject cannot know of.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::check::causes::{candidates, fills_minimum, first_attempts, knew_of};
use crate::check::fit::need;
use crate::check::scene::{Scene, TIE, timed};
use crate::check::unregistered::{Fate, fate};
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Order, Pod};
use crate::terms::{Pool, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-08"),
    promise: "A server whose order was carried out and never answered is used or given back, and not bought again and again",
    cite: &[faq!("How does scale-up work?", "how-does-scale-up-work"), thread!(8013)],
    level: Level::Should,
    kind: Kind::FaultTolerance,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ProvisionTime], |scene, [provision]| {
        let mut tally = Tally::default();
        for (order, id) in lost(scene) {
            match fate(scene, id, order.ended, provision) {
                Fate::Node if scene.registered(id).is_some() => tally.exercised(),
                Fate::GivenBack | Fate::Gone => tally.exercised(),
                Fate::Left => {
                    let says =
                        format!("server {id}, of whose making nobody was told, was left without a node");
                    tally.violated(says, [order.event]);
                }
                Fate::Node | Fate::Untold => {}
            }
        }
        for order in first_attempts(scene) {
            let Some(pool) = order.pool.as_deref().and_then(|pool| scene.pool(pool)) else { continue };
            if let Some(coming) = far_too_many(scene, order, pool, provision) {
                let says = format!(
                    "{} was ordered, though orders without an answer had brought more than is needed",
                    order.name
                );
                tally.violated(says, coming.iter().map(|order| order.event).chain([order.event]));
            }
        }
        tally.verdict("every order that was carried out was answered")
    })
}

/// Orders without an answer, each with the server that was made for it all the same.
fn lost<'s>(scene: &'s Scene<'_>) -> impl Iterator<Item = (&'s Order, u64)> {
    scene.orders.iter().filter(|order| order.status == 0).filter_map(|order| {
        let id = scene.server_of(order)?;
        let made = scene.servers.get(&id)?.first()?.at;
        (order.began <= made + TIE && made <= order.ended + TIE).then_some((order, id))
    })
}

/// If an order is more than one too many for the pods that wait: those before it in its pool whose servers are on their way, one
/// of them without an answer.
fn far_too_many<'s>(
    scene: &'s Scene<'_>,
    order: &Order,
    pool: &Pool,
    provision: Duration,
) -> Option<Vec<&'s Order>> {
    let waiting = candidates(scene, order, pool);
    let pods: Vec<&Pod> = waiting.iter().map(|(pod, _)| *pod).collect();
    let mut counted = BTreeSet::new();
    let comes = |other: &&Order| {
        let Some(id) = scene.server_of(other) else { return false };
        let there = scene.servers.get(&id).is_some_and(|track| track.at(order.began + TIE).is_some());
        let unready = scene.ready(id).is_none_or(|ready| ready > order.began);
        let before = knew_of(order, other) && (other.began, other.event) < (order.began, order.event);
        let awaited = before && other.pool == order.pool && order.began < other.began + provision;
        awaited && there && unready && !scene.given_back(id, order.began) && counted.insert(id)
    };
    let coming: Vec<&Order> = scene.orders.iter().filter(comes).collect();
    let unanswered = coming.iter().any(|other| other.status == 0);
    let knew = !scene.misled(order.began, order.began);
    let far = unanswered && knew && !pods.is_empty() && coming.len() > need(scene, &pods, pool).max(1);
    (far && !fills_minimum(scene, order, pool)).then_some(coming)
}
