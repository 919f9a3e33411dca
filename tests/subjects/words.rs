//! Words of scenarios that act: each is seen in the history of a run.

use scaleproof::history::{CallEvent, Event, History, ServerEvent, StepChange, What};
use scaleproof::terms::Api;
use serde_json::Value;

use crate::workshop::{Workshop, events};

const MANY: &str = "
title: Words that act
expect: [SU-01]
given:
  pools: {small: {min: 0, max: 5}}
  subject: {arguments: [--max-nodes-total=3], environment: {HOUSE: ours}}
steps:
  - hurt: {calls: {on: {to: cloud, method: POST, path: /v1/servers}, fate: {delay_answer: 20s}}, name: late}
  - deploy:
      name: web
      pods: 3
      cpu: 2500m
      memory: 1Gi
      grace: 7s
      max_unavailable: 0
      spread: {over: kubernetes.io/hostname}
      node_affinity: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
  - until: {server_status: {pool: small, status: running, count: 2}, at_most: 5m}
  - until: {bitten_times: {fault: late, times: 2}, at_most: 2m}
  - heal: late
  - change: {workload: web, pods: 2, budget: {min_available: 2}, labels: {tier: gold}}
  - until: {running_for: {workload: web, lasting: 2m}, at_most: 15m}
  - change: {workload: web, budget: none}
  - create: {apiVersion: v1, kind: Pod, metadata: {name: lone}, spec: {containers: [{name: main, image: hollow:1}]}}
  - delete: {kind: Pod, name: lone}
  - delete: {kind: ConfigMap, name: nobody, namespace: kube-system}
";

const LATE: &str = "
title: Kubelets register with a taint that somebody takes off
expect: [SU-01]
given:
  pools: {small: {min: 0, max: 1, registers_with: [{key: example.com/starting, effect: NoSchedule}]}}
steps:
  - deploy: {name: web, cpu: 2500m, memory: 1Gi}
  - until: {ready_nodes: {pool: small, count: 1}, at_most: 10m}
  - until: {running: web, at_most: 30s}
  - node: {pool: small, untaint: example.com/starting}
  - until: {running: web, at_most: 2m}
  - node: {pool: small, untaint: example.com/starting}
";

fn overdue(history: &History) -> Vec<(usize, String)> {
    let late = events(history, |what| match what {
        What::Step(step) => match &step.change {
            StepChange::Overdue(instead) => Some((step.step, instead.clone())),
            _ => None,
        },
        _ => None,
    });
    late.into_iter().map(|(_, late)| late).collect()
}

fn objects<'a>(history: &'a History, kind: &'a str) -> Vec<&'a Value> {
    let of_kind = events(history, move |what| match what {
        What::Object(object) if object.kind == kind => Some(&object.object),
        _ => None,
    });
    of_kind.into_iter().map(|(_, object)| object).collect()
}

fn orders(history: &History) -> Vec<(&Event, &CallEvent)> {
    events(history, |what| match what {
        What::Call(call) if call.to == Api::Cloud && call.method == "POST" && call.path == "/v1/servers" => {
            Some(call)
        }
        _ => None,
    })
}

fn added(history: &History) -> Vec<(&Event, &ServerEvent)> {
    let mut seen = Vec::new();
    events(history, |what| if let What::Server(server) = what { Some(server) } else { None })
        .into_iter()
        .filter(|(_, server)| {
            let new = !seen.contains(&server.id);
            seen.push(server.id);
            new
        })
        .collect()
}

#[test]
fn many_at_once() {
    let workshop = Workshop::open("words");
    let (_, out, err) = workshop.run(MANY, None);
    let history = workshop.history();
    let last = overdue(&history);
    let [(10, nothing)] = last.as_slice() else { panic!("{last:?} {out} {err}") };
    assert!(nothing.starts_with("nothing was done: ") && nothing.contains("nobody"), "{nothing}");

    let (orders, added) = (orders(&history), added(&history));
    let (done, order) = (added[0].0.at, orders[0]);
    assert!(order.1.fate.as_deref() == Some("late") && order.1.status == 201, "{:?}", order.1);
    assert!((done - order.1.began).as_secs() < 5, "it is done at once");
    assert!((order.0.at - order.1.began).as_secs() >= 20, "and answered late");
    assert_eq!(added.len(), 2, "what the subject was told holds: two nodes more than the one there is");

    let web = |pod: &&&Value| pod["metadata"]["labels"]["app"] == "web";
    let pods = objects(&history, "Pod");
    let spec = &pods.iter().find(web).unwrap()["spec"];
    assert_eq!(spec["terminationGracePeriodSeconds"], 7);
    assert_eq!(spec["topologySpreadConstraints"][0]["whenUnsatisfiable"], "DoNotSchedule");
    let terms = &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    assert_eq!(terms["nodeSelectorTerms"][0]["matchExpressions"][0]["operator"], "In");
    assert!(pods.iter().filter(web).any(|pod| pod["metadata"]["labels"]["tier"] == "gold"));
    assert!(pods.iter().any(|pod| pod["metadata"]["name"] == "lone"));

    let budgets = objects(&history, "PodDisruptionBudget");
    let said: Vec<&Value> = budgets.iter().map(|budget| &budget["spec"]["minAvailable"]).collect();
    assert!(
        said.first().is_some_and(|said| said.is_null()) && said.iter().any(|said| **said == 2),
        "{said:?}"
    );
    let subject = &history.header.subject;
    assert_eq!(subject.environment["HOUSE"], "ours");
    assert!(
        subject.deviations.iter().any(|it| it == "it is told --max-nodes-total=3"),
        "{:?}",
        subject.deviations
    );
}

#[test]
fn kubelets_register_with_a_taint() {
    let workshop = Workshop::open("registers-with");
    let (_, out, err) = workshop.run(LATE, None);
    let late = overdue(&workshop.history());
    let steps: Vec<usize> = late.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, [2, 5], "it kept pods away until it was taken off, once: {late:?} {out} {err}");
    assert!(late[1].1.ends_with(" has no taint example.com/starting"), "{late:?}");
}
