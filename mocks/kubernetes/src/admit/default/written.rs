//! Fields the server writes even when they are empty, because its structs do: times of conditions, parts of events.

use serde_json::{Map, Value};

use crate::admit::read::{fill, inner_mut, items_mut, present, put};

/// Fills them for the kinds that clients look at closely.
pub(super) fn written(group: &str, kind: &str, object: &mut Value) {
    match (group, kind) {
        ("", "Event") => {
            nulls(object, &["eventTime", "firstTimestamp", "lastTimestamp"]);
            fill(object, "reportingComponent", "");
            fill(object, "reportingInstance", "");
            fill(object, "source", Map::new());
        }
        ("events.k8s.io", "Event") => {
            nulls(object, &["eventTime", "deprecatedFirstTimestamp", "deprecatedLastTimestamp"]);
            fill(object, "deprecatedSource", Map::new());
        }
        ("discovery.k8s.io", "EndpointSlice") => {
            for endpoint in items_mut(object, "endpoints") {
                inner_mut(endpoint, "conditions");
            }
        }
        _ => {
            let times = condition_times(group, kind);
            if let Some(status) = object.get_mut("status").filter(|_| !times.is_empty()) {
                for condition in items_mut(status, "conditions") {
                    nulls(condition, times);
                }
            }
        }
    }
}

fn condition_times(group: &str, kind: &str) -> &'static [&'static str] {
    match (group, kind) {
        ("", "Pod" | "PersistentVolumeClaim") | ("batch", "Job") => &["lastProbeTime", "lastTransitionTime"],
        ("", "Node") => &["lastHeartbeatTime", "lastTransitionTime"],
        ("apps", "Deployment") => &["lastTransitionTime", "lastUpdateTime"],
        ("apps" | "policy" | "autoscaling", _) | ("", "ReplicationController") => &["lastTransitionTime"],
        _ => &[],
    }
}

fn nulls(object: &mut Value, names: &[&str]) {
    for name in names {
        if present(object, name).is_none() {
            put(object, name, Value::Null);
        }
    }
}
