//! Whether an order brought its pool above its maximum. Two promises are this one, for true lists and for others.

use super::Tally;
use super::scene::Scene;
use crate::history::query::Order;
use crate::terms::Timer;

/// Judges one order: when its server comes into being, those of its pool are counted, as far as the subject can have seen them.
pub(super) fn above(scene: &Scene<'_>, tally: &mut Tally, order: &Order) {
    // Who keeps no list of machines for a while sees them at once.
    let cache = scene.timer(Timer::CloudCache).unwrap_or_default();
    let Some(pool) = order.pool.as_deref().and_then(|pool| scene.pool(pool)) else { return };
    let first = |id: u64| scene.servers.get(&id)?.first();
    let Some((id, made)) = scene.server_of(order).and_then(|id| Some((id, first(id)?))) else { return };
    tally.exercised();
    let seen = |other: &u64| {
        let added = first(*other);
        let before = added.is_some_and(|added| added.event <= made.event);
        let long_ago = added.is_some_and(|added| added.at + cache + scene.slack() < order.began);
        before && (long_ago || scene.order_of(*other).is_some())
    };
    let there: Vec<u64> = scene.live(&pool.name, made.at).into_iter().filter(seen).collect();
    // Who decided shortly before the maximum became another one may have meant the one before.
    let max = scene.max(pool, order.began).max(scene.max(pool, order.began - scene.slack()));
    if there.len() > max as usize {
        let says = format!("server {id} made {} of at most {max} in {}", there.len(), pool.name);
        tally.violated(says, [order.event, made.event]);
    }
}
