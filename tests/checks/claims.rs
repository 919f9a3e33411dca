//! More stories of claims: whom an excuse excuses, and for how long; what is judged again; and what others have done.

use scaleproof::history::Change;
use scaleproof::terms::{Api, Consolidate, DisruptionBudget};
use serde_json::{Value, json};

use super::Case;
use super::karpenter::{
    CHOSEN, CLAIMS, Claims as _, NO, budget, conditions, drifted, emptied, karpenter, never, pinned_in,
    pooled, relabelled, served, used,
};
use super::story::{Story, at};

fn budgets(of: &[&str]) -> Vec<DisruptionBudget> {
    let one = |nodes: &&str| DisruptionBudget {
        nodes: (*nodes).to_owned(),
        reasons: vec![],
        schedule: None,
        duration: None,
    };
    of.iter().map(one).collect()
}

/// Nodes of claims a and b, of which one may go at a time.
fn tight(of: &[&str]) -> Story {
    let empty = |disruption: &mut scaleproof::terms::Disruption| {
        (disruption.consolidate, disruption.budgets) = (Consolidate::WhenEmpty, Some(budgets(of)));
    };
    pooled(empty).claim(0, "a").claim(0, "b")
}

/// A pod waits all the time, for a pool that is not the one of the nodes.
fn with_a_pod_for_another_pool(story: Story) -> Story {
    let story = story.pool("other", 0, 3, 4000).labelled("side", "other");
    story.pending_as(5, "elsewhere", json!({"spec": {"nodeSelector": {"side": "other"}}}))
}

/// Once a minute something is refused that is about another claim, or its node.
fn with_trouble_of_another(story: Story) -> Story {
    (0..30).fold(story.claim(0, "b"), |story, turn| {
        story.asks(turn * 60 + 1, "PATCH", "/api/v1/nodes/b", |call| call.status = 500)
    })
}

fn of_a_daemon(otherwise: &Value) -> Value {
    let mut pod =
        json!({"metadata": {"ownerReferences": [{"kind": "DaemonSet", "name": "net", "controller": true}]}});
    if let Some(annotations) = otherwise.get("annotations") {
        pod["metadata"]["annotations"] = annotations.clone();
    }
    pod
}

fn refused(story: Story, second: u64, path: &str) -> Story {
    story.asks(second, "PATCH", path, |call| call.status = 500)
}

/// The subject makes claim b, whose node comes, and does not say of it which node that is.
fn unregistered() -> Story {
    let story = karpenter().pending(90, "web-1").object(
        100,
        "NodeClaim",
        "b",
        json!({
            "metadata": {"creationTimestamp": at(100), "labels": {"karpenter.sh/nodepool": "small"},
                "finalizers": ["karpenter.sh/termination"]},
            "status": {"providerID": "kwok://b", "conditions": conditions(&["Launched"])},
        }),
    );
    story.object(101, "Node", "b", json!({
        "spec": {"providerID": "kwok://b", "taints": [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]},
    }))
}

/// Claim b, made before the template of its pool changes, with a node that is ready.
fn made_before(second: u64) -> Story {
    never().claimed(second, "b").object(
        second + 2,
        "Node",
        "b",
        json!({
            "metadata": {"labels": {"karpenter.sh/nodepool": "small"}},
            "spec": {"providerID": "kwok://b"}, "status": {"conditions": conditions(&["Ready"])},
        }),
    )
}

const USABLE: [&str; 3] = ["Launched", "Registered", "Initialized"];

