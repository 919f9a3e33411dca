//! Binding: a pod gets its node.

use serde_json::{Value, json};

use super::change::same_uid;
use super::finish::Written;
use super::{Api, Target, Write, stamp};
use crate::status::Status;
use crate::store::Key;

impl Api {
    /// Binds a pod, once.
    pub(crate) fn bind(
        &self,
        target: &Target<'_>,
        binding: &Value,
        write: &Write,
    ) -> Result<Written, Status> {
        let node = binding["target"]["name"].as_str().unwrap_or_default();
        let now = stamp(self.now());
        let target = Target { subresource: "binding", ..*target };
        let pods = Target { subresource: "", ..target };
        self.change(&target, write, |before| {
            same_uid(&pods, before, Some(&binding["metadata"]["uid"]))?;
            let conflict = |why: &str| {
                Err(Status::conflict(
                    crate::status::Name { group: "", resource: "pods/binding" },
                    target.name,
                    why,
                ))
            };
            if before["metadata"]["deletionTimestamp"].is_string() {
                return conflict(&format!(
                    "pod {} is being deleted, cannot be assigned to a host",
                    target.name
                ));
            }
            if let Some(bound) = before["spec"]["nodeName"].as_str().filter(|bound| !bound.is_empty()) {
                return conflict(&format!("pod {} is already assigned to node {bound:?}", target.name));
            }
            if before["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty()) {
                return conflict(&format!("pod {} has non-empty .spec.schedulingGates", target.name));
            }
            let mut after = before.clone();
            after["spec"]["nodeName"] = json!(node);
            if let Some(annotations) = binding["metadata"]["annotations"].as_object() {
                for (key, value) in annotations {
                    after["metadata"]["annotations"][key] = value.clone();
                }
            }
            if let Some(labels) = binding["metadata"]["labels"].as_object() {
                for (key, value) in labels {
                    after["metadata"]["labels"][key] = value.clone();
                }
            }
            self.copy_topology(node, &mut after);
            set_scheduled(&mut after, &now);
            Ok(after)
        })
    }
}

impl Api {
    /// A pod is told in which zone and region its node stands.
    fn copy_topology(&self, node: &str, pod: &mut Value) {
        let Some(node) = self.store().get("nodes", &Key::new("", node)) else { return };
        for label in ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"] {
            if let Some(value) = node.label(label) {
                pod["metadata"]["labels"][label] = json!(value);
            }
        }
    }
}

/// The condition that tells that a pod has its node.
fn set_scheduled(pod: &mut Value, now: &str) {
    let scheduled = json!({
        "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now,
    });
    let conditions = &mut pod["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(conditions) = conditions.as_array_mut() else { return };
    match conditions.iter_mut().find(|condition| condition["type"] == "PodScheduled") {
        Some(condition) => *condition = scheduled,
        None => conditions.push(scheduled),
    }
}
