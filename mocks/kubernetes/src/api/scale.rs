//! The scale subresource: how many replicas of anything.

use serde_json::{Value, json};

use super::read::view;
use super::{Api, Patch, Target, Write};
use crate::patch;
use crate::registry::Resource;
use crate::selector::Selector;
use crate::status::{Status, Wrong};

impl Api {
    /// The `Scale` of an object.
    pub(crate) fn scale(&self, target: &Target<'_>) -> Result<Value, Status> {
        let object = self.get(target).ok_or_else(|| target.not_found())?;
        scale_of(target.resource, &view(target.resource, &object))
    }

    /// Replaces or patches the `Scale`, and by it the number of replicas; the `Scale` as it was written.
    pub(crate) fn rescale(
        &self,
        target: &Target<'_>,
        write: &Write,
        change: impl Fn(&Value) -> Result<Value, Status>,
    ) -> Result<Value, Status> {
        let resource = target.resource;
        let written = self.change(target, write, |before| {
            let scale = change(&scale_of(resource, before)?)?;
            let replicas = match &scale["spec"]["replicas"] {
                Value::Null => 0,
                number => number.as_i64().ok_or_else(|| {
                    Status::bad_request(
                        "Scale in version \"v1\" cannot be handled as a Scale: spec.replicas is not a number",
                    )
                })?,
            };
            if replicas < 0 {
                let wrong =
                    Wrong::invalid("spec.replicas", &json!(replicas), "must be greater than or equal to 0");
                return Err(Status::invalid("autoscaling", "Scale", target.name, vec![wrong]));
            }
            let mut after = before.clone();
            if let Some(version) =
                scale["metadata"]["resourceVersion"].as_str().filter(|version| !version.is_empty())
            {
                after["metadata"]["resourceVersion"] = json!(version);
            }
            match &resource.custom {
                Some((_, version)) => version.set_replicas(&mut after, replicas),
                None => after["spec"]["replicas"] = json!(replicas),
            }
            Ok(after)
        })?;
        scale_of(resource, &view(resource, &written.object))
    }
}

/// Patches a `Scale` as if it were an object.
pub(crate) fn patched(scale: &Value, change: &Patch) -> Result<Value, Status> {
    match change {
        Patch::Json(operations) => patch::json(scale, operations),
        Patch::Merge(merge) | Patch::Strategic(merge) => patch::merge(scale, merge),
        Patch::Apply { config, .. } => patch::merge(scale, config),
    }
}

fn scale_of(resource: &Resource, object: &Value) -> Result<Value, Status> {
    if let Some((_, version)) = &resource.custom {
        return version.scale_of(object);
    }
    let metadata = &object["metadata"];
    let selector = match &object["spec"]["selector"] {
        selector if resource.kind == "ReplicationController" => json!({"matchLabels": selector}),
        selector => selector.clone(),
    };
    let selector = Selector::from_value(&selector).map(|selector| selector.to_string()).unwrap_or_default();
    let mut scale = json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {},
        "spec": {},
        "status": {"replicas": object["status"]["replicas"].as_i64().unwrap_or_default(), "selector": selector},
    });
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        scale["metadata"][field] = metadata[field].clone();
    }
    if let Some(replicas) = object["spec"]["replicas"].as_i64().filter(|replicas| *replicas != 0) {
        scale["spec"]["replicas"] = json!(replicas);
    }
    Ok(scale)
}
