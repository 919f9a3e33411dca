//! Laws that every check keeps, tried on every story: what nobody can know, or nobody has to know, decides nothing.

use std::time::Duration;

use mock_clock::Time;
use scaleproof::check::{Outcome, Verdict, catalogue, judge};
use scaleproof::history::{CallEvent, Event, History, What, file};
use scaleproof::terms::{Provider, Taint};
use serde_json::json;

use super::{Case, read, word};

/// A verdict as far as it may not change: in a word, how often, and what convicts.
fn told(code: &str, history: &History) -> (&'static str, usize, usize) {
    let expectation = catalogue().into_iter().find(|one| one.code.as_str() == code).unwrap();
    let verdict = (expectation.check)(history);
    match &verdict {
        Verdict::Held { exercised } => (word(&verdict), *exercised, 0),
        Verdict::Violated { exercised, evidence } => (word(&verdict), *exercised, evidence.len()),
        Verdict::Unknown { .. } => (word(&verdict), 0, 0),
    }
}

/// Every story is judged the same after a change that does not matter.
fn indifferent(change: impl Fn(&str, History) -> History) {
    let mut wrong = Vec::new();
    for (code, case, _, story) in super::cases() {
        let text = story.text(code, case);
        let (before, after) = (told(code, &read(&text)), told(code, &change(&text, read(&text))));
        if before != after {
            wrong.push(format!("{code} {case}: {before:?} became {after:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Who saw it: what one has seen is in its order.
fn witness(what: &What) -> String {
    match what {
        What::Object(object) => object.kind.clone(),
        What::Server(_) => "servers".to_owned(),
        What::Call(call) => format!("{:?}", call.to),
        // The harness tells what it does itself in one go.
        _ => "harness".to_owned(),
    }
}

#[test]
fn the_order_of_what_different_witnesses_saw_at_once_decides_nothing() {
    indifferent(|_, mut history| {
        let last = history.events.len() - 1;
        let mut from = 0;
        while from < last {
            let at = history.events[from].at;
            let until = from + history.events[from..last].iter().take_while(|event| event.at == at).count();
            history.events[from..until].sort_by_key(|event| std::cmp::Reverse(witness(&event.what)));
            from = until;
        }
        history
    });
}

#[test]
fn what_no_check_knows_of_decides_nothing() {
    indifferent(|_, mut history| {
        let events = std::mem::take(&mut history.events);
        for event in events {
            for what in [strange_object(), strange_call(event.at)] {
                history.events.push(Event { what, ..event.clone() });
            }
            history.events.push(event);
        }
        history
    });
}

fn strange_object() -> What {
    let object = json!({
        "change": "added", "kind": "Widget", "namespace": "default", "name": "small-1",
        "object": {"metadata": {"name": "small-1"}, "spec": {"nodeName": "small-1", "replicas": 3}},
    });
    serde_json::from_value(json!({"object": object})).unwrap()
}

fn strange_call(began: Time) -> What {
    let call: CallEvent = serde_json::from_value(json!({
        "replica": 0, "to": "kubernetes", "began": began.to_string(), "method": "GET",
        "path": "/apis/example.com/v1/widgets", "status": 200, "bytes": [0, 0], "done": true,
    }))
    .unwrap();
    What::Call(call)
}

#[test]
fn names_and_numbers_decide_nothing() {
    indifferent(|text, _| {
        let renamed = text.replace("small", "zebra").replace("big", "ant").replace("web-", "y-web-");
        read(&renamed)
    });
}

/// Every story has the same verdict after a change to what its subject has nothing to do with. What was never put to the test may
/// be, by what was added, and hold. Left out are the codes that are about just that.
fn unrelated(left_out: &[&str], change: impl Fn(History) -> History) {
    let mut wrong = Vec::new();
    for (code, case, _, story) in super::cases().into_iter().filter(|(code, ..)| !left_out.contains(code)) {
        let text = story.text(code, case);
        let (before, after) = (told(code, &read(&text)).0, told(code, &change(read(&text))).0);
        if before != after && (before, after) != ("unknown", "held") {
            wrong.push(format!("{code} {case}: {before} became {after}"));
        }
    }
    assert!(wrong.is_empty(), "{} are judged otherwise:\n{}\n", wrong.len(), wrong.join("\n"));
}

/// Tells something more, at the beginning.
fn at_first(history: &mut History, objects: &[serde_json::Value]) {
    let Some(first) = history.events.first().cloned() else { return };
    for object in objects.iter().rev() {
        let what = serde_json::from_value(object.clone()).unwrap();
        history.events.insert(1, Event { what, ..first.clone() });
    }
}

#[test]
fn a_pod_that_no_pool_takes_changes_no_verdict_of_others() {
    // It is to be told of by an event, and who looks for room for it is not idle.
    unrelated(&["HY-07", "HY-08"], |mut history| {
        let pod = json!({
            "metadata": {"name": "aside", "namespace": "aside", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"nodeSelector": {"example.com/nowhere": "yes"},
                "containers": [{"resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}]},
            "status": {"phase": "Pending", "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
        });
        at_first(
            &mut history,
            &[json!({"object": {
            "change": "added", "kind": "Pod", "namespace": "aside", "name": "aside", "object": pod}})],
        );
        history
    });
}

#[test]
fn a_pool_for_others_with_a_node_in_use_changes_no_verdict() {
    // They count all nodes there are.
    unrelated(&["MM-06", "MM-07"], |mut history| {
        if history.header.subject.provider != Provider::Hetzner {
            return history;
        }
        let mut pool = history.header.pools.first().unwrap().clone();
        let effect = "NoSchedule".to_owned();
        pool.taints = vec![Taint { key: "example.com/aside".into(), value: String::new(), effect }];
        (pool.name, pool.min, pool.max, pool.initial, pool.priority) = ("aside".into(), 1, 1, 1, None);
        let taints = serde_json::to_value(&pool.taints).unwrap();
        let (cpu, memory) = (pool.room.cpu_milli, pool.room.memory_mib);
        history.header.pools.push(pool);
        let node = json!({
            "metadata": {"creationTimestamp": "2025-12-31T00:00:00Z"},
            "spec": {"providerID": "hcloud://9001", "taints": taints},
            "status": {"conditions": [{"type": "Ready", "status": "True"}],
                "allocatable": {"cpu": format!("{cpu}m"), "memory": format!("{memory}Mi")}},
        });
        let pod = json!({
            "metadata": {"creationTimestamp": "2025-12-31T00:00:00Z",
                "ownerReferences": [{"kind": "ReplicaSet", "name": "aside", "controller": true}]},
            "spec": {"nodeName": "aside-9001", "tolerations": [{"key": "example.com/aside", "operator": "Exists"}],
                "containers": [{"resources": {"requests": {"cpu": format!("{}m", cpu * 9 / 10)}}}]},
            "status": {"phase": "Running"},
        });
        let object = |kind: &str, namespace: &str, name: &str, object: serde_json::Value| json!({"object": {"change": "added", "kind": kind, "namespace": namespace, "name": name, "object": object}});
        at_first(
            &mut history,
            &[
                json!({"server": {"change": "added", "id": 9001, "name": "aside-9001", "status": "running",
                "machine": "cx33", "location": "fsn1", "labels": {"hcloud/node-group": "aside"}, "by": ""}}),
                object("Node", "", "aside-9001", node),
                object("Pod", "aside", "aside", pod),
            ],
        );
        history
    });
}

/// A pool of claims for pods that ask for it, beside the others; nothing if the history is of no claims.
fn with_claims_aside(history: &mut History) -> bool {
    let karpenter = history.header.subject.provider == Provider::Karpenter;
    if karpenter {
        let mut pool = history.header.pools.first().unwrap().clone();
        (pool.name, pool.labels) = ("aside".into(), [("example.com/aside".into(), "yes".into())].into());
        history.header.pools.push(pool);
    }
    karpenter
}

#[test]
fn a_pod_that_waits_for_another_pool_changes_no_verdict_of_claims() {
    unrelated(&[], |mut history| {
        if with_claims_aside(&mut history) {
            let pod = json!({
                "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"},
                "spec": {"nodeSelector": {"example.com/aside": "yes"},
                    "containers": [{"resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}]},
                "status": {"phase": "Pending", "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
            });
            let event = json!({"change": "added", "kind": "Pod", "namespace": "aside", "name": "aside", "object": pod});
            at_first(&mut history, &[json!({"object": event})]);
        }
        history
    });
}

#[test]
fn a_pod_of_another_claim_that_may_not_be_evicted_changes_no_verdict_of_claims() {
    // An eviction that is granted, or asked for in vain, is what it is about; and who goes on asking is not stuck.
    unrelated(&[], |mut history| {
        if !with_claims_aside(&mut history) {
            return history;
        }
        let (ready, usable) =
            (conditions(&["Ready"]), conditions(&["Launched", "Registered", "Initialized"]));
        let claim = json!({
            "metadata": {"creationTimestamp": "2025-12-31T00:00:00Z", "labels": {"karpenter.sh/nodepool": "aside"},
                "finalizers": ["karpenter.sh/termination"], "deletionTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {}, "status": {"nodeName": "aside-1", "providerID": "kwok://aside-1", "conditions": usable},
        });
        let node = json!({
            "metadata": {"creationTimestamp": "2025-12-31T00:00:00Z", "labels": {"karpenter.sh/nodepool": "aside"},
                "deletionTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"providerID": "kwok://aside-1",
                "taints": [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]},
            "status": {"conditions": ready, "allocatable": {"cpu": "4000m", "memory": "8000Mi"}},
        });
        let pod = json!({
            "metadata": {"creationTimestamp": "2025-12-31T00:00:00Z",
                "annotations": {"karpenter.sh/do-not-disrupt": "true"},
                "ownerReferences": [{"kind": "ReplicaSet", "name": "aside", "controller": true}]},
            "spec": {"nodeName": "aside-1", "nodeSelector": {"example.com/aside": "yes"}, "containers": []},
            "status": {"phase": "Running"},
        });
        let object = |kind: &str, namespace: &str, name: &str, object: serde_json::Value| json!({"object": {"change": "added", "kind": kind, "namespace": namespace, "name": name, "object": object}});
        at_first(
            &mut history,
            &[
                object("NodeClaim", "", "aside-1", claim),
                object("Node", "", "aside-1", node),
                object("Pod", "aside", "aside", pod),
            ],
        );
        let refused: Vec<Event> = (1..40).map(|turn| refused_eviction(&history, turn * 45)).collect();
        let last = history.events.pop();
        let until = last.as_ref().map_or(history.header.began, |event| event.at);
        history.events.extend(refused.into_iter().filter(|event| event.at < until));
        history.events.sort_by_key(|event| event.at);
        history.events.extend(last);
        history
    });
}

fn conditions(kinds: &[&str]) -> serde_json::Value {
    json!(kinds.iter().map(|kind| json!({"type": kind, "status": "True"})).collect::<Vec<_>>())
}

/// The eviction of the pod aside is answered with an error of the server.
fn refused_eviction(history: &History, second: u64) -> Event {
    let began = history.header.began + Duration::from_secs(second);
    let call: CallEvent = serde_json::from_value(json!({
        "replica": 0, "to": "kubernetes", "began": began.to_string(), "method": "POST",
        "path": "/api/v1/namespaces/aside/pods/aside/eviction", "status": 500, "bytes": [0, 0], "done": true,
    }))
    .unwrap();
    Event { at: began + Duration::from_millis(10), real_us: 0, what: What::Call(call) }
}

#[test]
fn calls_that_take_two_seconds_more_change_no_verdict() {
    // The calls of a process do not outlive it.
    unrelated(&["FT-09"], |mut history| {
        let later = Duration::from_secs(2);
        let last = history.events.pop();
        for event in &mut history.events {
            if matches!(event.what, What::Call(_)) {
                event.at += later;
            }
        }
        history.events.sort_by_key(|event| event.at);
        history.events.extend(last);
        history
    });
}

fn outcome(history: &History, code: &str) -> Option<&'static str> {
    let judgement = judge(history);
    let judged = judgement.judged.into_iter().find(|judged| judged.code.to_string() == code)?;
    match judged.outcome {
        Outcome::Judged(verdict) => Some(word(&verdict)),
        Outcome::NotApplicable(_) => None,
    }
}

#[test]
fn a_history_that_is_cut_never_holds() {
    let mut wrong = Vec::new();
    for (code, case, verdict, story) in super::cases() {
        let text = story.text(code, case);
        // In the middle of each line but the first, without which there is no history.
        let cuts = text.match_indices('\n').skip(1).map(|(end, _)| end - 1);
        for cut in cuts {
            let history = file::read(&text.as_bytes()[..cut]).unwrap();
            if outcome(&history, code) == Some("held") {
                wrong.push(format!("{code} {case}, {verdict}, cut at byte {cut}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn a_cut_at_any_byte_is_read_or_refused() {
    let (code, case, _, story): Case =
        super::cases().into_iter().find(|(code, ..)| *code == "SF-10").unwrap();
    let text = story.text(code, case);
    for cut in 0..text.len() {
        if let Ok(history) = file::read(&text.as_bytes()[..cut]) {
            assert!(cut + 1 == text.len() || history.cut_short.is_some(), "cut at byte {cut}");
        }
    }
}
