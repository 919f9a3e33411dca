//! Writes: conflicts and how they are won, patches of every kind, subresources, deletions.

use futures_util::future::join_all;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::{
    DeleteParams, EvictParams, ListParams, LogParams, Patch, PatchParams, PostParams, Preconditions,
};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::{Bare, config_map, refused};

#[tokio::test]
async fn a_lost_update_is_a_conflict() {
    let bare = Bare::start().await;
    let stale = bare.config_map("a").await;
    let maps = bare.config_maps();
    let mut newer = stale.clone();
    newer.data.as_mut().unwrap().insert("count".into(), "1".into());
    maps.replace("a", &PostParams::default(), &newer).await.unwrap();
    let status = refused(maps.replace("a", &PostParams::default(), &stale).await);
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    assert!(
        status
            .message
            .contains("the object has been modified; please apply your changes to the latest version")
    );
    let status = refused(maps.create(&PostParams::default(), &config_map("a")).await);
    assert_eq!((status.code, status.reason.as_str()), (409, "AlreadyExists"));
}

/// Many writers count together and lose nothing.
#[tokio::test]
async fn conflicts_are_won_by_trying_again() {
    let bare = Bare::start().await;
    bare.config_map("a").await;
    let maps = bare.config_maps();
    let writer = || async {
        for _ in 0..10 {
            loop {
                let mut map = maps.get("a").await.unwrap();
                let count = map.data.as_mut().unwrap().get_mut("count").unwrap();
                *count = (count.parse::<u32>().unwrap() + 1).to_string();
                if maps.replace("a", &PostParams::default(), &map).await.is_ok() {
                    break;
                }
            }
        }
    };
    join_all((0..4).map(|_| writer())).await;
    assert_eq!(maps.get("a").await.unwrap().data.unwrap()["count"], "40");
}

#[tokio::test]
async fn an_entry_is_made_and_changed() {
    let bare = Bare::start().await;
    let maps = bare.config_maps();
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    for (round, expected) in [(1, "0"), (2, "0!")] {
        let entry = maps.entry("a").await.unwrap();
        let entry = entry.and_modify(|map| map.data.as_mut().unwrap().get_mut("count").unwrap().push('!'));
        let mut entry = entry.or_insert(|| config_map("a"));
        entry.commit(&dry).await.unwrap();
        assert_eq!(maps.get_opt("a").await.unwrap().is_some(), round == 2, "a dry run changes nothing");
        let mut entry = maps
            .entry("a")
            .await
            .unwrap()
            .and_modify(|map| map.data.as_mut().unwrap().get_mut("count").unwrap().push('!'))
            .or_insert(|| config_map("a"));
        entry.commit(&PostParams::default()).await.unwrap();
        assert_eq!(entry.get().data.as_ref().unwrap()["count"], expected);
    }
}

#[tokio::test]
async fn fields_have_appliers() {
    let bare = Bare::start().await;
    let maps = bare.config_maps();
    let mine = |count: &str| {
        Patch::Apply(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"count": count},
        }))
    };
    let (one, two) = (PatchParams::apply("one"), PatchParams::apply("two"));
    maps.patch("a", &one, &mine("1")).await.unwrap();
    let status = refused(maps.patch("a", &two, &mine("2")).await);
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    assert!(status.message.contains("conflict with \"one\": .data.count"), "{}", status.message);
    let map = maps.patch("a", &two.clone().force(), &mine("2")).await.unwrap();
    assert_eq!(map.data.unwrap()["count"], "2");
    let none = Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}));
    let map = maps.patch("a", &two, &none).await.unwrap();
    assert_eq!(map.data, None, "what its only applier drops is gone");
}

#[tokio::test]
async fn patches_of_every_kind() {
    let bare = Bare::start().await;
    let pods = Api::<Pod>::default_namespaced(bare.client.clone());
    bare.pod("a").await;
    let params = PatchParams::default();
    let strategic = Patch::Strategic(json!({"spec": {"containers": [{"name": "c", "image": "c:2"}]}}));
    let pod = pods.patch("a", &params, &strategic).await.unwrap();
    assert_eq!(pod.spec.unwrap().containers[0].image.as_deref(), Some("c:2"));
    let merge = Patch::Merge(json!({"metadata": {"labels": {"app": null, "tier": "front"}}}));
    let pod = pods.patch("a", &params, &merge).await.unwrap();
    assert_eq!(pod.labels().keys().collect::<Vec<_>>(), ["tier"]);
    let operations = json!([{"op": "replace", "path": "/metadata/labels/tier", "value": "back"}]);
    let json = Patch::<()>::Json(serde_json::from_value(operations).unwrap());
    assert_eq!(pods.patch("a", &params, &json).await.unwrap().labels()["tier"], "back");
    let forbidden = Patch::Merge(json!({"spec": {"nodeName": "elsewhere"}}));
    let status = refused(pods.patch("a", &params, &forbidden).await);
    assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
}

