//! The pods of a DaemonSet: meant for one node each, and hard to drive away.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{
    NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod, PodSpec, PodTemplateSpec, Toleration,
};

use crate::control::brief::Brief;
use crate::control::family::Child;
use crate::control::pod_maker::pod_of;
use crate::store::Object;

pub(super) const HASH: &str = "controller-revision-hash";
const GENERATION: &str = "pod-template-generation";
const GENERATION_NOTE: &str = "deprecated.daemonset.template.generation";
const NAME: &str = "metadata.name";

#[derive(Clone, Debug)]
pub(super) struct Daemon {
    pub(super) pod: Brief,
    /// The node it is on, or is meant for.
    pub(super) node: Box<str>,
}

impl Child for Daemon {
    type Kind = Pod;

    fn of(object: &Arc<Object>) -> Option<Self> {
        let pod = Brief::of(object)?;
        let node = if pod.node.is_empty() { meant_for(&pod.read()?).into() } else { pod.node.clone() };
        Some(Self { pod, node })
    }

    fn object(&self) -> &Arc<Object> {
        &self.pod.object
    }

    fn is_adoptable(&self) -> bool {
        true
    }
}

fn meant_for(pod: &Pod) -> String {
    let affinity = pod.spec.as_ref().and_then(|spec| spec.affinity.as_ref()?.node_affinity.as_ref());
    let required =
        affinity.and_then(|node| node.required_during_scheduling_ignored_during_execution.as_ref());
    let terms = required.into_iter().flat_map(|required| &required.node_selector_terms);
    let mut fields = terms.flat_map(|term| term.match_fields.iter().flatten());
    let named = fields.find(|field| field.key == NAME && field.operator == "In");
    named.and_then(|field| field.values.as_ref()?.first().cloned()).unwrap_or_default()
}

/// The template with what every daemon has.
pub(super) fn template(set: &DaemonSet, hash: &str) -> PodTemplateSpec {
    let mut template = set.spec.as_ref().map(|spec| spec.template.clone()).unwrap_or_default();
    let labels = template.metadata.get_or_insert_default().labels.get_or_insert_default();
    labels.insert(HASH.to_owned(), hash.to_owned());
    let generation = set.metadata.annotations.as_ref().and_then(|all| all.get(GENERATION_NOTE));
    if let Some(generation) = generation.filter(|text| text.parse::<i64>().is_ok()) {
        labels.insert(GENERATION.to_owned(), generation.clone());
    }
    tolerate(template.spec.get_or_insert_default());
    template
}

/// Daemons outlive what a node may suffer from.
fn tolerate(spec: &mut PodSpec) {
    const TAINTS: [(&str, &str); 7] = [
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
        ("node.kubernetes.io/memory-pressure", "NoSchedule"),
        ("node.kubernetes.io/pid-pressure", "NoSchedule"),
        ("node.kubernetes.io/unschedulable", "NoSchedule"),
        ("node.kubernetes.io/network-unavailable", "NoSchedule"),
    ];
    let network = spec.host_network == Some(true);
    let count = if network { TAINTS.len() } else { TAINTS.len() - 1 };
    let tolerations = spec.tolerations.get_or_insert_default();
    for (key, effect) in &TAINTS[..count] {
        let toleration = Toleration {
            key: Some((*key).to_owned()),
            operator: Some("Exists".to_owned()),
            effect: Some((*effect).to_owned()),
            ..Toleration::default()
        };
        let same = |known: &Toleration| {
            known.key == toleration.key
                && known.effect == toleration.effect
                && known.operator == toleration.operator
        };
        match tolerations.iter_mut().find(|known| same(known)) {
            Some(known) => *known = toleration,
            None => tolerations.push(toleration),
        }
    }
}

/// The pod for one node: the scheduler may put it nowhere else.
pub(super) fn pod_for(template: &PodTemplateSpec, set: &DaemonSet, node: &str) -> Pod {
    let mut pod = pod_of(template, set);
    let field = NodeSelectorRequirement {
        key: NAME.to_owned(),
        operator: "In".to_owned(),
        values: Some(vec![node.to_owned()]),
    };
    let spec = pod.spec.get_or_insert_default();
    let affinity = spec.affinity.get_or_insert_default().node_affinity.get_or_insert_default();
    let required = affinity.required_during_scheduling_ignored_during_execution.get_or_insert_default();
    let NodeSelector { node_selector_terms: terms } = required;
    if terms.is_empty() {
        terms.push(NodeSelectorTerm::default());
    }
    for term in terms {
        term.match_fields = Some(vec![field.clone()]);
    }
    pod
}
