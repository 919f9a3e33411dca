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
    cases.extend(small_sets_and_arrivals());
    cases.extend([
        ("SF-04", "freed_by_a_budget", "unknown", {
            let story =
                pinned(metrics, json!({})).object(5, "PodDisruptionBudget", "kube-system/metrics", budget);
            story.evict(700, metrics, 201).end(2000)
        }),
        ("SF-04", "old_enough_to_go", "held", {
            let story = pinned(metrics, json!({})).timer(Timer::SystemPodBlocks, "1h");
            let story = story.taint(3994, "small-1", "ToBeDeletedByClusterAutoscaler");
            story.evict(4000, metrics, 201).end(5000)
        }),
        ("SF-06", "annotated_while_its_node_is_drained", "unknown", {
            let story = pinned("web-1", json!({})).taint(700, "small-1", "ToBeDeletedByClusterAutoscaler");
            let story = story.runs_as(702, "web-1", "small-1", annotated("safe-to-evict", "false"));
            story.evict(706, "web-1", 201).pod_gone(708, "web-1").give_back(712, 1).end(1000)
        }),
        ("SF-07", "in_memory", "unknown", pinned("web-1", in_memory).evict(700, "web-1", 201).end(2000)),
    ]);
    cases.extend(keeps_by_budget());
    cases.extend(removals());
    cases.extend(expendable());
    cases
}

/// Pods of a priority below those that count: nodes may go under them.
fn expendable() -> Vec<Case> {
    let low = |otherwise: Value| {
        let mut pod = otherwise;
        pod["spec"]["priority"] = json!(-100);
        pinned("web-1", pod)
    };
    let started = Story::asleep().node(0, 1, "small");
    let started = started.runs_as(10, "web-1", "small-1", json!({"spec": {"priority": -100}}));
    let arrived = Story::new().node(0, 1, "small").taint(700, "small-1", "ToBeDeletedByClusterAutoscaler");
    let arrived = arrived.runs_as(702, "web-1", "small-1", json!({"spec": {"priority": -100}}));
    vec![
        ("SF-06", "below_the_cutoff", "unknown", {
            low(annotated("safe-to-evict", "false")).removal(700, 1).end(2000)
        }),
        ("SF-06", "above_a_cutoff_of_its_own", "violated", {
            let story = low(annotated("safe-to-evict", "false"));
            story.option("expendable_pods_priority_cutoff", "-1000").removal(700, 1).end(2000)
        }),
        ("SF-10", "under_a_pod_below_the_cutoff", "held", low(json!({})).removal(700, 1).end(2000)),
        ("SF-11", "a_pod_below_the_cutoff_came", "unknown", arrived.give_back(706, 1).end(2000)),
        (
            "SF-13",
            "goes_under_a_pod_below_the_cutoff",
            "unknown",
            started.started(100, 0).removal(720, 1).end(2000),
        ),
    ]
}

fn small_sets_and_arrivals() -> Vec<Case> {
    let small = || pinned("web-1", json!({})).option("min_replica_count", "2");
    let gone = |story: Story| story.evict(700, "web-1", 201).pod_gone(705, "web-1");
    let tainted = || Story::new().node(0, 1, "small").taint(700, "small-1", "ToBeDeletedByClusterAutoscaler");
    vec![
        ("SF-09", "kept", "held", small().end(2000)),
        ("SF-09", "evicted", "violated", gone(small()).end(2000)),
        ("SF-09", "lost", "violated", small().removal(700, 1).end(2000)),
        ("SF-09", "big_enough", "unknown", {
            let two = small().node(0, 2, "small").runs(10, "web-2", "small-2");
            gone(two).pending(704, "web-3").runs(706, "web-3", "small-2").end(2000)
        }),
        ("SF-09", "not_asked_for", "unknown", gone(pinned("web-1", json!({}))).end(2000)),
        ("SF-11", "saved", "held", tainted().runs(702, "web-1", "small-1").untaint(706, "small-1").end(2000)),
        ("SF-11", "deleted", "violated", tainted().runs(702, "web-1", "small-1").give_back(706, 1).end(2000)),
        ("SF-11", "the_second_pod_stays", "violated", {
            let first = tainted().runs(702, "web-1", "small-1").runs(703, "web-2", "small-1");
            first.pod_gone(704, "web-1").give_back(706, 1).end(2000)
        }),
        ("SF-11", "came_too_late", "unknown", {
            tainted().runs(705, "web-1", "small-1").give_back(706, 1).end(2000)
        }),
        ("SF-11", "nobody_came", "unknown", tainted().give_back(706, 1).end(2000)),
    ]
}

