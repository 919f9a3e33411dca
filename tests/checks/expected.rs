//! What a scenario itself expects, decided from histories that were written to hold, to violate, and to leave it unknown.

use scaleproof::check::{Judged, Outcome, Verdict, judge};
use scaleproof::history::{
    BillEvent, CallEvent, FaultChange, History, LagEvent, Phase, StepChange, StepEvent, What,
};
use scaleproof::terms::{Api, Provider};
use serde_json::{Value, json};

use super::story::Story;
use super::{read, word};

type Change = fn(Story) -> Story;

/// A run in which a pod waits from 100 s on, a server is ordered at 112 s, and the pod runs at 160 s. Its first step begins at
/// 105 s and expects something.
fn run() -> Story {
    let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    let labels = json!({"metadata": {"labels": {"hcloud/node-group": "small"}}});
    Story::new()
        .pending(100, "web-1")
        .step(105, "expect something")
        .order(112, "small", 7)
        .node_as(150, 7, "small", labels)
        .runs_as(160, "web-1", "small-7", ready)
}

fn expecting(story: Story, expect: &Value) -> History {
    let mut history = read(&story.text("SU-01", "case"));
    let step = json!({"says": "expect something", "act": {"expect": expect}, "seed": 1});
    history.header.plan = json!({"steps": [step]});
    history
}

fn verdict(history: &History) -> Verdict {
    let judged = judge(history).judged.into_iter().find(|judged| judged.code.to_string() == "step 1");
    let Some(Judged { outcome: Outcome::Judged(verdict), asked: true, .. }) = judged else {
        panic!("{judged:?}")
    };
    verdict
}

/// A word for the verdict, and what it says.
fn told(history: &History) -> (&'static str, String) {
    let verdict = verdict(history);
    let says = match &verdict {
        Verdict::Held { exercised } => format!("{exercised} times"),
        Verdict::Violated { evidence, .. } => evidence[0].says.clone(),
        Verdict::Unknown { why } => why.clone(),
    };
    (word(&verdict), says)
}

#[test]
fn what_is_expected_is_decided_by_what_was_seen() {
    let bill = |story: Story| {
        let cost = |cost_millis| What::Bill(BillEvent { cost_millis });
        story.what(105, cost(0)).what(165, cost(40)).what(306, cost(120))
    };
    let bites = |story: Story| {
        let story = story.fault(90, "slow", FaultChange::Injected("slow".into()));
        story.fault(130, "slow", FaultChange::Bit("POST /servers".into()))
    };
    let same = |story: Story| story;
    let cases: Vec<(Value, Change, &str, &str)> = vec![
        (json!({"running": "web", "within": "1m"}), same, "held", ""),
        (json!({"running": "web", "within": "50s"}), same, "violated", "0 of 1 pods of web ran"),
        (json!({"running": "web", "throughout": "1m"}), same, "violated", "from the beginning"),
        (
            json!({"unschedulable": "web", "never": "1m"}),
            same,
            "violated",
            "there was 1 unschedulable pod of web",
        ),
        (json!({"gone": "web", "never": "3m"}), same, "held", ""),
        (
            json!({"pods": {"workload": "web", "state": "running", "count": 1}, "within": "1m"}),
            same,
            "held",
            "",
        ),
        (json!({"pods": {"count": {"at_most": 0}}, "within": "1m"}), same, "violated", "there was 1 pod"),
        (json!({"nodes": {"pool": "small", "count": {"at_least": 1}}, "within": "1m"}), same, "held", ""),
        (json!({"ready_nodes": {"pool": "small", "count": 0}, "throughout": "40s"}), same, "held", ""),
        (
            json!({"ready_nodes": {"pool": "small", "count": 0}, "throughout": "1m"}),
            same,
            "violated",
            "45 s after",
        ),
        (
            json!({"servers": {"pool": "small", "count": {"at_most": 1}}, "throughout": "3m"}),
            same,
            "held",
            "",
        ),
        (json!({"servers": {"count": 0}, "throughout": "3m"}), same, "violated", "there was 1 server"),
        (json!({"size": {"pool": "small", "count": 1}, "within": "3m"}), same, "held", ""),
        (json!({"ordered": "small", "within": "10s"}), same, "held", ""),
        (json!({"ordered": "small", "never": "1m"}), same, "violated", "1 machine was ordered for small"),
        (json!({"ordered": "large", "never": "1m"}), same, "held", ""),
        (json!({"orders": {"count": {"at_most": 1}}, "throughout": "3m"}), same, "held", ""),
        (json!({"given_back": "small", "never": "3m"}), same, "held", ""),
        (json!({"bill": {"at_most": "0.12"}, "throughout": "200s"}), bill, "held", ""),
        (json!({"bill": {"at_most": "0.1"}, "throughout": "200s"}), bill, "violated", "had cost €0.120"),
        (json!({"bitten": "slow", "within": "1m"}), bites, "held", ""),
        (json!({"bitten": "slow", "never": "1m"}), bites, "violated", "slow had hurt somebody"),
        (json!({"object": {"kind": "Node", "condition": "Ready"}, "within": "1m"}), same, "held", ""),
        (
            json!({"object": {"kind": "Node", "name": "small-7", "condition": "Ready", "is": false}, "within": "1m"}),
            same,
            "violated",
            "of Node small-7 was True",
        ),
        (
            json!({"object": {"kind": "Pod", "namespace": "default", "name": "web-1", "path": ".spec.nodeName"},
                "within": "1m"}),
            same,
            "held",
            "",
        ),
        (
            json!({"object": {"kind": "Pod", "name": "web-1", "path": ".status.phase", "is": "Failed"}, "within": "1m"}),
            same,
            "violated",
            ".status.phase of Pod web-1 was Running",
        ),
        (
            json!({"object": {"kind": "Node", "name": "none"}, "within": "1m"}),
            same,
            "violated",
            "no Node none",
        ),
    ];
    for (expect, change, wanted, says) in cases {
        let (is, told) = told(&expecting(change(run()).end(400), &expect));
        assert!(is == wanted && told.contains(says), "{expect}: {is}: {told}");
    }
}

