//! Stories of claims.

use scaleproof::history::{CallEvent, Change, ServerEvent, What};
use scaleproof::terms::{Api, Consolidate, Disruption, DisruptionBudget, Provider, Timer, Version};
use serde_json::{Value, json};

use super::Case;
use super::story::{Story, at};

pub(crate) const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";
pub(crate) const CHOSEN: &str = "karpenter.sh/disrupted";
pub(crate) const NO: &str = "karpenter.sh/do-not-disrupt";

pub(crate) fn conditions(kinds: &[&str]) -> Value {
    json!(kinds.iter().map(|kind| json!({"type": kind, "status": "True"})).collect::<Vec<_>>())
}

/// Karpenter, with a pool `small` whose nodes go when they are empty, all at once, after a minute.
pub(crate) fn karpenter() -> Story {
    pooled(|disruption| disruption.consolidate = Consolidate::WhenEmpty)
}

pub(crate) fn pooled(change: impl FnOnce(&mut Disruption)) -> Story {
    let all = DisruptionBudget { nodes: "100%".into(), reasons: vec![], schedule: None, duration: None };
    let mut disruption = Disruption { budgets: Some(vec![all]), ..Disruption::default() };
    change(&mut disruption);
    let mut story =
        Story::new().but(|pool| pool.disruption = Some(disruption)).timer(Timer::UnneededTime, "1m");
    story.header.subject.provider = Provider::Karpenter;
    story.header.subject.version = Some(Version::new(1, 0, 9));
    story.object(
        0,
        "NodePool",
        "small",
        json!({"spec": {"template": {"metadata": {"labels": {}}}, "weight": 1}}),
    )
}

pub(crate) trait Claims {
    fn claim(self, second: u64, name: &str) -> Self;
    fn claimed(self, second: u64, name: &str) -> Self;
    fn claimed_of(self, second: u64, pool: &str, name: &str) -> Self;
    fn claim_is(self, second: u64, name: &str, kinds: &[&str]) -> Self;
    fn told_to_go(self, second: u64, name: &str) -> Self;
    fn choose(self, second: u64, name: &str) -> Self;
    fn claim_gone(self, second: u64, name: &str) -> Self;
    fn node_ends(self, second: u64, name: &str) -> Self;
    fn asks(self, second: u64, method: &str, path: &str, change: impl FnOnce(&mut CallEvent)) -> Self;
}

impl Claims for Story {
    /// A claim that is there, with a node that can be used.
    fn claim(self, second: u64, name: &str) -> Self {
        let story = self.object(
            second,
            "NodeClaim",
            name,
            json!({
                "metadata": {"creationTimestamp": at(second), "labels": {"karpenter.sh/nodepool": "small"},
                    "finalizers": ["karpenter.sh/termination"]},
                "spec": {},
                "status": {"nodeName": name, "providerID": format!("kwok://{name}"),
                    "conditions": conditions(&["Launched", "Registered", "Initialized"])},
            }),
        );
        story.object(second, "Node", name, json!({
            "metadata": {"creationTimestamp": at(second), "finalizers": ["karpenter.sh/termination"],
                "labels": {"karpenter.sh/nodepool": "small", "karpenter.sh/registered": "true"},
                "ownerReferences": [{"kind": "NodeClaim", "name": name}]},
            "spec": {"providerID": format!("kwok://{name}")},
            "status": {"conditions": conditions(&["Ready"]), "allocatable": {"cpu": "4000m", "memory": "8000Mi"}},
        }))
    }

    /// The subject makes a claim, and it is launched at once.
    fn claimed(self, second: u64, name: &str) -> Self {
        let story = self.claimed_of(second, "small", name);
        story.object(second, "NodeClaim", name, json!({
            "metadata": {"creationTimestamp": at(second), "labels": {"karpenter.sh/nodepool": "small"},
                "finalizers": ["karpenter.sh/termination"]},
            "spec": {}, "status": {"nodeName": name, "providerID": format!("kwok://{name}"), "conditions": conditions(&["Launched"])},
        }))
    }