fn keeps_by_budget() -> Vec<Case> {
    let web = || Story::new().node(0, 1, "small").runs(10, "web-1", "small-1");
    let budget = |allowed: u64| json!({"spec": {"selector": {"matchLabels": {"app": "web"}}}, "status": {"disruptionsAllowed": allowed}});
    let none = || web().object(5, "PodDisruptionBudget", "default/web", budget(0));
    let tries = |until: u64| {
        let story = web().taint(695, "small-1", "ToBeDeletedByClusterAutoscaler");
        (70..=until / 10).fold(story, |story, tens| story.evict(tens * 10, "web-1", 429))
    };
    let metrics = "kube-system/metrics-server-1";
    let free = || {
        let story = Story::new().node(0, 1, "small").node(0, 2, "small").runs(10, "web-1", "small-2");
        story.runs_as(10, metrics, "small-1", annotated("safe-to-evict", "true"))
    };
    vec![
        ("SF-01", "left_alone", "held", none().end(2000)),
        ("SF-01", "loses_its_server", "violated", none().removal(700, 1).end(2000)),
        ("SF-01", "deleted_instead", "violated", {
            let api = scaleproof::terms::Api::Kubernetes;
            let path = "/api/v1/namespaces/default/pods/web-1";
            none().call(700, api, "DELETE", path, |_| {}).end(2000)
        }),
        ("SF-01", "used_up_by_the_drain_itself", "unknown", {
            let two = web().runs(10, "web-2", "small-1");
            let two = two.object(5, "PodDisruptionBudget", "default/web", budget(1));
            let one = two.taint(700, "small-1", "ToBeDeletedByClusterAutoscaler").evict(706, "web-1", 201);
            let one = one.object(707, "PodDisruptionBudget", "default/web", budget(0)).pod_gone(708, "web-1");
            let tried = (71..75).fold(one, |story, tens| story.evict(tens * 10, "web-2", 429));
            let again = tried.object(750, "PodDisruptionBudget", "default/web", budget(1));
            again.evict(756, "web-2", 201).pod_gone(758, "web-2").give_back(760, 1).end(2000)
        }),
        ("SF-01", "drained_under_an_old_taint", "violated", {
            none().taint(100, "small-1", "ToBeDeletedByClusterAutoscaler").evict(700, "web-1", 201).end(2000)
        }),
        ("SF-01", "budget_allows_it", "unknown", {
            web()
                .object(5, "PodDisruptionBudget", "default/web", budget(1))
                .evict(700, "web-1", 201)
                .end(2000)
        }),
        ("SF-02", "given_up", "held", tries(820).untaint(825, "small-1").end(2000)),
        ("SF-02", "keeps_the_taint", "violated", tries(820).end(2000)),
        ("SF-02", "forced", "violated", tries(820).give_back(830, 1).end(2000)),
        ("SF-02", "its_node_cannot_be_written", "unknown", {
            let (api, path) = (scaleproof::terms::Api::Kubernetes, "/api/v1/nodes/small-1");
            tries(820).call(824, api, "PUT", path, |call| call.status = 503).end(2000)
        }),
        ("SF-02", "the_next_drain_succeeds", "held", {
            let taint =
                |story: Story, second| story.taint(second, "small-1", "ToBeDeletedByClusterAutoscaler");
            let again = taint(tries(820).untaint(825, "small-1"), 1195).evict(1200, "web-1", 429);
            again.evict(1210, "web-1", 201).pod_gone(1300, "web-1").give_back(1302, 1).end(2000)
        }),
        ("SF-02", "keeps_the_taint_and_drains_again", "violated", {
            let again = (110..=112).fold(tries(820), |story, tens| story.evict(tens * 10, "web-1", 429));
            again.untaint(1125, "small-1").end(2000)
        }),
        ("SF-02", "tried_once", "unknown", tries(700).untaint(705, "small-1").end(2000)),
        (
            "SF-05",
            "let_go",
            "held",
            free()
                .taint(712, "small-1", "ToBeDeletedByClusterAutoscaler")
                .evict(720, metrics, 201)
                .pod_gone(722, metrics)
                .give_back(730, 1)
                .end(4000),
        ),
        ("SF-05", "kept", "violated", free().end(4000)),
        ("SF-05", "kept_long_after_a_fault", "violated", {
            let api = scaleproof::terms::Api::Kubernetes;
            free().call(100, api, "GET", "/api/v1/pods", |call| call.status = 503).end(4000)
        }),
        ("SF-05", "annotated_to_stay", "unknown", {
            let stays = annotated("scale-down-disabled", "true");
            free().object(20, "Node", "small-1", stays).end(4000)
        }),
        ("SF-05", "used_by_its_daemons", "unknown", {
            let daemon = json!({
                "metadata": {"ownerReferences": [{"kind": "DaemonSet", "name": "agent", "controller": true}]},
                "spec": {"containers": [{"resources": {"requests": {"cpu": "600m"}}}]},
            });
            let story = free().runs_as(5, "agent-1", "small-1", daemon.clone());
            story.runs_as(5, "agent-2", "small-2", daemon).end(4000)
        }),
        ("SF-05", "no_room_elsewhere", "unknown", free().gone(15, "Node", "small-2").end(4000)),
    ]
}