#[test]
fn machines_and_claims_stand_for_servers() {
    let deployment = |replicas| json!({"spec": {"replicas": replicas}});
    let machine = json!({"metadata": {"uid": "u", "labels": {"cluster.x-k8s.io/deployment-name": "small"}}});
    let scale = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machinedeployments/small/scale";
    let write = |story: Story, second, replicas| {
        story.call(second, Api::Kubernetes, "PATCH", scale, |call| call.request = Some(deployment(replicas)))
    };
    let claim = |deleted: Value| json!({"metadata": {"labels": {"karpenter.sh/nodepool": "small"}, "deletionTimestamp": deleted}});
    let clusterapi = |story: Story| {
        let story = story.object(0, "MachineDeployment", "default/small", deployment(0)).step(105, "");
        let story = write(story, 110, 2).object(111, "MachineDeployment", "default/small", deployment(2));
        let story = story.object(111, "Machine", "default/small-1", machine);
        write(story, 200, 1).object(201, "MachineDeployment", "default/small", deployment(1)).end(400)
    };
    let karpenter = |story: Story| {
        let ask = |call: &mut CallEvent| call.request = Some(claim(Value::Null));
        let story = story.step(105, "").object(111, "NodeClaim", "small-1", claim(Value::Null));
        let story = story.call(110, Api::Kubernetes, "POST", "/apis/karpenter.sh/v1/nodeclaims", ask);
        let path = "/apis/karpenter.sh/v1/nodeclaims/small-1";
        let story = story.call(200, Api::Kubernetes, "DELETE", path, |_| {});
        story.object(201, "NodeClaim", "small-1", claim(json!("2026-01-01T00:03:20Z"))).end(400)
    };
    let small = |count: Value| json!({"pool": "small", "count": count});
    for (provider, story, orders, size) in [
        (Provider::Clusterapi, clusterapi(Story::new()), 2, 1),
        (Provider::Karpenter, karpenter(Story::new()), 1, 0),
    ] {
        for (expect, wanted) in [
            (json!({"servers": small(json!(1)), "within": "10s"}), "held"),
            (json!({"orders": small(json!(orders)), "within": "10s"}), "held"),
            (json!({"orders": small(json!(orders + 1)), "within": "2m"}), "violated"),
            (json!({"given_back": "small", "within": "2m"}), "held"),
            (json!({"given_back": "small", "never": "1m"}), "held"),
            (json!({"size": small(json!({"at_least": 1})), "within": "30s"}), "held"),
            (json!({"size": small(json!(size)), "throughout": "4m"}), "violated"),
        ] {
            let mut history = expecting(story.clone(), &expect);
            history.header.subject.provider = provider;
            let (is, says) = told(&history);
            assert_eq!(is, wanted, "{provider}, {expect}: {says}");
        }
    }
}

