//! Which nodes a daemon is to run on: by name, labels and taints, not by what else runs there.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{
    Node, NodeSelectorRequirement, NodeSelectorTerm, PodSpec, Taint, Toleration,
};

use crate::api;
use crate::selector::{Labels as _, Operator, Requirement, Selector};
use crate::store::Object;

/// A node as daemons see it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    object: Arc<Object>,
    taints: Vec<Taint>,
}

impl Place {
    pub(super) fn of(object: &Arc<Object>) -> Option<Self> {
        let taints = api::read::<Node>(object)?.spec.and_then(|spec| spec.taints);
        Some(Self { object: object.clone(), taints: taints.unwrap_or_default() })
    }

    pub(super) fn name(&self) -> &str {
        &self.object.key.name
    }

    /// Whether daemons see the two alike.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.object.labels == other.object.labels && self.taints == other.taints
    }
}

/// What may be on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    Runs,
    /// None is started, but one that runs goes on.
    Stays,
    No,
}

/// The spec has the tolerations of daemons already.
pub(super) fn fit(spec: &PodSpec, place: &Place) -> Fit {
    let named = spec.node_name.as_deref().filter(|name| !name.is_empty());
    if named.is_some_and(|name| name != place.name()) || !selects(spec, place) {
        return Fit::No;
    }
    let tolerations = spec.tolerations.as_deref().unwrap_or_default();
    let tolerates = |effect: &str| {
        let mut taints = place.taints.iter().filter(|taint| taint.effect == effect);
        taints.all(|taint| tolerations.iter().any(|toleration| covers(toleration, taint)))
    };
    match (tolerates("NoExecute"), tolerates("NoSchedule")) {
        (true, true) => Fit::Runs,
        (true, false) => Fit::Stays,
        (false, _) => Fit::No,
    }
}

fn selects(spec: &PodSpec, place: &Place) -> bool {
    let labels = &place.object.labels[..];
    let selected =
        spec.node_selector.iter().flatten().all(|(key, value)| labels.label(key) == Some(value.as_str()));
    let affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    let required =
        affinity.and_then(|node| node.required_during_scheduling_ignored_during_execution.as_ref());
    selected
        && required
            .is_none_or(|required| required.node_selector_terms.iter().any(|term| term_matches(term, place)))
}

fn term_matches(term: &NodeSelectorTerm, place: &Place) -> bool {
    let expressions = term.match_expressions.as_deref().unwrap_or_default();
    let fields = term.match_fields.as_deref().unwrap_or_default();
    if expressions.is_empty() && fields.is_empty() {
        return false;
    }
    let requirements: Option<Vec<Requirement>> = expressions.iter().map(requirement).collect();
    requirements.is_some_and(|all| Selector::of(all).matches(&place.object.labels[..]))
        && fields.iter().all(|field| {
            let listed = field.values.iter().flatten().any(|value| value == place.name());
            field.key == "metadata.name" && listed == (field.operator == "In")
        })
}

fn requirement(expression: &NodeSelectorRequirement) -> Option<Requirement> {
    let operator = match expression.operator.as_str() {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        "Gt" => Operator::Greater,
        "Lt" => Operator::Less,
        _ => return None,
    };
    Requirement::new(&expression.key, operator, expression.values.clone().unwrap_or_default()).ok()
}

fn covers(toleration: &Toleration, taint: &Taint) -> bool {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (key, effect) = (text(&toleration.key), text(&toleration.effect));
    (effect.is_empty() || effect == taint.effect)
        && (key.is_empty() || key == taint.key)
        && match toleration.operator.as_deref() {
            None | Some("" | "Equal") => text(&toleration.value) == text(&taint.value),
            Some("Exists") => true,
            Some(_) => false,
        }
}