    /// The subject makes a claim of a pool.
    fn claimed_of(self, second: u64, pool: &str, name: &str) -> Self {
        self.asks(second, "POST", CLAIMS, |call| {
            call.status = 201;
            call.request = Some(json!({"metadata": {
                "generateName": format!("{pool}-"), "labels": {"karpenter.sh/nodepool": pool}}}));
            call.answer = Some(json!({"metadata": {"name": name}}));
        })
    }

    fn claim_is(self, second: u64, name: &str, kinds: &[&str]) -> Self {
        self.object(second, "NodeClaim", name, json!({"status": {"conditions": conditions(kinds)}}))
    }

    /// The subject deletes a claim, and it begins to go, with its node.
    fn told_to_go(self, second: u64, name: &str) -> Self {
        let story = self.asks(second, "DELETE", &format!("{CLAIMS}/{name}"), |_| {});
        let story = story.object(
            second + 1,
            "NodeClaim",
            name,
            json!({"metadata": {"deletionTimestamp": at(second)}}),
        );
        let story = story.asks(second, "DELETE", &format!("/api/v1/nodes/{name}"), |_| {});
        story.node_ends(second + 1, name)
    }

    /// The taint of those that were chosen, and the end of the claim.
    fn choose(self, second: u64, name: &str) -> Self {
        self.taint(second, name, CHOSEN).told_to_go(second + 2, name)
    }

    fn claim_gone(self, second: u64, name: &str) -> Self {
        self.gone(second, "Node", name).gone(second + 1, "NodeClaim", name)
    }

    fn node_ends(self, second: u64, name: &str) -> Self {
        self.object(second, "Node", name, json!({"metadata": {"deletionTimestamp": at(second)}}))
    }

    fn asks(self, second: u64, method: &str, path: &str, change: impl FnOnce(&mut CallEvent)) -> Self {
        self.call(second, Api::Kubernetes, method, path, change)
    }
}

/// Claim a with one pod, which leaves at 100 s.
pub(crate) fn emptied() -> Story {
    karpenter().claim(0, "a").runs(10, "web-1", "a").pod_gone(100, "web-1")
}

/// Claim a with one pod, which stays.
pub(crate) fn used(story: Story) -> Story {
    story.claim(0, "a").runs(10, "web-1", "a")
}

/// Claim a with one pod that is not to be disrupted.
pub(crate) fn pinned_in(story: Story) -> Story {
    story.claim(0, "a").runs_as(10, "web-1", "a", json!({"metadata": {"annotations": {NO: "true"}}}))
}

/// The same where it could be put elsewhere.
fn pinned() -> Story {
    pinned_in(pooled(|_| {}))
}

/// A disruption budget over the pods, of which so many may go.
pub(crate) fn budget(story: Story, allowed: u64) -> Story {
    let budget = json!({"spec": {"selector": {"matchLabels": {"app": "web"}}}, "status": {"disruptionsAllowed": allowed}});
    story.object(5, "PodDisruptionBudget", "default/web", budget)
}

pub(crate) fn relabelled(story: Story, second: u64) -> Story {
    story.object(
        second,
        "NodePool",
        "small",
        json!({"spec": {"template": {"metadata": {"labels": {"x": "y"}}}}}),
    )
}

/// Claim a says that it is not as its pool would make it.
pub(crate) fn drifted(story: Story) -> Story {
    story.claim_is(55, "a", &["Launched", "Registered", "Initialized", "Drifted"])
}

pub(crate) fn never() -> Story {
    pooled(|disruption| disruption.consolidate = Consolidate::Never)
}

