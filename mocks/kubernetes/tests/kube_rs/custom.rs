//! Resources that are found at run time: discovery, definitions, dynamic objects.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams};
use kube::discovery::{self, Scope};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Api, ResourceExt as _};
use mock_clock::Clock as _;
use serde_json::json;

use crate::{Bare, refused};

fn definition() -> CustomResourceDefinition {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "required": ["size"], "properties": {
            "size": {"type": "integer", "minimum": 0}, "zone": {"type": "string", "default": "a"},
        }},
        "status": {"type": "object", "properties": {"size": {"type": "integer"}}},
    }});
    let version = json!({
        "name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}},
    });
    let names = json!({"plural": "pools", "singular": "pool", "kind": "Pool"});
    serde_json::from_value(json!({
        "metadata": {"name": "pools.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }))
    .unwrap()
}

#[tokio::test]
async fn a_definition_is_established_and_used() {
    let bare = Bare::start().await;
    let definitions = Api::<CustomResourceDefinition>::all(bare.client.clone());
    definitions.create(&PostParams::default(), &definition()).await.unwrap();
    let established = await_condition(definitions, "pools.example.com", conditions::is_crd_established());
    bare.clock().timeout(Duration::from_secs(15), established).await.unwrap().unwrap();

    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Pool"));
    let pools = Api::<DynamicObject>::default_namespaced_with(bare.client.clone(), &resource);
    let pool = DynamicObject::new("a", &resource).data(json!({"spec": {"size": 1, "color": "red"}}));
    let pool = pools.create(&PostParams::default(), &pool).await.unwrap();
    assert_eq!(pool.data["spec"], json!({"size": 1, "zone": "a"}), "pruned and filled in");
    let bad = DynamicObject::new("b", &resource).data(json!({"spec": {"size": -1}}));
    let status = refused(pools.create(&PostParams::default(), &bad).await);
    assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));

    let params = PatchParams::default();
    let five = Patch::Merge(json!({"spec": {"replicas": 5}}));
    assert_eq!(pools.patch_scale("a", &params, &five).await.unwrap().spec.unwrap().replicas, Some(5));
    let status = Patch::Merge(json!({"status": {"size": 5}}));
    let pool = pools.patch_status("a", &params, &status).await.unwrap();
    assert_eq!((&pool.data["spec"]["size"], &pool.data["status"]["size"]), (&json!(5), &json!(5)));
    assert_eq!(pool.metadata.generation, Some(2));
}

#[tokio::test]
async fn discovery_finds_what_there_is() {
    let bare = Bare::start().await;
    let definitions = Api::<CustomResourceDefinition>::all(bare.client.clone());
    definitions.create(&PostParams::default(), &definition()).await.unwrap();
    let established = await_condition(definitions, "pools.example.com", conditions::is_crd_established());
    bare.clock().timeout(Duration::from_secs(15), established).await.unwrap().unwrap();

    for found in [
        discovery::Discovery::new(bare.client.clone()).run().await.unwrap(),
        discovery::Discovery::new(bare.client.clone()).run_aggregated().await.unwrap(),
    ] {
        let (resource, capabilities) =
            found.resolve_gvk(&GroupVersionKind::gvk("example.com", "v1", "Pool")).unwrap();
        assert_eq!((resource.plural.as_str(), &capabilities.scope), ("pools", &Scope::Namespaced));
        assert!(found.has_group("apps") && found.has_group("policy"));
    }
    // Everything that can be listed is.
    let all = discovery::Discovery::new(bare.client.clone()).run().await.unwrap();
    for (resource, capabilities) in all.groups().flat_map(discovery::ApiGroup::recommended_resources) {
        if capabilities.supports_operation(discovery::verbs::LIST) {
            let api = Api::<DynamicObject>::all_with(bare.client.clone(), &resource);
            let list = api.list(&ListParams::default()).await;
            let simulated = resource.kind != "ComponentStatus";
            assert_eq!(list.is_ok(), simulated, "{}: {:?}", resource.kind, list.err());
        }
    }
    let group = discovery::pinned_kind(&bare.client, &GroupVersionKind::gvk("", "v1", "Node")).await.unwrap();
    assert_eq!(group.1.scope, Scope::Cluster);
    let nodes = Api::<DynamicObject>::all_with(bare.client.clone(), &group.0);
    let node = DynamicObject::new("n", &group.0);
    assert_eq!(nodes.create(&PostParams::default(), &node).await.unwrap().name_any(), "n");
}
