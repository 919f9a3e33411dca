//! Lists, watches, and stores that follow them.

use std::collections::BTreeSet;
use std::pin::pin;

use futures_util::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, reflector};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::{Bare, config_map};

/// What an event says, shortly.
fn told(event: Event<ConfigMap>) -> String {
    match event {
        Event::Init => "init".to_owned(),
        Event::InitApply(object) => format!("init {}", object.name_any()),
        Event::InitDone => "init done".to_owned(),
        Event::Apply(object) => format!("apply {} {}", object.name_any(), object.data.unwrap()["count"]),
        Event::Delete(object) => format!("delete {}", object.name_any()),
    }
}

async fn lists_and_follows(config: watcher::Config) {
    let bare = Bare::start().await;
    bare.config_map("a").await;
    bare.config_map("b").await;
    let mut events = pin!(watcher::watcher(bare.config_maps(), config).map_ok(told));
    for expected in ["init", "init a", "init b", "init done"] {
        assert_eq!(bare.next(&mut events).await, expected);
    }
    bare.config_map("c").await;
    let patch = Patch::Merge(json!({"data": {"count": "7"}}));
    bare.config_maps().patch("a", &PatchParams::default(), &patch).await.unwrap();
    bare.config_maps().delete("b", &DeleteParams::default()).await.unwrap();
    for expected in ["apply c 0", "apply a 7", "delete b"] {
        assert_eq!(bare.next(&mut events).await, expected);
    }
}

#[tokio::test]
async fn a_watcher_lists_and_follows() {
    lists_and_follows(watcher::Config::default()).await;
}

#[tokio::test]
async fn a_watcher_lists_page_by_page() {
    lists_and_follows(watcher::Config::default().page_size(1)).await;
}

#[tokio::test]
async fn a_watcher_streams_the_list() {
    lists_and_follows(watcher::Config::default().streaming_lists()).await;
}

#[tokio::test]
async fn a_store_is_what_the_cluster_is() {
    for config in [watcher::Config::default(), watcher::Config::default().streaming_lists()] {
        let bare = Bare::start().await;
        bare.config_map("a").await;
        let (store, writer) = reflector::store();
        let stream = reflector(writer, watcher::watcher(bare.config_maps(), config));
        let mut touched = pin!(stream.touched_objects());
        bare.next(&mut touched).await;
        for number in 0..50 {
            bare.config_map(&format!("many-{number}")).await;
        }
        bare.config_maps().delete("a", &DeleteParams::default()).await.unwrap();
        while bare.next(&mut touched).await.metadata.name.as_deref() != Some("a") {}
        store.wait_until_ready().await.unwrap();
        // Stores have no order.
        let held: BTreeSet<String> = store.state().iter().map(|object| object.name_any()).collect();
        let list = bare.config_maps().list(&ListParams::default()).await.unwrap();
        let real: BTreeSet<String> = list.iter().map(ResourceExt::name_any).collect();
        assert_eq!(held, real);
    }
}

#[tokio::test]
async fn metadata_is_watched_alone() {
    let bare = Bare::start().await;
    bare.config_map("a").await;
    let metadata = Api::<PartialObjectMeta<ConfigMap>>::default_namespaced(bare.client.clone());
    let stream = watcher::watcher(metadata, watcher::Config::default());
    let mut seen = pin!(stream.applied_objects());
    assert_eq!(bare.next(&mut seen).await.name_any(), "a");
    let list = bare.config_maps().list_metadata(&ListParams::default()).await.unwrap();
    assert!(list.items.iter().any(|object| object.name_any() == "a"));
    let one = bare.config_maps().get_metadata("a").await.unwrap();
    assert_eq!(one.types.unwrap().kind, "PartialObjectMetadata");
}

#[tokio::test]
async fn bookmarks_and_selectors_reach_the_watcher() {
    let bare = Bare::start().await;
    let labelled = watcher::Config::default().labels("app=web");
    let mut events = pin!(watcher::watcher(bare.config_maps(), labelled).map_ok(told).boxed());
    assert_eq!(bare.next(&mut events).await, "init");
    assert_eq!(bare.next(&mut events).await, "init done");
    bare.config_map("unseen").await;
    let mut seen = config_map("seen");
    seen.labels_mut().insert("app".into(), "web".into());
    bare.config_maps().create(&kube::api::PostParams::default(), &seen).await.unwrap();
    assert_eq!(bare.next(&mut events).await, "apply seen 0");
    let patch = Patch::Merge(json!({"metadata": {"labels": {"app": null}}}));
    bare.config_maps().patch("seen", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(bare.next(&mut events).await, "delete seen", "it no longer matches");
}
