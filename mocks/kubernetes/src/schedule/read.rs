//! Pods as the API has them, read into shapes. What admission let through is read; what makes no sense selects nothing.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Affinity, Container, NodeSelectorTerm, Pod, PodAffinityTerm, PodSpec, Toleration as Tolerates,
    TopologySpreadConstraint,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use crate::selector::{Labels as _, Operator, Requirement, Selector};

use super::request::{is_sidecar, requests, scored};
use super::shape::{Claim, FieldRule, Labels, NodeRule, NodeTerm, PodTerm, Port, Shape, Spread, Toleration};

/// Labels, or any other map of texts.
pub(super) fn labels(map: Option<&BTreeMap<String, String>>) -> Labels {
    let pair = |(key, value): (&String, &String)| (key.as_str().into(), value.as_str().into());
    map.into_iter().flatten().map(pair).collect()
}

/// What a pod is like. A pod without a spec asks for nothing.
pub(super) fn shape(pod: &Pod) -> Shape {
    let empty = PodSpec::default();
    let spec = pod.spec.as_ref().unwrap_or(&empty);
    let reader = Reader {
        namespace: pod.metadata.namespace.as_deref().unwrap_or_default(),
        labels: labels(pod.metadata.labels.as_ref()),
    };
    let affinity = spec.affinity.as_ref();
    Shape {
        namespace: reader.namespace.into(),
        requests: requests(spec),
        scored: scored(spec),
        tolerations: spec.tolerations.iter().flatten().map(toleration).collect(),
        nodes: node_rule(spec),
        preferred_nodes: preferred_nodes(affinity),
        affinity: reader.required(affinity, true),
        anti_affinity: reader.required(affinity, false),
        preferred_pods: reader.preferred(affinity),
        spread: spec.topology_spread_constraints.iter().flatten().map(|one| reader.spread(one)).collect(),
        ports: ports(spec),
        claims: claims(pod, spec),
        never_preempts: spec.preemption_policy.as_deref() == Some("Never"),
        labels: reader.labels,
    }
}

struct Reader<'a> {
    namespace: &'a str,
    labels: Labels,
}

impl Reader<'_> {
    fn required(&self, affinity: Option<&Affinity>, near: bool) -> Box<[PodTerm]> {
        let terms = if near {
            let near = affinity.and_then(|affinity| affinity.pod_affinity.as_ref());
            near.and_then(|near| near.required_during_scheduling_ignored_during_execution.as_ref())
        } else {
            let far = affinity.and_then(|affinity| affinity.pod_anti_affinity.as_ref());
            far.and_then(|far| far.required_during_scheduling_ignored_during_execution.as_ref())
        };
        terms.into_iter().flatten().map(|term| self.term(term)).collect()
    }

    fn preferred(&self, affinity: Option<&Affinity>) -> Box<[(i64, PodTerm)]> {
        let near = affinity.and_then(|affinity| affinity.pod_affinity.as_ref());
        let near = near.and_then(|near| near.preferred_during_scheduling_ignored_during_execution.as_ref());
        let far = affinity.and_then(|affinity| affinity.pod_anti_affinity.as_ref());
        let far = far.and_then(|far| far.preferred_during_scheduling_ignored_during_execution.as_ref());
        let near = near.into_iter().flatten().map(|one| (i64::from(one.weight), &one.pod_affinity_term));
        let far = far.into_iter().flatten().map(|one| (-i64::from(one.weight), &one.pod_affinity_term));
        near.chain(far).map(|(weight, term)| (weight, self.term(term))).collect()
    }

    fn term(&self, term: &PodAffinityTerm) -> PodTerm {
        let mut selector = selector(term.label_selector.as_ref());
        selector = self.with_own(selector, term.match_label_keys.as_deref(), Operator::In);
        selector = self.with_own(selector, term.mismatch_label_keys.as_deref(), Operator::NotIn);
        let mut namespaces: Vec<Box<str>> =
            term.namespaces.iter().flatten().map(|name| name.as_str().into()).collect();
        if namespaces.is_empty() && term.namespace_selector.is_none() {
            namespaces.push(self.namespace.into());
        }
        let namespace_selector = self::selector(term.namespace_selector.as_ref());
        let topology = term.topology_key.as_str().into();
        PodTerm { topology, selector, namespaces: namespaces.into(), namespace_selector }
    }

    /// `selector` and: the labels `keys` as this pod has them, or not as it has them.
    fn with_own(&self, selector: Selector, keys: Option<&[String]>, operator: Operator) -> Selector {
        let own = |key: &String| Some((key.clone(), self.labels.label(key)?.to_owned()));
        let own = keys.into_iter().flatten().filter_map(own);
        own.fold(selector, |all, (key, value)| all.and(Requirement::trusted(&key, operator, vec![value])))
    }

    fn spread(&self, constraint: &TopologySpreadConstraint) -> Spread {
        let selector = selector(constraint.label_selector.as_ref());
        let keys = constraint.match_label_keys.as_deref();
        Spread {
            topology: constraint.topology_key.as_str().into(),
            selector: self.with_own(selector, keys, Operator::Equals),
            max_skew: constraint.max_skew.into(),
            min_domains: constraint.min_domains.map_or(1, |least| usize::try_from(least).unwrap_or(1)),
            honor_affinity: constraint.node_affinity_policy.as_deref() != Some("Ignore"),
            honor_taints: constraint.node_taints_policy.as_deref() == Some("Honor"),
            required: constraint.when_unsatisfiable == "DoNotSchedule",
        }
    }
}

