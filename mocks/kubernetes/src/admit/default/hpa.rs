//! Defaults of horizontal pod autoscalers.

use serde_json::{Value, json};

use crate::admit::read::{fill, fill_zero, inner_mut, items, present, put};

pub(super) fn horizontal_pod_autoscaler(version: &str, object: &mut Value) {
    let Some(spec) = inner_mut(object, "spec") else { return };
    fill(spec, "minReplicas", 1);
    if version == "v1" {
        fill(spec, "targetCPUUtilizationPercentage", 80);
        return;
    }
    if items(spec, "metrics").is_empty() {
        let target = json!({"type": "Utilization", "averageUtilization": 80});
        put(spec, "metrics", json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]));
    }
    if present(spec, "behavior").is_some() {
        behavior(spec);
    }
}

fn behavior(spec: &mut Value) {
    let Some(behavior) = inner_mut(spec, "behavior") else { return };
    if let Some(up) = inner_mut(behavior, "scaleUp") {
        fill(up, "stabilizationWindowSeconds", 0);
        let fast = json!([
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ]);
        fill(up, "policies", fast);
        fill_zero(up, "selectPolicy", "Max");
    }
    if let Some(down) = inner_mut(behavior, "scaleDown") {
        fill(down, "policies", json!([{"type": "Percent", "value": 100, "periodSeconds": 15}]));
        fill_zero(down, "selectPolicy", "Max");
    }
}
