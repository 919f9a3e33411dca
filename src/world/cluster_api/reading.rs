//! What the objects of Cluster API say, whichever version says it. Plain reading, no calls.

use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::Value;

use super::kinds::{DEPLOYMENT_NAME, PAUSED};

/// The pool of an object: its deployment.
pub(super) fn pool_of(object: &DynamicObject) -> Option<&str> {
    object.labels().get(DEPLOYMENT_NAME).map(String::as_str)
}

/// Whether nobody is to touch it.
pub(super) fn is_paused(object: &DynamicObject) -> bool {
    object.annotations().contains_key(PAUSED)
}

/// Whether it has been told to go.
pub(super) fn is_ending(object: &DynamicObject) -> bool {
    object.metadata.deletion_timestamp.is_some()
}

/// How many it is to be.
pub(super) fn replicas(object: &DynamicObject) -> u64 {
    object.data["spec"]["replicas"].as_u64().unwrap_or(0)
}

/// How many of it can be used.
pub(super) fn available(object: &DynamicObject) -> u64 {
    object.data["status"]["availableReplicas"].as_u64().unwrap_or(0)
}

/// What the infrastructure calls it.
pub(super) fn provider_id(object: &DynamicObject) -> Option<&str> {
    object.data["spec"]["providerID"].as_str().filter(|id| !id.is_empty())
}

/// Its node.
pub(super) fn node_of(machine: &DynamicObject) -> Option<&str> {
    machine.data["status"]["nodeRef"]["name"].as_str()
}

/// Why it has failed.
pub(super) fn failure(object: &DynamicObject) -> Option<(&str, &str)> {
    let status = &object.data["status"];
    [status, &status["deprecated"]["v1beta1"]].into_iter().find_map(|said| {
        Some((said["failureReason"].as_str()?, said["failureMessage"].as_str().unwrap_or_default()))
    })
}

/// Whether a node says that it is ready.
pub(super) fn is_ready(node: &DynamicObject) -> bool {
    let conditions = node.data["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|it: &Value| it["type"] == "Ready" && it["status"] == "True")
}
