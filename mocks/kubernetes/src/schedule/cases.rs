//! Decisions on clusters that stand in data files, each with what upstream's scheduler says.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cluster::Cluster;
use super::decide::{Decider, Decision, Nomination};
use super::observe::{Change, Seen};
use super::score::Packing;

/// The plural of a kind, as far as the cases use it.
fn resource(kind: &str) -> String {
    let plural = if kind.ends_with('s') { format!("{kind}es") } else { format!("{kind}s") };
    plural.to_lowercase()
}

/// A cluster with these objects.
pub(super) fn cluster(objects: &[Value]) -> Cluster {
    let mut cluster = Cluster::default();
    for object in objects {
        let kind = object["kind"].as_str().unwrap();
        if kind == "CSIDriver" {
            continue;
        }
        let seen = Seen::parse(&resource(kind), object.to_string().as_bytes())
            .unwrap_or_else(|| panic!("no {kind}: {object}"));
        cluster.see(&seen);
    }
    cluster
}

/// What is decided for `pod`, as a value.
pub(super) fn outcome(objects: &[Value], pod: &Value, seed: u64) -> Value {
    let mut cluster = cluster(objects);
    let seen = Seen::parse("pods", pod.to_string().as_bytes()).unwrap();
    let Change::Pending { id, .. } = cluster.see(&seen) else { panic!("the pod is placed already") };
    let mut decider = Decider::new(seed, Packing::LeastAllocated, 100);
    match decider.decide(&mut cluster, id).unwrap() {
        Decision::Bind { node, .. } => json!({"node": node}),
        Decision::Unschedulable(refusal) => {
            let mut outcome = json!({"message": refusal.message});
            if let Nomination::On { node, victims, .. } = refusal.nomination {
                let names: BTreeSet<&str> =
                    victims.iter().filter_map(|key| Some(key.split_once('/')?.1)).collect();
                outcome["nominated"] = node.as_ref().into();
                outcome["victims"] = json!(names);
            }
            outcome
        }
    }
}
