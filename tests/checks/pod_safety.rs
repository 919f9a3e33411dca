//! Stories about running pods, and about what is not the subject's.

use serde_json::{Value, json};

use scaleproof::terms::Timer;

use super::Case;
use super::story::Story;

/// A pod on an otherwise empty node, and a server besides so that the pool may shrink.
fn pinned(pod: &str, otherwise: Value) -> Story {
    Story::new().node(0, 1, "small").runs_as(10, pod, "small-1", otherwise)
}

fn annotated(key: &str, value: &str) -> Value {
    json!({"metadata": {"annotations": {format!("cluster-autoscaler.kubernetes.io/{key}"): value}}})
}

/// A pod that keeps its node is left alone, evicted, or loses its server.
fn keeps(code: &'static str, pod: &'static str, otherwise: &Value) -> Vec<Case> {
    let story = || pinned(pod, otherwise.clone());
    vec![
        (code, "left_alone", "held", story().end(2000)),
        (code, "evicted", "violated", story().evict(700, pod, 201).end(2000)),
        (code, "loses_its_server", "violated", story().removal(700, 1).end(2000)),
        (
            code,
            "no_such_pod",
            "unknown",
            Story::new().node(0, 1, "small").runs(10, "web-1", "small-1").end(2000),
        ),
    ]
}

pub(crate) fn cases() -> Vec<Case> {
    let metrics = "kube-system/metrics-server-1";
    let budget =
        json!({"spec": {"selector": {"matchLabels": {"app": "web"}}}, "status": {"disruptionsAllowed": 1}});
    let host_path = json!({"spec": {"volumes": [{"name": "data", "hostPath": {"path": "/data"}}]}});
    let in_memory = json!({"spec": {"volumes": [{"name": "data", "emptyDir": {"medium": "Memory"}}]}});
    let bare = json!({"metadata": {"ownerReferences": null}});
    let mut cases = Vec::new();
    cases.extend(keeps("SF-04", metrics, &json!({})));
    cases.extend(keeps("SF-06", "web-1", &annotated("safe-to-evict", "false")));
    cases.extend(keeps("SF-07", "web-1", &host_path));
    cases.extend(keeps("SF-08", "web-1", &bare));
    cases.extend([
        ("SF-04", "freed_by_a_budget", "unknown", {
            let story =
                pinned(metrics, json!({})).object(5, "PodDisruptionBudget", "kube-system/metrics", budget);
            story.evict(700, metrics, 201).end(2000)
        }),
        ("SF-04", "old_enough_to_go", "held", {
            let story = pinned(metrics, json!({})).timer(Timer::SystemPodBlocks, "1h");
            story.evict(4000, metrics, 201).end(5000)
        }),
        ("SF-07", "in_memory", "unknown", pinned("web-1", in_memory).evict(700, "web-1", 201).end(2000)),
    ]);
    cases
}