/// What must be so of each removal.
#[expect(clippy::too_many_lines, reason = "a table of stories")]
fn removals() -> Vec<Case> {
    let tainted = "ToBeDeletedByClusterAutoscaler";
    let web = || Story::new().node(0, 1, "small").runs(10, "web-1", "small-1");
    let delayed = |until: Option<u64>| {
        let key = "delay-deletion.cluster-autoscaler.kubernetes.io/csi";
        let story = Story::new().node(0, 1, "small");
        let story = story.object(5, "Node", "small-1", json!({"metadata": {"annotations": {key: "true"}}}));
        let story = story.taint(700, "small-1", tainted);
        match until {
            Some(until) => {
                story.object(until, "Node", "small-1", json!({"metadata": {"annotations": {key: null}}}))
            }
            None => story,
        }
    };
    let foreign = || {
        let node = json!({"metadata": {}, "spec": {"providerID": "hrobot://1"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
        Story::new().server(0, 5, "").object(0, "Node", "control-plane", node)
    };
    let started = || {
        let story = Story::asleep().node(0, 1, "small").runs(10, "web-1", "small-1");
        story.started(100, 0)
    };
    vec![
        ("SF-10", "taint_then_drain_then_give_back", "held", {
            let story = web().taint(700, "small-1", tainted).evict(706, "web-1", 201).pod_gone(710, "web-1");
            story.give_back(712, 1).end(2000)
        }),
        ("SF-10", "never_tainted", "violated", Story::new().node(0, 1, "small").give_back(700, 1).end(2000)),
        (
            "SF-10",
            "given_back_at_once",
            "violated",
            Story::new().node(0, 1, "small").taint(700, "small-1", tainted).give_back(702, 1).end(2000),
        ),
        ("SF-10", "drained_before_the_taint", "violated", {
            let story = web().evict(700, "web-1", 201).pod_gone(704, "web-1").taint(706, "small-1", tainted);
            story.give_back(712, 1).end(2000)
        }),
        (
            "SF-10",
            "pod_forgotten",
            "violated",
            web().taint(700, "small-1", tainted).give_back(712, 1).end(2000),
        ),
        ("SF-10", "drained_without_a_taint_and_kept", "violated", {
            web().evict(700, "web-1", 201).pod_gone(704, "web-1").end(2000)
        }),
        ("SF-10", "pod_that_an_earlier_drain_asked", "violated", {
            let story = web().taint(300, "small-1", tainted).evict(306, "web-1", 429).untaint(320, "small-1");
            story.taint(700, "small-1", tainted).give_back(712, 1).end(2000)
        }),
        ("SF-10", "pod_that_was_refused_to_go", "violated", {
            let story = web().taint(700, "small-1", tainted).evict(706, "web-1", 429);
            story.give_back(712, 1).end(2000)
        }),
        ("SF-10", "nothing_goes", "unknown", web().end(2000)),
        ("SF-10", "made_too_slowly", "unknown", {
            let story = Story::new().order_slow(112, "small", 7).server_as(372, 7, "small", "running");
            story.node_unready(390, 7, "small").give_back(412, 7).end(2000)
        }),
        ("SF-12", "waits_for_the_delay", "held", delayed(None).give_back(822, 1).end(2000)),
        ("SF-12", "waits_for_the_annotation", "held", delayed(Some(730)).give_back(733, 1).end(2000)),
        ("SF-12", "does_not_wait", "violated", delayed(None).give_back(712, 1).end(2000)),
        ("SF-12", "nothing_delays", "unknown", Story::new().node(0, 1, "small").removal(700, 1).end(2000)),
        ("SF-13", "nothing_goes", "held", started().end(2000)),
        ("SF-13", "goes_under_a_pod", "violated", started().removal(720, 1).end(2000)),
        ("SF-13", "goes_under_a_pod_that_was_once_asked", "violated", {
            let story = started().taint(300, "small-1", tainted).evict(306, "web-1", 429);
            story.untaint(320, "small-1").removal(1200, 1).end(2000)
        }),
        ("SF-13", "nothing_runs", "unknown", Story::new().node(0, 1, "small").removal(720, 1).end(2000)),
        ("SF-14", "left_alone", "held", foreign().end(2000)),
        ("SF-14", "foreign_server", "violated", foreign().give_back(100, 5).end(2000)),
        ("SF-14", "foreign_node", "violated", {
            let api = scaleproof::terms::Api::Kubernetes;
            foreign()
                .call(700, api, "PUT", "/api/v1/nodes/control-plane", |_| {})
                .taint(700, "control-plane", tainted)
                .end(2000)
        }),
        ("SF-14", "foreign_node_that_was_a_candidate", "violated", {
            let (api, path) = (scaleproof::terms::Api::Kubernetes, "/api/v1/nodes/control-plane");
            let story = foreign().taint(300, "control-plane", "DeletionCandidateOfClusterAutoscaler");
            let both = json!([
                {"key": "DeletionCandidateOfClusterAutoscaler", "effect": "PreferNoSchedule"},
                {"key": tainted, "effect": "NoSchedule"},
            ]);
            let story = story.call(700, api, "PUT", path, |_| {});
            story.object(700, "Node", "control-plane", json!({"spec": {"taints": both}})).end(2000)
        }),
        ("SF-14", "somebody_else_taints_it", "held", {
            let (api, path) = (scaleproof::terms::Api::Kubernetes, "/api/v1/nodes/control-plane");
            foreign().call(690, api, "PUT", path, |_| {}).taint(700, "control-plane", tainted).end(2000)
        }),
        (
            "SF-14",
            "foreign_pod",
            "violated",
            foreign().runs(10, "web-1", "control-plane").evict(700, "web-1", 201).end(2000),
        ),
        ("SF-14", "nothing_foreign", "unknown", web().end(2000)),
    ]
}
