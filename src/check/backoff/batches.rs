//! Orders of a pool that were placed together: they succeed or fail together.

use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::{Scene, TIE};
use crate::history::query::Order;

/// For so long Kubernetes puts a client off that asks too often, at most.
const PUT_OFF: Duration = Duration::from_secs(5);

/// Orders of one loop for one pool, with the repetitions that the client made by itself.
pub(in crate::check) struct Batch<'s> {
    pub(in crate::check) orders: Vec<&'s Order>,
    pub(in crate::check) began: Time,
    pub(in crate::check) ended: Time,
}

impl Batch<'_> {
    /// Whether the cloud refused one of them for good: the last answer to it was no.
    pub(in crate::check) fn failed(&self) -> bool {
        let last = |order: &Order| self.orders.iter().rev().find(|other| other.name == order.name);
        self.orders.iter().any(|order| last(order).is_some_and(|last| last.refused()))
    }

    /// The event of the last answer.
    pub(in crate::check) fn event(&self) -> usize {
        self.orders.last().map_or(0, |order| order.event)
    }
}

/// The batches of a pool, in order.
pub(in crate::check) fn batches<'s>(scene: &'s Scene<'_>, pool: &str) -> Vec<Batch<'s>> {
    let of_group = scene.groups.contains_key(pool);
    // A conflict with somebody else who writes the same object is no failure, and is not waited out.
    let conflicts = |order: &Order| of_group && order.status == 409;
    let mut orders: Vec<&Order> = scene
        .orders
        .iter()
        .filter(|order| order.pool.as_deref() == Some(pool) && !conflicts(order))
        .collect();
    orders.sort_by_key(|order| order.began);
    // Clients write again by themselves what was put off.
    let again: Vec<Time> = orders.iter().map(|order| order.began).collect();
    orders.retain(|order| {
        let soon = |at: &Time| *at > order.began && *at <= order.ended + PUT_OFF;
        !(of_group && order.status == 429 && again.iter().any(soon))
    });
    let mut batches: Vec<Batch<'s>> = Vec::new();
    for order in orders {
        let again = |batch: &&mut Batch<'_>| {
            let repeats = batch.orders.iter().any(|other| !order.name.is_empty() && other.name == order.name);
            order.began <= batch.began + TIE || repeats
        };
        if let Some(batch) = batches.last_mut().filter(again) {
            batch.ended = batch.ended.max(order.ended);
            batch.orders.push(order);
        } else {
            batches.push(Batch { orders: vec![order], began: order.began, ended: order.ended });
        }
    }
    batches
}
