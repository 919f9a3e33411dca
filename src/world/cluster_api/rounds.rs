//! How controllers go round: all objects of a kind again at every change, or a life of its own for each.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;

use kube::ResourceExt as _;
use tokio::task::JoinSet;

use super::kinds::Kind;
use super::shelf::Object;
use super::shop::Shop;

/// Looks at all of a kind whenever anything has changed, one after the other, for ever.
pub(super) async fn again<F: Future<Output = ()>>(
    shop: Arc<Shop>,
    kind: Kind,
    reconcile: impl Fn(Arc<Shop>, Object) -> F,
) {
    let mut changes = shop.shelf.changes();
    let mut injuries = shop.site.injuries.changes();
    loop {
        changes.borrow_and_update();
        injuries.borrow_and_update();
        for object in shop.shelf.all(kind) {
            reconcile(Arc::clone(&shop), object).await;
        }
        tokio::select! {
            _ = changes.changed() => {}
            _ = injuries.changed() => {}
        }
    }
}

/// Begins the life of each of a kind, once, for ever.
pub(super) async fn lives<F: Future<Output = ()> + Send + 'static>(
    shop: Arc<Shop>,
    kind: Kind,
    live: impl Fn(Arc<Shop>, Object) -> F,
) {
    let mut changes = shop.shelf.changes();
    let mut begun = BTreeSet::new();
    let mut lives = JoinSet::new();
    loop {
        changes.borrow_and_update();
        for object in shop.shelf.all(kind) {
            if begun.insert(object.uid()) {
                lives.spawn(live(Arc::clone(&shop), object));
            }
        }
        while lives.try_join_next().is_some() {}
        if changes.changed().await.is_err() {
            return;
        }
    }
}