fn empty_nodes() -> Vec<Case> {
    let two = || karpenter().claim(0, "a").claim(0, "b");
    let churn = |story: Story| {
        (1..30).fold(story, |story, turn| {
            story.pending(turn * 10, &format!("p-{turn}")).pod_gone(turn * 10 + 5, &format!("p-{turn}"))
        })
    };
    vec![
        (
            "KD-01",
            "a_pod_waits_for_another_pool",
            "violated",
            with_a_pod_for_another_pool(emptied()).end(900),
        ),
        ("KD-01", "a_pod_waited_for_a_while", "violated", {
            emptied().pending(150, "web-2").pod_gone(300, "web-2").end(900)
        }),
        ("KD-01", "not_ready_later", "violated", {
            emptied().ready(300, "a", false).ready(310, "a", true).end(1200)
        }),
        ("KD-01", "refused_at_first", "violated", refused(emptied(), 120, "/api/v1/nodes/a").end(1900)),
        ("KD-01", "the_budget_is_used_up", "unknown", tight(&["1"]).ready(60, "b", false).end(1900)),
        ("KD-01", "a_daemon_keeps_it", "unknown", {
            let keeps = of_a_daemon(&json!({"annotations": {NO: "true"}}));
            emptied().runs_as(10, "net-1", "a", keeps).end(900)
        }),
        ("KD-02", "the_others_are_used", "unknown", churn(two()).runs(20, "db-1", "b").end(900)),
        ("KD-02", "none_may_go", "unknown", churn(tight(&["0"])).end(900)),
        ("KD-02", "refused_at_first", "violated", { refused(churn(two()), 20, "/api/v1/nodes/a").end(900) }),
        ("KD-22", "is_used_again", "unknown", {
            relabelled(never().claim(0, "a"), 100).runs(105, "web-1", "a").end(1900)
        }),
        ("KD-22", "becomes_empty", "violated", {
            relabelled(used(never()), 100).pod_gone(200, "web-1").end(1900)
        }),
        ("KM-01", "was_dead_meanwhile", "unknown", {
            emptied().killed(130, 0).started(610, 0).choose(640, "a").end(1900)
        }),
        ("KM-01", "is_empty_again", "unknown", {
            let story = emptied().runs(300, "web-2", "a").pod_gone(560, "web-2");
            story.killed(600, 0).started(610, 0).choose(640, "a").end(1900)
        }),
    ]
}

