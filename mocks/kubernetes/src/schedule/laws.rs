//! Laws of the scheduler on clusters drawn at random.

use std::collections::{BTreeMap, BTreeSet};

use mock_clock::Time;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::cluster::{Cluster, Count};
use super::decide::Decider;
use super::observe::Seen;
use super::scheduler::{Action, Scheduler};
use super::score::Packing;

const NOW: Time = Time::from_unix_nanos(1_000_000_000_000);

/// Something that happens.
#[derive(Clone, Debug)]
enum Happening {
    Node { name: usize, cpu: u32, zone: usize },
    NodeGoes { name: usize },
    Pod { name: usize, node: Option<usize>, cpu: u32, app: usize, style: usize, generation: usize },
    PodEnds { name: usize },
    PodGoes { name: usize },
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        3 => (0..5usize, 1..8u32, 0..2usize).prop_map(|(name, cpu, zone)| Happening::Node { name, cpu, zone }),
        1 => (0..5usize).prop_map(|name| Happening::NodeGoes { name }),
        8 => (0..12usize, proptest::option::of(0..5usize), 0..4u32, 0..3usize, 0..5usize, 0..2usize).prop_map(
            |(name, node, cpu, app, style, generation)| Happening::Pod { name, node, cpu, app, style, generation }
        ),
        1 => (0..12usize).prop_map(|name| Happening::PodEnds { name }),
        2 => (0..12usize).prop_map(|name| Happening::PodGoes { name }),
    ]
}

fn node(name: usize, cpu: u32, zone: usize) -> Value {
    json!({"kind": "Node", "metadata": {"name": format!("n{name}"), "labels": {"zone": format!("z{zone}")}},
        "status": {"allocatable": {"cpu": cpu.to_string(), "memory": "8Gi", "pods": "4"}}})
}

fn pod(name: usize, cpu: u32, app: usize, style: usize, generation: usize) -> Value {
    let other = format!("app{}", (app + 1) % 3);
    let term = json!([{"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": other}}}]);
    let mut pod = json!({"kind": "Pod", "metadata": {"name": format!("p{name}"), "namespace": "default",
            "uid": format!("u{name}-{generation}"), "labels": {"app": format!("app{app}")}},
        "spec": {"schedulerName": "default-scheduler", "containers": [
            {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu.to_string()}}}]}});
    match style {
        0 => {
            pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
                term;
        }
        1 => pod["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = term,
        2 => pod["spec"]["containers"][0]["ports"] = json!([{"containerPort": 80, "hostPort": 80}]),
        3 => pod["spec"]["volumes"] = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]),
        _ => {}
    }
    pod
}

fn see(cluster: &mut Cluster, plural: &str, object: &Value) {
    cluster.see(&Seen::parse(plural, object.to_string().as_bytes()).unwrap());
}

/// All that decisions are made from, in a form that does not know in which order it came about.
fn digest(cluster: &mut Cluster) -> Vec<String> {
    cluster.arrange();
    let mut digest = Vec::new();
    let key = |id: &usize| cluster.pod(*id).unwrap().key.clone();
    for node in cluster.nodes.iter().filter(|node| node.present || !node.pods.is_empty()) {
        let pods: BTreeSet<_> = node.pods.iter().map(key).collect();
        let ports: BTreeSet<_> = node.ports.iter().collect();
        let (facts, requested) = (&node.facts, &node.requested);
        digest.push(format!("{facts:?} {} {requested:?} {:?} {pods:?} {ports:?}", node.present, node.scored));
    }
    for (id, kept) in cluster.shapes.iter().enumerate() {
        let Some(kept) = kept else { continue };
        let named = |(node, count): (&usize, &Count)| (cluster.nodes[*node].facts.name.clone(), *count);
        let on: BTreeMap<Box<str>, String> =
            kept.on.iter().map(named).map(|(name, count)| (name, format!("{count:?}"))).collect();
        let sets = (cluster.repelling.contains(&id), cluster.attracting.contains(&id));
        digest.push(format!("{:?} {on:?} {sets:?}", kept.shape));
    }
    digest.push(format!("{:?}", cluster.claim_users));
    digest.sort();
    let order = cluster.order.iter().map(|id| cluster.nodes[*id].facts.name.clone());
    digest.push(format!("{:?}", order.collect::<Vec<_>>()));
    digest
}