#[expect(clippy::too_many_lines, reason = "a table of stories")]
fn disruption() -> Vec<Case> {
    let two = || karpenter().claim(0, "a").claim(0, "b");
    let churn = || {
        (1..30).fold(two(), |story, turn| {
            story.pending(turn * 10, &format!("p-{turn}")).pod_gone(turn * 10 + 5, &format!("p-{turn}"))
        })
    };
    let tight = || {
        let one = DisruptionBudget { nodes: "1".into(), reasons: vec![], schedule: None, duration: None };
        pooled(|disruption| {
            (disruption.consolidate, disruption.budgets) = (Consolidate::WhenEmpty, Some(vec![one]));
        })
        .claim(0, "a")
        .claim(0, "b")
    };
    let annotated = |value: &str| {
        karpenter().claim(0, "a").object(5, "Node", "a", json!({"metadata": {"annotations": {NO: value}}}))
    };
    let replaced = |initialized: u64| {
        let story = drifted(relabelled(used(never()), 50)).taint(60, "a", CHOSEN).claimed(61, "b");
        let story = story.claim_is(initialized, "b", &["Launched", "Registered", "Initialized"]);
        story.told_to_go(90, "a")
    };
    let leaving = || {
        used(never())
            .runs_as(10, "web-1", "a", json!({"metadata": {"annotations": {NO: "true"}}}))
            .node_ends(100, "a")
    };
    vec![
        ("KD-01", "gone_in_time", "held", emptied().choose(190, "a").claim_gone(200, "a").end(900)),
        ("KD-01", "another_pool_launches_for_long", "violated", {
            let story = emptied().pool("slow", 0, 3, 4000);
            let slow = json!({"metadata": {"labels": {"karpenter.sh/nodepool": "slow"}}, "status": {"conditions": []}});
            story.object(90, "NodeClaim", "c", slow).end(900)
        }),
        ("KD-01", "its_own_pool_launches", "unknown", {
            let own = json!({"metadata": {"labels": {"karpenter.sh/nodepool": "small"}}, "status": {"conditions": []}});
            emptied().object(90, "NodeClaim", "c", own).end(900)
        }),
        ("KD-01", "never_gone", "violated", emptied().end(900)),
        ("KD-01", "used", "unknown", used(karpenter()).end(900)),
        ("KD-02", "one_goes", "held", {
            let story = churn().choose(100, "a").claim_gone(110, "a");
            story.choose(340, "b").claim_gone(350, "b").end(900)
        }),
        ("KD-02", "none_goes", "violated", churn().end(900)),
        ("KD-02", "nothing_comes", "unknown", two().end(900)),
        ("KD-03", "in_its_time", "held", emptied().choose(190, "a").claim_gone(200, "a").end(900)),
        ("KD-03", "too_early", "violated", emptied().choose(120, "a").end(900)),
        ("KD-03", "nothing_goes", "unknown", used(karpenter()).end(900)),
        ("KD-04", "an_empty_one", "held", emptied().choose(190, "a").claim_gone(200, "a").end(900)),
        ("KD-04", "a_used_one", "violated", used(karpenter()).choose(190, "a").end(900)),
        ("KD-04", "nothing_goes", "unknown", used(karpenter()).end(900)),
        ("KD-06", "stays", "held", never().claim(0, "a").end(900)),
        ("KD-06", "goes", "violated", never().claim(0, "a").choose(190, "a").end(900)),
        ("KD-06", "is_used", "unknown", used(never()).end(900)),
        (
            "KD-07",
            "one_after_the_other",
            "held",
            tight().choose(100, "a").claim_gone(110, "a").choose(150, "b").claim_gone(160, "b").end(900),
        ),
        ("KD-07", "both_at_once", "violated", tight().choose(100, "a").choose(105, "b").end(900)),
        ("KD-07", "one_is_not_ready", "violated", {
            tight().ready(60, "b", false).choose(105, "a").claim_gone(115, "a").end(900)
        }),
        ("KD-07", "itself_is_not_ready", "held", {
            let story = tight().ready(60, "a", false).choose(70, "a").claim_gone(80, "a");
            story.choose(130, "b").claim_gone(140, "b").end(900)
        }),
        ("KD-07", "nothing_goes", "unknown", tight().end(900)),
        ("KD-12", "stays", "held", pinned().end(900)),
        ("KD-12", "goes", "violated", pinned().choose(190, "a").end(900)),
        ("KD-12", "nothing_is_pinned", "unknown", used(karpenter()).end(900)),
        ("KD-14", "stays", "held", annotated("true").end(900)),
        ("KD-14", "goes", "violated", annotated("true").choose(190, "a").end(900)),
        ("KD-14", "nothing_is_annotated", "unknown", annotated("false").end(900)),
        ("KD-15", "stays", "held", budget(used(pooled(|_| {})), 0).end(900)),
        ("KD-15", "goes", "violated", budget(used(pooled(|_| {})), 0).choose(190, "a").end(900)),
        ("KD-15", "lets_one_go", "unknown", budget(used(pooled(|_| {})), 1).end(900)),
        ("KD-16", "tainted", "held", emptied().choose(190, "a").claim_gone(200, "a").end(900)),
        ("KD-16", "not_tainted", "violated", emptied().told_to_go(190, "a").end(900)),
        ("KD-16", "nothing_goes", "unknown", emptied().end(900)),
        ("KD-17", "ready_first", "held", replaced(85).end(900)),
        ("KD-17", "not_yet", "violated", replaced(200).end(900)),
        ("KD-17", "nothing_is_replaced", "unknown", emptied().choose(190, "a").claim_gone(200, "a").end(900)),
        ("KD-18", "goes", "held", emptied().choose(190, "a").claim_gone(200, "a").end(1900)),
        ("KD-18", "is_let_go", "held", used(karpenter()).taint(190, "a", CHOSEN).untaint(300, "a").end(1900)),
        ("KD-18", "neither", "violated", emptied().taint(190, "a", CHOSEN).end(1900)),
        ("KD-18", "nothing_is_chosen", "unknown", emptied().end(1900)),
        ("KD-19", "replaced", "held", drifted(relabelled(used(never()), 100)).choose(200, "a").end(1900)),
        ("KD-19", "never", "violated", relabelled(used(never()), 100).end(1900)),
        ("KD-19", "nothing_changes", "unknown", used(never()).end(1900)),
        (
            "KD-22",
            "goes",
            "held",
            relabelled(never().claim(0, "a"), 100).choose(150, "a").claim_gone(160, "a").end(1900),
        ),
        ("KD-22", "never", "violated", relabelled(never().claim(0, "a"), 100).end(1900)),
        ("KD-22", "is_used", "unknown", relabelled(used(never()), 100).end(1900)),
        (
            "KD-20",
            "no_drift",
            "held",
            used(never()).object(100, "NodePool", "small", json!({"spec": {"weight": 7}})).end(1900),
        ),
        ("KD-20", "drift", "violated", {
            let story = used(never()).object(100, "NodePool", "small", json!({"spec": {"weight": 7}}));
            story.claim_is(110, "a", &["Launched", "Registered", "Initialized", "Drifted"]).end(1900)
        }),
        ("KD-20", "nothing_changes", "unknown", used(never()).end(1900)),
        ("KD-26", "nothing_is_bought", "held", leaving().end(900)),
        ("KD-26", "one_is_bought", "violated", leaving().claimed(300, "b").end(900)),
        ("KD-26", "nothing_goes", "unknown", used(never()).end(900)),
    ]
}