#[tokio::test]
async fn scale_and_status_are_written_apart() {
    let bare = Bare::start().await;
    let deployments = Api::<Deployment>::default_namespaced(bare.client.clone());
    let deployment = json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "c:1"}]},
            },
        },
    });
    deployments.create(&PostParams::default(), &serde_json::from_value(deployment).unwrap()).await.unwrap();
    let params = PatchParams::default();
    let mut scale = deployments.get_scale("web").await.unwrap();
    assert_eq!(scale.status.as_ref().unwrap().selector.as_deref(), Some("app=web"));
    scale.spec.as_mut().unwrap().replicas = Some(2);
    deployments.replace_scale("web", &PostParams::default(), &scale).await.unwrap();
    let merge = Patch::Merge(json!({"spec": {"replicas": 3}}));
    assert_eq!(
        deployments.patch_scale("web", &params, &merge).await.unwrap().spec.unwrap().replicas,
        Some(3)
    );
    let status = Patch::Merge(json!({"spec": {"replicas": 9}, "status": {"replicas": 3}}));
    let web = deployments.patch_status("web", &params, &status).await.unwrap();
    assert_eq!((web.spec.unwrap().replicas, web.status.unwrap().replicas), (Some(3), Some(3)));
    let status = refused(deployments.get_scale("none").await);
    assert_eq!(status.code, 404);
}

#[tokio::test]
async fn evictions_ask_the_budgets() {
    let bare = Bare::start().await;
    let pods = Api::<Pod>::default_namespaced(bare.client.clone());
    bare.pod("a").await;
    let ready = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    pods.patch_status("a", &PatchParams::default(), &Patch::Strategic(ready)).await.unwrap();
    let budgets = Api::<PodDisruptionBudget>::default_namespaced(bare.client.clone());
    let budget = json!({
        "metadata": {"name": "web"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    });
    budgets.create(&PostParams::default(), &serde_json::from_value(budget).unwrap()).await.unwrap();
    let allows = |count: i32| {
        Patch::Merge(json!({"status": {
            "observedGeneration": 1, "disruptionsAllowed": count, "currentHealthy": 1, "desiredHealthy": 1 - count, "expectedPods": 1,
        }}))
    };
    budgets.patch_status("web", &PatchParams::default(), &allows(0)).await.unwrap();
    let status = refused(pods.evict("a", &EvictParams::default()).await);
    assert_eq!((status.code, status.reason.as_str()), (429, "TooManyRequests"));
    assert!(status.message.contains("Cannot evict pod as it would violate the pod's disruption budget."));
    budgets.patch_status("web", &PatchParams::default(), &allows(1)).await.unwrap();
    pods.evict("a", &EvictParams::default()).await.unwrap();
    assert!(pods.get("a").await.unwrap().metadata.deletion_timestamp.is_some());
    let left = budgets.get("web").await.unwrap().status.unwrap();
    assert_eq!(left.disruptions_allowed, 0);
    assert!(left.disrupted_pods.unwrap().contains_key("a"));
}

#[tokio::test]
async fn deletions_have_conditions() {
    let bare = Bare::start().await;
    let maps = bare.config_maps();
    for name in ["a", "b", "c"] {
        bare.config_map(name).await;
    }
    let other = Preconditions { uid: Some("other".to_owned()), resource_version: None };
    let status = refused(maps.delete("a", &DeleteParams::default().preconditions(other)).await);
    assert_eq!(status.code, 409);
    let some = ListParams::default().fields("metadata.name!=c");
    maps.delete_collection(&DeleteParams::default(), &some).await.unwrap();
    let left = maps.list(&ListParams::default()).await.unwrap();
    assert_eq!(left.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["c"]);
    bare.pod("pod").await;
    let pods = Api::<Pod>::default_namespaced(bare.client.clone());
    assert!(pods.delete("pod", &DeleteParams::default()).await.unwrap().is_left(), "its kubelet ends it");
    pods.delete("pod", &DeleteParams::default().grace_period(0)).await.unwrap();
    assert!(pods.get_opt("pod").await.unwrap().is_none());
}

#[tokio::test]
async fn cordoning_is_a_patch() {
    let bare = Bare::start().await;
    let nodes = Api::<Node>::all(bare.client.clone());
    let node = serde_json::from_value(json!({"metadata": {"name": "n"}})).unwrap();
    nodes.create(&PostParams::default(), &node).await.unwrap();
    assert_eq!(nodes.cordon("n").await.unwrap().spec.unwrap().unschedulable, Some(true));
    assert_eq!(nodes.uncordon("n").await.unwrap().spec.unwrap().unschedulable, None);
}

#[tokio::test]
async fn what_a_kubelet_answers_is_not_simulated() {
    let bare = Bare::start().await;
    bare.pod("a").await;
    let pods = Api::<Pod>::default_namespaced(bare.client.clone());
    let params = LogParams { follow: true, ..LogParams::default() };
    let Err(kube::Error::Api(status)) = pods.log_stream("a", &params).await else {
        panic!("there are no logs")
    };
    assert_eq!(status.code, 501);
    assert!(status.message.contains("not simulated"), "{}", status.message);
}