#[test]
fn what_convicts_is_the_event_that_shows_it() {
    let history = expecting(run().end(400), &json!({"ordered": "small", "never": "1m"}));
    let Verdict::Violated { evidence, .. } = verdict(&history) else { panic!() };
    let what = |event: &usize| &history.events[*event].what;
    let [begun, order] = evidence[0].events.as_slice() else { panic!("{evidence:?}") };
    assert!(matches!(what(begun), What::Step(_)) && matches!(what(order), What::Call(_)), "{evidence:?}");
}

#[test]
fn what_is_so_only_within_a_moment_was_never_so() {
    let never_three = json!({"servers": {"pool": "small", "count": {"at_least": 3}}, "never": "5m"});
    let replaced = |second| {
        let story = run().server(200, 8, "small").server(201, 9, "small").server_gone(second, 7);
        told(&expecting(story.end(500), &never_three)).0
    };
    assert_eq!([replaced(201), replaced(202)], ["held", "violated"]);
}

#[test]
fn a_time_that_the_run_did_not_reach_decides_nothing() {
    let never = json!({"given_back": "small", "never": "5m"});
    let whole = run().phase(404, Phase::Account).end(406);
    assert_eq!(told(&expecting(whole, &never)).0, "unknown", "a second is missing");
    let reached = run().phase(405, Phase::Account).end(406);
    assert_eq!(told(&expecting(reached, &never)).0, "held");
    // What goes when all is counted was there while it mattered.
    let stays = json!({"servers": {"count": {"at_least": 1}}, "never": "5m"});
    assert_eq!(told(&expecting(run().end(500), &stays)).0, "violated");
    let goes = json!({"gone": "web", "within": "10m"});
    let (is, says) =
        told(&expecting(run().phase(405, Phase::Account).pod_gone(406, "web-1").end(900), &goes));
    assert!(is == "unknown" && says.contains("the run was over after 300 of its 600 s"), "{says}");
    let mut history = expecting(run().end(400), &never);
    history.events.retain(|event| !matches!(event.what, What::Step(_)));
    assert_eq!(told(&history).1, "the run did not come to this step");
}

#[test]
fn what_comes_a_little_too_late_is_nobodys_fault() {
    let within = |time: &str| told(&expecting(run().end(400), &json!({"running": "web", "within": time}))).0;
    assert_eq!([within("55s"), within("54500ms"), within("53s")], ["held", "unknown", "violated"]);
}

#[test]
fn doubts_about_the_run_are_doubts_about_what_it_expects() {
    let held = json!({"running": "web", "within": "1m"});
    let late = What::Lag(LagEvent { late_us: 2_000_000, starved_us: 0 });
    assert_eq!(told(&expecting(run().what(200, late).end(400), &held)).0, "unknown");
    let overdue = StepChange::Overdue("nothing was there".into());
    let overdue = StepEvent { step: 4, says: "until it rains".into(), change: overdue, may_fail: false };
    let (is, why) = told(&expecting(run().what(300, What::Step(overdue)).end(400), &held));
    assert!(is == "unknown" && why.starts_with("step 5 was overdue"), "{why}");
    assert_eq!(told(&expecting(run(), &held)).0, "unknown", "the history is cut short");
    let violated = json!({"ordered": "small", "never": "1m"});
    assert_eq!(told(&expecting(run(), &violated)).0, "violated", "whatever would have come");
    let strange = json!({"weather": "fine", "within": "1m"});
    assert!(told(&expecting(run().end(400), &strange)).1.contains("judge the history with a newer one"));
}