/// A server that was made for a claim.
pub(crate) fn served(change: Change, claim: &str) -> What {
    let labels = [("karpenter.sh/nodepool", "small"), ("karpenter.sh/nodeclaim", claim)];
    What::Server(ServerEvent {
        change,
        id: 7,
        name: claim.into(),
        status: "running".into(),
        machine: "cx33".into(),
        location: "fsn1".into(),
        labels: labels.map(|(key, value)| (key.into(), value.into())).into(),
        by: String::new(),
    })
}

/// A claim that is given up after five minutes, though a server was made for it.
fn given_up() -> Story {
    let claim = json!({"metadata": {"labels": {"karpenter.sh/nodepool": "small"}}});
    karpenter()
        .object(1, "NodeClaim", "b", claim)
        .what(2, served(Change::Added, "b"))
        .asks(300, "DELETE", &format!("{CLAIMS}/b"), |_| {})
        .gone(301, "NodeClaim", "b")
}

fn lives() -> Vec<Case> {
    let comes = |node: Value| {
        let story = karpenter().pending(90, "web-1").claimed(100, "b").object(101, "Node", "b", json!({
            "metadata": {"creationTimestamp": at(101)},
            "spec": {"providerID": "kwok://b", "taints": [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]},
        }));
        story.object(103, "Node", "b", node)
    };
    let registered = || {
        json!({
            "metadata": {"labels": {"karpenter.sh/nodepool": "small", "karpenter.sh/registered": "true"},
                "finalizers": ["karpenter.sh/termination"], "ownerReferences": [{"kind": "NodeClaim", "name": "b"}]},
            "spec": {"taints": []},
        })
    };
    let started = || comes(registered()).claim_is(104, "b", &["Launched", "Registered"]);
    let usable = ["Launched", "Registered", "Initialized"];
    let held = |finalizers: Value| {
        karpenter().object(
            10,
            "NodeClaim",
            "b",
            json!({
                "metadata": {"finalizers": finalizers, "labels": {"karpenter.sh/nodepool": "small"}},
                "status": {"conditions": conditions(&["Launched"])},
            }),
        )
    };
    let by_hand = || used(karpenter()).taint(100, "a", "example.com/hand");
    // A write that began before the taint came, and is done after it: these taints are there then.
    let raced = |left: &[&str]| {
        let taints: Vec<Value> = left.iter().map(|key| json!({"key": key, "effect": "NoSchedule"})).collect();
        let story = by_hand().long_call(95, 108_000, Api::Kubernetes, "PATCH", "/api/v1/nodes/a", |_| {});
        story.object(108, "Node", "a", json!({"spec": {"taints": taints}}))
    };
    let told = || emptied().choose(190, "a");
    let write = |story: Story, second| story.asks(second, "PATCH", "/api/v1/nodes/a", |_| {});
    let deleted = || never().claim(0, "a").node_ends(100, "a");
    vec![
        ("KL-01", "is_held", "held", held(json!(["karpenter.sh/termination"])).end(900)),
        ("KL-01", "is_not", "violated", held(json!([])).end(900)),
        ("KL-01", "none_is_launched", "unknown", karpenter().end(900)),
        ("KL-02", "registered", "held", started().end(900)),
        ("KL-02", "half", "violated", comes(json!({"spec": {"taints": []}})).end(900)),
        ("KL-02", "never_comes", "unknown", karpenter().claimed(100, "b").end(900)),
        (
            "KL-05",
            "ready_first",
            "held",
            started().ready(150, "b", true).claim_is(152, "b", &usable).runs(153, "web-1", "b").end(900),
        ),
        ("KL-05", "not_ready", "violated", started().claim_is(152, "b", &usable).end(900)),
        ("KL-05", "never", "unknown", started().end(900)),
        ("KL-06", "waits", "held", started().end(900)),
        ("KL-06", "goes", "violated", started().told_to_go(200, "b").end(900)),
        (
            "KL-06",
            "starts_at_once",
            "unknown",
            started().ready(105, "b", true).claim_is(106, "b", &usable).end(900),
        ),
        ("KL-08", "both_go", "held", given_up().what(310, served(Change::Deleted, "b")).end(900)),
        ("KL-08", "the_server_stays", "violated", given_up().end(900)),
        ("KL-08", "just_gone", "unknown", given_up().end(320)),
        (
            "KL-12",
            "survives",
            "held",
            raced(&["example.com/hand", CHOSEN]).taint(130, "a", "example.com/hand").end(900),
        ),
        ("KL-12", "is_refused", "held", {
            let story = by_hand();
            let refused = |call: &mut CallEvent| call.status = 409;
            story.long_call(95, 108_000, Api::Kubernetes, "PATCH", "/api/v1/nodes/a", refused).end(900)
        }),
        ("KL-12", "is_lost", "violated", raced(&[CHOSEN]).end(900)),
        ("KL-12", "is_lost_later", "violated", write(by_hand(), 110).untaint(110, "a").end(900)),
        ("KL-12", "is_written_afterwards", "unknown", write(by_hand(), 110).end(900)),
        ("KL-12", "nobody_taints", "unknown", write(karpenter().claim(0, "a"), 110).end(900)),
        ("KT-01", "both_go", "held", deleted().claim_gone(110, "a").end(900)),
        ("KT-01", "the_claim_stays", "violated", deleted().end(900)),
        ("KT-13", "goes", "held", told().claim_gone(240, "a").end(900)),
        ("KT-13", "never_goes", "violated", told().end(900)),
        ("KT-13", "a_pod_stays", "unknown", used(never()).told_to_go(100, "a").end(900)),
        ("KT-13", "nothing_is_told_to_go", "unknown", never().claim(0, "a").end(900)),
        ("KT-01", "nobody_deletes", "unknown", never().claim(0, "a").end(900)),
        ("KP-03", "waits", "held", karpenter().pending(90, "web-1").claimed(100, "b").end(900)),
        ("KP-03", "does_not", "violated", karpenter().claimed(100, "b").end(900)),
        ("KP-03", "by_hand", "unknown", karpenter().claimed_of(100, "static", "b").end(900)),
        ("KP-03", "nothing_is_made", "unknown", karpenter().end(900)),
    ]
}

