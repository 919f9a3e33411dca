//! What every cluster has from its first moment: its namespaces and its two highest priorities.

use serde_json::{Value, json};

use crate::api::{Api, Write};
use crate::status::Status;

const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Name, value, description.
const PRIORITIES: [(&str, i64, &str); 2] = [
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
];

/// Creates them.
pub(crate) fn furnish(api: &Api) -> Result<(), Status> {
    for name in NAMESPACES {
        create(api, "", "v1", "namespaces", json!({"metadata": {"name": name}}))?;
    }
    for (name, value, description) in PRIORITIES {
        let class = json!({"metadata": {"name": name}, "value": value, "description": description});
        create(api, "scheduling.k8s.io", "v1", "priorityclasses", class)?;
    }
    Ok(())
}

fn create(api: &Api, group: &str, version: &str, plural: &str, body: Value) -> Result<(), Status> {
    let registry = api.registry();
    let resource = registry.find(group, version, plural).ok_or_else(Status::no_such_path)?;
    api.create(resource, "", body, &Write::by("kube-apiserver")).map(|_| ())
}
