//! From objects of the API to the plain values of a view.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use mock_clock::Time;

use crate::quantity::{milli, whole};
use crate::view::{
    Apart, Budget, Node, Operator, Owner, Pod, Requirement, Resources, Selector, Spread, Taint, Toleration,
};

const MIRROR: &str = "kubernetes.io/config.mirror";

pub(crate) fn node(node: &v1::Node) -> Node {
    let (spec, status) = (node.spec.clone().unwrap_or_default(), node.status.clone().unwrap_or_default());
    let conditions = status.conditions.unwrap_or_default();
    let ready = conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True");
    let taint = |taint: v1::Taint| Taint {
        key: taint.key,
        value: taint.value.unwrap_or_default(),
        effect: taint.effect,
    };
    Node {
        name: node.metadata.name.clone().unwrap_or_default(),
        labels: node.metadata.labels.clone().unwrap_or_default(),
        annotations: node.metadata.annotations.clone().unwrap_or_default(),
        taints: spec.taints.unwrap_or_default().into_iter().map(taint).collect(),
        provider_id: spec.provider_id.unwrap_or_default(),
        cordoned: spec.unschedulable.unwrap_or_default(),
        ready,
        created: created(&node.metadata),
        allocatable: resources(&status.allocatable.or(status.capacity).unwrap_or_default()),
    }
}

pub(crate) fn pod(pod: &v1::Pod) -> Pod {
    let status = pod.status.clone().unwrap_or_default();
    let conditions = status.conditions.unwrap_or_default();
    let unschedulable = conditions.iter().any(|condition| {
        condition.type_ == "PodScheduled"
            && condition.status == "False"
            && condition.reason.as_deref() == Some("Unschedulable")
    });
    Pod {
        nominated: status.nominated_node_name.is_some_and(|name| !name.is_empty()),
        unschedulable,
        ended: matches!(status.phase.as_deref(), Some("Succeeded" | "Failed")),
        ending: pod.metadata.deletion_timestamp.is_some(),
        ..described(&pod.metadata, &pod.spec.clone().unwrap_or_default())
    }
}

/// The pod that a daemon set would have on a node that it chooses.
pub(crate) fn daemon(set: &DaemonSet) -> Pod {
    let template = set.spec.clone().unwrap_or_default().template;
    let mut metadata = template.metadata.unwrap_or_default();
    metadata.namespace.clone_from(&set.metadata.namespace);
    metadata.name.clone_from(&set.metadata.name);
    let mut pod = described(&metadata, &template.spec.unwrap_or_default());
    pod.owner = Owner::DaemonSet;
    // The controller adds these, whatever the template says.
    for key in
        ["not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"]
    {
        pod.tolerations.push(Toleration {
            key: format!("node.kubernetes.io/{key}"),
            value: None,
            effect: String::new(),
        });
    }
    pod
}

pub(crate) fn budget(budget: &PodDisruptionBudget) -> Budget {
    let spec = budget.spec.clone().unwrap_or_default();
    Budget {
        namespace: budget.metadata.namespace.clone().unwrap_or_default(),
        // A budget without a selector covers nothing.
        selector: spec.selector.as_ref().map_or_else(
            || {
                Selector(vec![Requirement {
                    key: String::new(),
                    operator: Operator::Unknown,
                    values: Vec::new(),
                }])
            },
            selector,
        ),
        allowed: budget.status.as_ref().map_or(0, |status| status.disruptions_allowed),
    }
}

/// All that the metadata and the specification of a pod tell.
fn described(metadata: &meta::ObjectMeta, spec: &v1::PodSpec) -> Pod {
    let namespace = metadata.namespace.clone().unwrap_or_default();
    let affinity = spec.affinity.clone().unwrap_or_default();
    let apart = affinity.pod_anti_affinity.unwrap_or_default();
    let apart = apart.required_during_scheduling_ignored_during_execution.unwrap_or_default();
    Pod {
        name: metadata.name.clone().unwrap_or_default(),
        labels: metadata.labels.clone().unwrap_or_default(),
        annotations: metadata.annotations.clone().unwrap_or_default(),
        requests: requests(spec),
        selector: spec.node_selector.clone().unwrap_or_default(),
        affinity: affinity.node_affinity.map(node_terms).unwrap_or_default(),
        tolerations: spec.tolerations.iter().flatten().map(toleration).collect(),
        host_ports: host_ports(spec),
        apart: apart.iter().map(|term| apart_from(term, &namespace)).collect(),
        spread: spec.topology_spread_constraints.iter().flatten().filter_map(spread).collect(),
        priority: spec.priority.unwrap_or_default(),
        owner: owner(metadata),
        node: spec.node_name.clone().filter(|name| !name.is_empty()),
        nominated: false,
        unschedulable: false,
        created: created(metadata),
        ended: false,
        ending: false,
        local_volumes: spec
            .volumes
            .iter()
            .flatten()
            .filter(|volume| is_local(volume))
            .map(|v| v.name.clone())
            .collect(),
        grace_s: spec.termination_grace_period_seconds.and_then(|s| u64::try_from(s).ok()).unwrap_or(30),
        namespace,
    }
}