fn choices() -> Vec<Case> {
    let underused = || pooled(|_| {});
    let replaced = || drifted(relabelled(used(never()), 50)).taint(60, "a", CHOSEN).claimed(61, "b");
    vec![
        ("KD-03", "chosen_too_early", "violated", {
            emptied().taint(120, "a", CHOSEN).told_to_go(400, "a").end(900)
        }),
        ("KD-03", "a_pod_ends_after_the_choice", "held", {
            let story =
                used(underused()).runs(20, "web-2", "a").pod_gone(100, "web-1").taint(190, "a", CHOSEN);
            story.pod_gone(395, "web-2").told_to_go(400, "a").claim_gone(410, "a").end(900)
        }),
        ("KD-04", "a_pod_comes_after_the_choice", "held", {
            emptied().taint(190, "a", CHOSEN).runs(200, "web-2", "a").told_to_go(230, "a").end(900)
        }),
        ("KD-07", "both_wait_to_be_replaced", "violated", {
            let story = tight(&["1"]).taint(100, "a", CHOSEN).taint(110, "b", CHOSEN);
            let story = story.told_to_go(200, "a").claim_gone(210, "a");
            story.told_to_go(300, "b").claim_gone(310, "b").end(900)
        }),
        ("KD-07", "another_fails_after_the_choice", "held", {
            let story = tight(&["1"]).taint(100, "a", CHOSEN).ready(120, "b", false);
            story.told_to_go(200, "a").claim_gone(210, "a").end(900)
        }),
        ("KD-07", "another_was_deleted_by_hand", "violated", {
            tight(&["1"]).node_ends(60, "b").choose(105, "a").claim_gone(115, "a").end(900)
        }),
        ("KD-07", "a_machine_is_given_back", "held", {
            let story = tight(&["1"]).choose(100, "a");
            let story = story.claim_is(110, "a", &[&USABLE[..], &["InstanceTerminating"]].concat());
            story.choose(150, "b").claim_gone(160, "b").claim_gone(190, "a").end(900)
        }),
        ("KD-07", "one_is_told_slowly", "violated", {
            let story = tight(&["1"]).taint(99, "a", CHOSEN).taint(99, "b", CHOSEN);
            let slow = format!("{CLAIMS}/a");
            let story = story.long_call(100, 120_000, Api::Kubernetes, "DELETE", &slow, |_| {});
            story.told_to_go(101, "b").end(900)
        }),
        ("KD-07", "another_budget_has_its_hours", "violated", {
            let story = tight(&["1", "0"]).but(|pool| {
                let budgets = pool.disruption.as_mut().unwrap().budgets.as_mut().unwrap();
                (budgets[1].schedule, budgets[1].duration) = (Some("@yearly".into()), Some("1h".into()));
            });
            story.choose(100, "a").choose(105, "b").end(900)
        }),
        ("KD-07", "all_may_go", "unknown", emptied().choose(190, "a").claim_gone(200, "a").end(900)),
        ("KD-12", "would_stay_anyway", "unknown", pinned_in(karpenter()).end(900)),
        ("KD-12", "is_pinned_after_the_choice", "unknown", {
            let story = used(underused()).taint(100, "a", CHOSEN);
            let pinned = json!({"metadata": {"annotations": {NO: "true"}}});
            story.object(150, "Pod", "default/web-1", pinned).told_to_go(190, "a").end(900)
        }),
        ("KD-12", "was_pinned_when_chosen", "violated", {
            let story = pinned_in(underused()).taint(100, "a", CHOSEN).pod_gone(150, "web-1");
            story.told_to_go(190, "a").end(900)
        }),
        ("KD-14", "drifted_with_a_grace_period", "violated", {
            let story = used(pooled(|disruption| disruption.grace = Some("1h".parse().unwrap())));
            let story = story.object(5, "Node", "a", json!({"metadata": {"annotations": {NO: "true"}}}));
            drifted(relabelled(story, 50)).choose(190, "a").end(900)
        }),
        ("KD-15", "would_stay_anyway", "unknown", budget(used(karpenter()), 0).end(900)),
        ("KD-16", "was_tainted_once", "violated", {
            emptied().taint(190, "a", CHOSEN).untaint(220, "a").told_to_go(400, "a").end(900)
        }),
        ("KD-16", "who_deleted_the_node_came_first", "unknown", {
            let story = emptied().asks(190, "DELETE", &format!("{CLAIMS}/a"), |_| {});
            let story = story.node_ends(191, "a");
            story.object(191, "NodeClaim", "a", json!({"metadata": {"deletionTimestamp": at(191)}})).end(900)
        }),
        ("KD-17", "a_pod_waits_for_another_pool", "violated", {
            with_a_pod_for_another_pool(replaced()).told_to_go(90, "a").end(900)
        }),
        ("KD-17", "the_replacement_failed", "violated", {
            replaced().gone(80, "NodeClaim", "b").told_to_go(90, "a").end(900)
        }),
        ("KD-17", "made_for_a_node_that_goes", "unknown", {
            let story = used(underused()).claim(0, "c").runs(10, "db-1", "c").node_ends(50, "c");
            story.taint(60, "a", CHOSEN).claimed(61, "b").told_to_go(62, "a").end(900)
        }),
        ("KD-18", "the_subject_was_dead", "unknown", {
            emptied().taint(190, "a", CHOSEN).killed(191, 0).started(770, 0).end(880)
        }),
        ("KD-18", "is_refused", "unknown", {
            refused(emptied().taint(190, "a", CHOSEN), 790, "/api/v1/nodes/a").end(850)
        }),
    ]
}