fn ends() -> Vec<Case> {
    let attached = |gone| {
        let story = emptied().object(50, "VolumeAttachment", "v", json!({"spec": {"nodeName": "a"}}));
        story.choose(190, "a").gone(gone, "VolumeAttachment", "v")
    };
    let graced =
        || used(pooled(|disruption| disruption.grace = Some("1m".parse().unwrap()))).choose(100, "a");
    let aged = || {
        used(pooled(|disruption| {
            (disruption.consolidate, disruption.expire_after) =
                (Consolidate::Never, Some("5m".parse().unwrap()));
        }))
    };
    let lease =
        |second| karpenter().object(second, "Lease", "kube-node-lease/x", json!({"metadata": {"name": "x"}}));
    let stuck = || pinned().node_ends(100, "a");
    let restarted = |story: Story| story.killed(600, 0).started(610, 0);
    let foreign = || used(karpenter()).object(0, "Node", "by-hand", json!({"metadata": {"labels": {}}}));
    vec![
        ("KT-03", "evicted", "held", used(never()).node_ends(100, "a").evict(101, "web-1", 201).end(900)),
        ("KT-03", "deleted", "violated", {
            let story = used(never()).node_ends(100, "a");
            story.asks(101, "DELETE", "/api/v1/namespaces/default/pods/web-1", |_| {}).end(900)
        }),
        ("KT-03", "nothing_goes", "unknown", used(never()).end(900)),
        ("KT-05", "waits", "held", attached(220).claim_gone(240, "a").end(900)),
        ("KT-05", "does_not_wait", "violated", attached(500).claim_gone(240, "a").end(900)),
        ("KT-05", "nothing_is_attached", "unknown", emptied().choose(190, "a").claim_gone(240, "a").end(900)),
        ("KT-09", "in_time", "held", graced().claim_gone(150, "a").end(900)),
        ("KT-09", "never", "violated", graced().end(900)),
        ("KT-09", "nothing_goes", "unknown", used(never()).end(900)),
        ("KT-11", "in_time", "held", aged().told_to_go(302, "a").end(900)),
        ("KT-11", "never", "violated", aged().end(900)),
        ("KT-11", "too_young", "unknown", aged().end(200)),
        ("KT-12", "is_waited_for", "held", stuck().end(900)),
        ("KT-12", "is_killed", "violated", stuck().evict(110, "web-1", 201).end(900)),
        ("KT-12", "nothing_is_pinned", "unknown", used(never()).node_ends(100, "a").end(900)),
        ("KT-17", "collected", "held", lease(100).gone(102, "Lease", "kube-node-lease/x").end(900)),
        ("KT-17", "left", "violated", lease(100).end(900)),
        ("KT-17", "none", "unknown", karpenter().end(900)),
        ("KM-01", "before", "held", restarted(emptied().choose(190, "a").claim_gone(200, "a")).end(1900)),
        ("KM-01", "only_then", "violated", restarted(emptied()).choose(640, "a").end(1900)),
        ("KM-01", "no_restart", "unknown", emptied().choose(190, "a").claim_gone(200, "a").end(1900)),
        ("KM-05", "left_alone", "held", foreign().end(900)),
        (
            "KM-05",
            "written",
            "violated",
            foreign().asks(100, "PATCH", "/api/v1/nodes/by-hand", |_| {}).end(900),
        ),
        ("KM-05", "nothing_foreign", "unknown", karpenter().claim(0, "a").end(900)),
    ]
}

pub(crate) fn cases() -> Vec<Case> {
    [disruption(), lives(), ends()].into_iter().flatten().collect()
}