fn node_terms(affinity: v1::NodeAffinity) -> Vec<Selector> {
    let required = affinity.required_during_scheduling_ignored_during_execution;
    let terms = required.map(|required| required.node_selector_terms).unwrap_or_default();
    let requirement = |r: &v1::NodeSelectorRequirement| Requirement {
        key: r.key.clone(),
        operator: Operator::named(&r.operator),
        values: r.values.clone().unwrap_or_default(),
    };
    let name_of = |r: &v1::NodeSelectorRequirement| Requirement {
        // The one field there is tells the name, which nodes repeat as a label.
        key: "kubernetes.io/hostname".to_owned(),
        ..requirement(r)
    };
    let term = |term: &v1::NodeSelectorTerm| {
        let expressions = term.match_expressions.iter().flatten().map(requirement);
        Selector(expressions.chain(term.match_fields.iter().flatten().map(name_of)).collect())
    };
    // An empty term matches nothing.
    let unmet = |selector: &Selector| !selector.0.is_empty();
    terms.iter().map(term).filter(unmet).collect()
}

fn toleration(toleration: &v1::Toleration) -> Toleration {
    let exists = toleration.operator.as_deref() == Some("Exists");
    Toleration {
        key: toleration.key.clone().unwrap_or_default(),
        value: (!exists).then(|| toleration.value.clone().unwrap_or_default()),
        effect: toleration.effect.clone().unwrap_or_default(),
    }
}

fn apart_from(term: &v1::PodAffinityTerm, namespace: &str) -> Apart {
    let named: BTreeSet<String> = term.namespaces.iter().flatten().cloned().collect();
    Apart {
        namespaces: if named.is_empty() { [namespace.to_owned()].into() } else { named },
        selector: term.label_selector.as_ref().map(selector).unwrap_or_default(),
        topology_key: term.topology_key.clone(),
    }
}

/// A spread that is required, not only preferred.
fn spread(constraint: &v1::TopologySpreadConstraint) -> Option<Spread> {
    (constraint.when_unsatisfiable == "DoNotSchedule").then(|| Spread {
        selector: constraint.label_selector.as_ref().map(selector).unwrap_or_default(),
        topology_key: constraint.topology_key.clone(),
        max_skew: usize::try_from(constraint.max_skew).unwrap_or(1),
        min_domains: constraint.min_domains.and_then(|least| usize::try_from(least).ok()).unwrap_or(1),
    })
}

fn selector(labels: &meta::LabelSelector) -> Selector {
    let equal = labels.match_labels.iter().flatten().map(|(key, value)| Requirement::is(key, value));
    let expressions = labels.match_expressions.iter().flatten().map(|r| Requirement {
        key: r.key.clone(),
        operator: Operator::named(&r.operator),
        values: r.values.clone().unwrap_or_default(),
    });
    Selector(equal.chain(expressions).collect())
}

/// The sum of all containers, or the largest of those that run before them.
fn requests(spec: &v1::PodSpec) -> Resources {
    let of = |container: &v1::Container| {
        resources(&container.resources.clone().unwrap_or_default().requests.unwrap_or_default())
    };
    let mut sum = Resources { pods: 1, ..Resources::default() };
    let sidecar = |container: &&v1::Container| container.restart_policy.as_deref() == Some("Always");
    let before = spec.init_containers.iter().flatten();
    for container in spec.containers.iter().chain(before.clone().filter(sidecar)) {
        sum.add(&of(container));
    }
    for container in before.filter(|container| !sidecar(container)) {
        let alone = of(container);
        (sum.cpu, sum.memory) = (sum.cpu.max(alone.cpu), sum.memory.max(alone.memory));
    }
    sum.add(&resources(&spec.overhead.clone().unwrap_or_default()));
    sum
}

fn resources(quantities: &BTreeMap<String, Quantity>) -> Resources {
    let mut resources = Resources::default();
    for (name, quantity) in quantities {
        match name.as_str() {
            "cpu" => resources.cpu = milli(&quantity.0),
            "memory" => resources.memory = whole(&quantity.0),
            "pods" => resources.pods = whole(&quantity.0),
            _ => drop(resources.other.insert(name.clone(), whole(&quantity.0))),
        }
    }
    resources
}

fn host_ports(spec: &v1::PodSpec) -> BTreeSet<(String, i32)> {
    let ports = spec.containers.iter().flat_map(|container| container.ports.iter().flatten());
    let port = |port: &v1::ContainerPort| {
        let protocol = port.protocol.clone().unwrap_or_else(|| "TCP".to_owned());
        port.host_port.filter(|number| *number > 0).map(|number| (protocol, number))
    };
    ports.filter_map(port).collect()
}

fn is_local(volume: &v1::Volume) -> bool {
    let in_memory = |empty: &v1::EmptyDirVolumeSource| empty.medium.as_deref() == Some("Memory");
    volume.host_path.is_some() || volume.empty_dir.as_ref().is_some_and(|empty| !in_memory(empty))
}

fn owner(metadata: &meta::ObjectMeta) -> Owner {
    if metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(MIRROR)) {
        return Owner::Mirror;
    }
    let controller = metadata.owner_references.iter().flatten().find(|owner| owner.controller == Some(true));
    match controller {
        None => Owner::Nobody,
        Some(owner) => match owner.kind.as_str() {
            "DaemonSet" => Owner::DaemonSet,
            "ReplicaSet" | "ReplicationController" => Owner::Set(owner.uid.clone()),
            _ => Owner::Other,
        },
    }
}

fn created(metadata: &meta::ObjectMeta) -> Time {
    let stamp: Option<Timestamp> = metadata.creation_timestamp.as_ref().map(|time| time.0);
    stamp.and_then(|stamp| Time::try_from(stamp).ok()).unwrap_or(Time::EPOCH)
}