fn drift() -> Vec<Case> {
    let changed = |story: Story, second, template: Value| {
        story.object(second, "NodePool", "small", json!({"spec": {"template": template}}))
    };
    vec![
        ("KD-19", "changed_back", "unknown", {
            let back = json!({"metadata": {"labels": {"x": null}}});
            changed(relabelled(used(never()), 100), 150, back).end(1900)
        }),
        ("KD-19", "usable_later", "violated", {
            relabelled(made_before(50), 100).claim_is(150, "b", &USABLE).end(1900)
        }),
        ("KD-19", "other_requirements", "unknown", {
            let first = changed(never(), 0, json!({"spec": {"requirements": []}}));
            changed(used(first), 100, json!({"spec": {"requirements": [{"key": "x"}]}})).end(1900)
        }),
        ("KD-19", "kept_for_a_while", "violated", {
            relabelled(pinned_in(never()), 100).pod_gone(200, "web-1").end(1900)
        }),
        ("KD-19", "the_pool_is_full", "unknown", {
            relabelled(used(never()).claim(0, "b").claim(0, "c"), 100).end(1900)
        }),
        ("KD-20", "the_template_had_changed_before", "unknown", {
            let story = relabelled(used(never()), 50);
            let story = story.object(53, "NodePool", "small", json!({"spec": {"weight": 7}}));
            drifted(story).end(1900)
        }),
        ("KD-26", "a_pod_waits_for_another_pool", "violated", {
            let story = pinned_in(never()).node_ends(100, "a");
            with_a_pod_for_another_pool(story).claimed(300, "b").end(900)
        }),
        ("KP-03", "its_pool_has_got_a_label", "held", {
            let story = relabelled(karpenter(), 50);
            story
                .pending_as(90, "web-1", json!({"spec": {"nodeSelector": {"x": "y"}}}))
                .claimed(100, "b")
                .end(900)
        }),
        ("KP-03", "an_empty_node_goes", "violated", {
            never().claim(0, "a").node_ends(100, "a").claimed(300, "b").end(900)
        }),
    ]
}

fn lives() -> Vec<Case> {
    let labelled = json!({"metadata": {"labels": {"karpenter.sh/initialized": "true"}}});
    let half = || unregistered().object(103, "Node", "b", json!({"spec": {"taints": []}}));
    let named = json!({"status": {"nodeName": "b", "conditions": conditions(&USABLE[..2])}});
    let registered = || half().object(104, "NodeClaim", "b", named.clone());
    // A server that comes when its claim is gone.
    let late = || {
        let claim = json!({"metadata": {"labels": {"karpenter.sh/nodepool": "small"}}});
        let story = karpenter().object(1, "NodeClaim", "b", claim).gone(301, "NodeClaim", "b");
        story.what(400, served(Change::Added, "b"))
    };
    let foreign = || used(karpenter()).object(0, "Node", "by-hand", json!({"metadata": {"labels": {}}}));
    vec![
        ("KL-02", "nobody_registers", "violated", unregistered().end(900)),
        ("KL-02", "refused_at_first", "violated", refused(half(), 103, "/api/v1/nodes/b").end(900)),
        ("KL-05", "labelled_too_early", "violated", half().object(120, "Node", "b", labelled).end(900)),
        ("KL-06", "its_server_is_gone", "unknown", {
            let story = registered().what(101, served(Change::Added, "b"));
            story.what(190, served(Change::Deleted, "b")).told_to_go(200, "b").end(900)
        }),
        ("KL-08", "comes_later", "violated", late().end(900)),
        ("KL-08", "comes_later_and_goes", "held", late().what(500, served(Change::Deleted, "b")).end(900)),
        ("KL-12", "an_agent_takes_it_off", "unknown", {
            let story = used(karpenter()).taint(100, "a", "example.com/hand");
            let labels = json!({"metadata": {"labels": {"x": "y"}}});
            let story = story.asks(110, "PATCH", "/api/v1/nodes/a", |call| call.request = Some(labels));
            story.untaint(110, "a").end(900)
        }),
        ("KM-05", "is_not_registered_yet", "unknown", {
            refused(unregistered(), 103, "/api/v1/nodes/b").end(900)
        }),
        ("KM-05", "a_pod_is_deleted", "violated", {
            let story = foreign().runs(10, "db-1", "by-hand");
            story.asks(100, "DELETE", "/api/v1/namespaces/default/pods/db-1", |_| {}).end(900)
        }),
    ]
}

