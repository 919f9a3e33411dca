//! What is on its way for a pod that waits, and for how long that counts.

use std::time::Duration;

use mock_clock::Time;

use super::fit::{STARTUP_TAINT, fit, least};
use super::scene::{Scene, TIE};
use crate::history::query::{Node, Order, Pod, Track};
use crate::terms::{Pool, Timer};

/// Where a profile names no provision time, the documents' own.
const PROVISION: Duration = Duration::from_secs(900);
/// How taints begin that go by themselves when a node starts.
const PASSING: [&str; 6] = [
    STARTUP_TAINT,
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/network-unavailable",
    "node.cloudprovider.kubernetes.io/",
    "karpenter.sh/unregistered",
];

/// Whether enough is on its way for a pod, and for those that wait for the same.
pub(super) fn comes(scene: &Scene<'_>, pod: &Pod, at: Time) -> bool {
    comes_but(scene, pod, at, |_, _| false)
}

/// The same, but for what was bought in some pools since some moments.
pub(super) fn comes_but(
    scene: &Scene<'_>,
    pod: &Pod,
    at: Time,
    but: impl Fn(Option<&str>, Time) -> bool,
) -> bool {
    let of_use = |pool: &&Pool| !fit(scene, pod, pool).impossible();
    let pools: Vec<&Pool> = scene.pools().iter().filter(of_use).collect();
    let of_pool = |pool: &&Pool| {
        let live = scene.live(&pool.name, at).into_iter();
        let counts =
            |server: &u64| !scene.order_of(*server).is_some_and(|it| but(it.pool.as_deref(), it.began));
        live.filter(counts).filter(|server| is_unfinished(scene, pool, *server, at)).count()
    };
    let machines: usize = pools.iter().map(of_pool).sum();
    let named = |order: &&Order| {
        pools.iter().any(|pool| order.pool.as_ref() == Some(&pool.name))
            && !but(order.pool.as_deref(), order.began)
    };
    let coming = machines + scene.orders.iter().filter(named).filter(|it| is_unseen(scene, it, at)).count();
    coming > 0 && coming >= needed(scene, &pools, at)
}

/// How many nodes those who wait for these pools need at least. Many pods ask that of one moment.
fn needed(scene: &Scene<'_>, pools: &[&Pool], at: Time) -> usize {
    let asked = (at, pools.iter().map(|pool| pool.name.clone()).collect::<Vec<_>>());
    if let Some(known) = scene.needed.borrow().get(&asked) {
        return *known;
    }
    let needed = least(&competitors(scene, pools, at), pools);
    scene.needed.borrow_mut().insert(asked, needed);
    needed
}

/// Whether an order was not refused, and nobody has seen a machine of it yet.
fn is_unseen(scene: &Scene<'_>, order: &Order, at: Time) -> bool {
    let server = scene.server_of(order);
    let seen = server.and_then(|server| scene.servers.get(&server)?.first()).is_some_and(|it| it.at <= at);
    let given_back = server.is_some_and(|server| scene.given_back(server, at));
    let until = if order.taken() { order.began + patience(scene) } else { order.ended + scene.slack() };
    order.began <= at && at < until && !order.refused() && !seen && !given_back
}

/// Whether a machine of a pool has no node that takes pods yet, and may still get one.
fn is_unfinished(scene: &Scene<'_>, pool: &Pool, server: u64, at: Time) -> bool {
    // Who does not say on which server it runs is nobody's node yet.
    let registered = |node: &Node| node.server() == Some(server);
    let node = scene.nodes_on(server).find(|(_, track)| track.at(at).is_some_and(registered));
    let bought = scene.order_of(server).map(|order| order.began);
    let bought = bought.or_else(|| Some(scene.servers.get(&server)?.first()?.at));
    let Some((_, track)) = node else { return bought.is_some_and(|bought| at < bought + patience(scene)) };
    let created = track.first().map_or(at, |seen| seen.at);
    let starts = |node: &Node| !node.ready || is_held(node, pool);
    if !track.at(at).is_some_and(starts) {
        // Whoever has just become ready is seen in the next loop.
        return track.ever(at - scene.slack(), at, starts);
    }
    match scene.timer(Timer::StartupTime) {
        Some(startup) => at < created + startup + scene.slack(),
        None => !track.ever(created, at, |node| !starts(node)),
    }
}

/// Whether a node has a taint that goes when it is started.
fn is_held(node: &Node, pool: &Pool) -> bool {
    node.taints.iter().filter(|taint| taint.effect != "PreferNoSchedule").any(|taint| {
        PASSING.iter().any(|group| taint.key.starts_with(group))
            || pool.startup_taints.iter().any(|of| of.key == taint.key)
    })
}

/// How long a machine is waited for before it is taken for one that never comes.
fn patience(scene: &Scene<'_>) -> Duration {
    scene.timer(Timer::ProvisionTime).unwrap_or(PROVISION) + scene.listing()
}

/// The pods that wait at a moment and can get room from these pools only, for certain.
fn competitors<'s>(scene: &'s Scene<'_>, pools: &[&Pool], at: Time) -> Vec<&'s Pod> {
    let ours = |pod: &&Pod| {
        let mut sure = false;
        let elsewhere = scene.pools().iter().any(|pool| {
            let fit = fit(scene, pod, pool);
            let among = pools.iter().any(|one| one.name == pool.name);
            sure |= among && fit.sure();
            !among && !fit.impossible()
        });
        sure && !elsewhere
    };
    let settled = at - scene.slack();
    let waits = |track: &&Track<Pod>| track.always(settled.max(scene.history.header.began), at, Pod::waits);
    scene.pods.values().filter(waits).filter_map(|track| track.at(at - TIE)).filter(ours).collect()
}