fn selector(selector: Option<&LabelSelector>) -> Selector {
    Selector::from_typed(selector).unwrap_or_else(|_| Selector::nothing())
}

fn toleration(toleration: &Tolerates) -> Toleration {
    let text = |text: &Option<String>| text.as_deref().unwrap_or_default().into();
    Toleration {
        key: text(&toleration.key),
        operator: text(&toleration.operator),
        value: text(&toleration.value),
        effect: text(&toleration.effect),
    }
}

fn node_rule(spec: &PodSpec) -> NodeRule {
    let affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    let required =
        affinity.and_then(|node| node.required_during_scheduling_ignored_during_execution.as_ref());
    let terms = required.map(|required| required.node_selector_terms.iter().map(node_term).collect());
    NodeRule { selector: labels(spec.node_selector.as_ref()), terms }
}

fn preferred_nodes(affinity: Option<&Affinity>) -> Box<[(i32, NodeTerm)]> {
    let affinity = affinity.and_then(|affinity| affinity.node_affinity.as_ref());
    let preferred =
        affinity.and_then(|node| node.preferred_during_scheduling_ignored_during_execution.as_ref());
    let preferred = preferred.into_iter().flatten().filter(|one| one.weight != 0);
    preferred.map(|one| (one.weight, node_term(&one.preference))).collect()
}

/// A term; one that says nothing selects nothing.
pub(super) fn node_term(term: &NodeSelectorTerm) -> NodeTerm {
    let expressions = term.match_expressions.as_deref().unwrap_or_default();
    let fields = term.match_fields.as_deref().unwrap_or_default();
    if expressions.is_empty() && fields.is_empty() {
        return NodeTerm { labels: Selector::nothing(), fields: Box::default() };
    }
    let mut requirements = Some(Vec::new());
    for expression in expressions {
        let operator = match expression.operator.as_str() {
            "In" => Some(Operator::In),
            "NotIn" => Some(Operator::NotIn),
            "Exists" => Some(Operator::Exists),
            "DoesNotExist" => Some(Operator::DoesNotExist),
            "Gt" => Some(Operator::Greater),
            "Lt" => Some(Operator::Less),
            _ => None,
        };
        let values = expression.values.clone().unwrap_or_default();
        let one = operator.and_then(|operator| Requirement::new(&expression.key, operator, values).ok());
        requirements = requirements.zip(one).map(|(mut all, one)| {
            all.push(one);
            all
        });
    }
    let rules: Option<Box<[FieldRule]>> = fields
        .iter()
        .map(|field| match (field.operator.as_str(), field.values.as_deref().unwrap_or_default()) {
            (operator @ ("In" | "NotIn"), [value]) => Some(FieldRule {
                field: field.key.as_str().into(),
                equal: operator == "In",
                value: value.as_str().into(),
            }),
            _ => None,
        })
        .collect();
    let labels = match (&rules, requirements) {
        (Some(_), Some(requirements)) => Selector::of(requirements),
        _ => Selector::nothing(),
    };
    NodeTerm { labels, fields: rules.unwrap_or_default() }
}

fn ports(spec: &PodSpec) -> Box<[Port]> {
    let sidecars = spec.init_containers.iter().flatten().filter(|container| is_sidecar(container));
    let all = spec
        .containers
        .iter()
        .chain(sidecars)
        .flat_map(|container: &Container| container.ports.iter().flatten());
    let on_host = spec.host_network == Some(true);
    let mut ports: Vec<Port> = all
        .filter_map(|port| {
            let number = port.host_port.or(on_host.then_some(port.container_port))?;
            let address = port.host_ip.as_deref().filter(|address| !address.is_empty()).unwrap_or("0.0.0.0");
            (number > 0).then(|| Port {
                number,
                protocol: port.protocol.as_deref().filter(|name| !name.is_empty()).unwrap_or("TCP").into(),
                address: address.into(),
            })
        })
        .collect();
    ports.sort();
    ports.into()
}

fn claims(pod: &Pod, spec: &PodSpec) -> Box<[Claim]> {
    let pod_name = pod.metadata.name.as_deref().unwrap_or_default();
    let claim = |volume: &k8s_openapi::api::core::v1::Volume| {
        if let Some(claim) = &volume.persistent_volume_claim {
            return Some(Claim { name: claim.claim_name.as_str().into(), ephemeral: false });
        }
        volume.ephemeral.as_ref()?;
        Some(Claim { name: format!("{pod_name}-{}", volume.name).into(), ephemeral: true })
    };
    spec.volumes.iter().flatten().filter_map(claim).collect()
}