fn ends() -> Vec<Case> {
    let told = || emptied().choose(190, "a");
    let graced = |grace: &str| {
        let grace = grace.parse().unwrap();
        used(pooled(|disruption| disruption.grace = Some(grace)))
    };
    let attached = |story: Story| {
        let story = story.object(50, "VolumeAttachment", "v", json!({"spec": {"nodeName": "a"}}));
        story.gone(500, "VolumeAttachment", "v")
    };
    let given_back = |story: Story, asked, second| {
        let story = story.what(0, served(Change::Added, "a")).what(second, served(Change::Deleted, "a"));
        story.call(asked, Api::Cloud, "DELETE", "/v1/servers/7", |_| {})
    };
    let aged = || {
        used(pooled(|disruption| {
            (disruption.consolidate, disruption.expire_after) =
                (Consolidate::Never, Some("5m".parse().unwrap()));
        }))
    };
    let tolerant = json!({"spec": {"tolerations": [{"operator": "Exists"}]}});
    let deletes =
        |story: Story, second| story.asks(second, "DELETE", "/api/v1/namespaces/default/pods/web-1", |_| {});
    vec![
        ("KT-01", "a_pod_takes_its_time", "violated", {
            used(never()).node_ends(100, "a").pod_gone(140, "web-1").end(900)
        }),
        ("KT-01", "another_is_refused", "violated", {
            with_trouble_of_another(never().claim(0, "a").node_ends(100, "a")).end(900)
        }),
        ("KT-03", "deleted_long_before", "violated", {
            deletes(graced("1h").told_to_go(100, "a"), 110).end(900)
        }),
        ("KT-03", "deleted_at_the_deadline", "held", {
            let story = graced("1m").choose(98, "a").evict(102, "web-1", 429).evict(112, "web-1", 201);
            deletes(story, 130).pod_gone(160, "web-1").claim_gone(162, "a").end(900)
        }),
        ("KT-05", "before_its_grace_is_over", "violated", {
            attached(graced("1h").choose(190, "a").claim_gone(240, "a")).end(900)
        }),
        ("KT-05", "its_machine_failed", "unknown", {
            attached(emptied().choose(190, "a").ready(210, "a", false).claim_gone(240, "a")).end(900)
        }),
        ("KT-09", "the_cloud_takes_long", "held", {
            given_back(graced("1m").choose(100, "a"), 170, 400).claim_gone(402, "a").end(900)
        }),
        ("KT-11", "has_just_started", "unknown", aged().killed(100, 0).started(299, 0).end(345)),
        ("KT-11", "refused_at_first", "violated", {
            aged().asks(301, "DELETE", &format!("{CLAIMS}/a"), |call| call.status = 500).end(900)
        }),
        ("KT-12", "is_pinned_too_late", "unknown", {
            let pinned = json!({"metadata": {"annotations": {NO: "true"}}});
            let story = used(never()).node_ends(100, "a").object(108, "Pod", "default/web-1", pinned);
            story.evict(110, "web-1", 201).end(900)
        }),
        ("KT-13", "a_daemon_leaves_late", "held", {
            let story = told().runs_as(10, "net-1", "a", of_a_daemon(&json!({})));
            story.pod_gone(400, "net-1").claim_gone(420, "a").end(900)
        }),
        ("KT-13", "a_pod_does_not_mind", "violated", {
            never().claim(0, "a").runs_as(10, "web-1", "a", tolerant).told_to_go(100, "a").end(900)
        }),
        ("KT-13", "the_cloud_takes_long", "held", given_back(told(), 200, 600).claim_gone(610, "a").end(900)),
        ("KT-13", "the_cloud_is_asked_late", "violated", {
            let story = told().what(0, served(Change::Added, "a")).what(700, served(Change::Deleted, "a"));
            story.call(690, Api::Cloud, "DELETE", "/v1/servers/7", |_| {}).claim_gone(710, "a").end(900)
        }),
        ("KT-13", "another_is_refused", "violated", with_trouble_of_another(told()).end(900)),
        ("KT-17", "has_got_an_owner", "unknown", {
            let lease = json!({"metadata": {"name": "x"}});
            let owned = json!({"metadata": {"ownerReferences": [{"kind": "Node", "name": "x"}]}});
            let story = karpenter().object(100, "Lease", "kube-node-lease/x", lease);
            story.object(105, "Lease", "kube-node-lease/x", owned).end(900)
        }),
    ]
}

pub(crate) fn cases() -> Vec<Case> {
    [empty_nodes(), choices(), drift(), lives(), ends()].into_iter().flatten().collect()
}