proptest! {
    #[test]
    fn what_is_known_does_not_depend_on_the_way_there(
        happenings in proptest::collection::vec(happening(), 0..60),
    ) {
        let mut cluster = Cluster::default();
        let (mut nodes, mut pods) = (BTreeMap::new(), BTreeMap::new());
        for happening in happenings {
            match happening {
                Happening::Node { name, cpu, zone } => {
                    let node = node(name, cpu, zone);
                    see(&mut cluster, "nodes", &node);
                    nodes.insert(name, node);
                }
                Happening::NodeGoes { name } => {
                    cluster.miss("nodes", "", &format!("n{name}"));
                    nodes.remove(&name);
                }
                Happening::Pod { name, node, cpu, app, style, generation } => {
                    let mut pod = pod(name, cpu, app, style, generation);
                    if let Some(node) = node {
                        pod["spec"]["nodeName"] = format!("n{node}").into();
                    }
                    see(&mut cluster, "pods", &pod);
                    pods.insert(name, pod);
                }
                Happening::PodEnds { name } => {
                    if let Some(mut pod) = pods.remove(&name) {
                        pod["status"] = json!({"phase": "Succeeded"});
                        see(&mut cluster, "pods", &pod);
                    }
                }
                Happening::PodGoes { name } => {
                    cluster.miss("pods", "default", &format!("p{name}"));
                    pods.remove(&name);
                }
            }
        }
        let mut afresh = Cluster::default();
        for node in nodes.values() {
            see(&mut afresh, "nodes", node);
        }
        for pod in pods.values() {
            see(&mut afresh, "pods", pod);
        }
        prop_assert_eq!(digest(&mut cluster), digest(&mut afresh));
    }

    #[test]
    fn no_node_is_given_more_than_it_has(
        sizes in proptest::collection::vec(1..8u32, 1..5),
        pods in proptest::collection::vec((0..4u32, 0..3usize, 0..5usize), 0..30),
        seed: u64,
    ) {
        let (bound, again) = (bind_all(&sizes, &pods, seed), bind_all(&sizes, &pods, seed));
        prop_assert_eq!(&bound, &again, "the same seed, the same decisions");
        for (name, has) in sizes.iter().enumerate() {
            let on = |pod: &&usize| bound.get(*pod).is_some_and(|node| **node == *format!("n{name}"));
            let placed: Vec<usize> = (0..pods.len()).filter(|pod| on(&pod)).collect();
            prop_assert!(placed.len() <= 4, "four pods fit");
            prop_assert!(placed.iter().map(|pod| pods[*pod].0).sum::<u32>() <= *has);
            prop_assert!(placed.iter().filter(|pod| pods[**pod].2 == 2).count() <= 1, "one has the port");
        }
    }
}

/// Where every pod goes that finds a node, told back only after all have been tried.
fn bind_all(sizes: &[u32], pods: &[(u32, usize, usize)], seed: u64) -> BTreeMap<usize, Box<str>> {
    let mut scheduler = Scheduler::new("default-scheduler", Decider::new(seed, Packing::LeastAllocated, 0));
    let mut see = |plural: &str, object: &Value| {
        scheduler.see(&Seen::parse(plural, object.to_string().as_bytes()).unwrap(), NOW);
    };
    for (name, cpu) in sizes.iter().enumerate() {
        see("nodes", &node(name, *cpu, name % 2));
    }
    for (name, (cpu, app, style)) in pods.iter().enumerate() {
        see("pods", &pod(name, *cpu, *app, *style, 0));
    }
    let mut bound = BTreeMap::new();
    let mut hands = |action: Action| {
        if let Action::Bind { pod, node } = action {
            assert!(bound.insert(pod.name()[1..].parse().unwrap(), node).is_none(), "bound once");
        }
        Ok(())
    };
    while scheduler.turn(NOW, &mut hands) {}
    bound
}
