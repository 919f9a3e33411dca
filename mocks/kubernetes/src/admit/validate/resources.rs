//! Requests and limits: names, amounts, and that nobody asks for more than the limit.

use serde_json::{Value, json};

use super::field::{self, NEGATIVE};
use crate::admit::default::container::total;
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::quantities::quantity;
use crate::admit::read::{entries, items, present};
use crate::status::Wrong;

/// Names without a domain that mean something somewhere.
const STANDARD: &[&str] = &[
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];

/// Names counted in whole numbers.
const WHOLE: &[&str] = &[
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

pub(super) fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && names::qualified(&format!("requests.{name}")).is_empty()
}

/// Whether more may be promised than there is.
fn may_overcommit(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

/// Whether the name is known, or has a domain.
pub(super) fn name(name: &str, path: &Path<'_>, wrong: &mut Vec<Wrong>) -> bool {
    let complaints = names::qualified(name);
    let is_legal = complaints.is_empty();
    field::invalid(path, name, complaints, wrong);
    let is_known = STANDARD.contains(&name) || is_huge_page(name) || name.starts_with("requests.hugepages-");
    if is_legal && !name.contains('/') && !is_known {
        let why = "must be a standard resource type or fully qualified";
        wrong.push(Wrong::invalid(path, &json!(name), why));
        return false;
    }
    is_legal
}

fn container_name(resource: &str, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    if matches!(resource, "cpu" | "memory" | "ephemeral-storage") {
        return;
    }
    name(resource, path, wrong);
    if !resource.contains('/') {
        if !is_huge_page(resource) {
            let why = "must be a standard resource for containers";
            wrong.push(Wrong::invalid(path, &json!(resource), why));
        }
    } else if !is_native(resource) && !is_extended(resource) {
        let why = "doesn't follow extended resource name standard";
        wrong.push(Wrong::invalid(path, &json!(resource), why));
    }
}

/// An amount is not negative, and whole where it counts things.
pub(super) fn amount(name: &str, value: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let amount = quantity(value);
    if amount.nanos() < 0 {
        wrong.push(Wrong::invalid(path, &json!(amount.to_string()), NEGATIVE));
    }
    if (WHOLE.contains(&name) || is_extended(name)) && amount.milli() % 1000 != 0 {
        wrong.push(Wrong::invalid(path, &json!(amount.to_string()), "must be an integer"));
    }
}

/// The limits and requests of a container.
pub(super) fn requirements(resources: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let limits = path.field("limits");
    let requests = path.field("requests");
    let (mut has_huge, mut has_base) = (false, false);
    let mut seen = |name: &str| {
        has_huge |= is_huge_page(name);
        has_base |= matches!(name, "cpu" | "memory");
    };
    for (name, value) in entries(resources, "limits") {
        let path = limits.key(name);
        container_name(name, &path, wrong);
        amount(name, value, &path, wrong);
        seen(name);
    }
    for (name, value) in entries(resources, "requests") {
        let path = requests.key(name);
        container_name(name, &path, wrong);
        amount(name, value, &path, wrong);
        within_limit(resources, name, value, path_pair(&limits, &requests), wrong);
        seen(name);
    }
    if has_huge && !has_base {
        wrong.push(Wrong::forbidden(path, "HugePages require cpu or memory"));
    }
}

fn path_pair<'a>(limits: &'a Path<'a>, requests: &'a Path<'a>) -> (&'a Path<'a>, &'a Path<'a>) {
    (limits, requests)
}

fn within_limit(
    resources: &Value,
    name: &str,
    request: &Value,
    (limits, requests): (&Path<'_>, &Path<'_>),
    wrong: &mut Vec<Wrong>,
) {
    let limit = present(resources, "limits").and_then(|limits| limits.get(name));
    let Some(limit) = limit else {
        if !may_overcommit(name) {
            wrong.push(Wrong::required(limits, "Limit must be set for non overcommitable resources"));
        }
        return;
    };
    if limit == request {
        return;
    }
    let (request, limit) = (quantity(request), quantity(limit));
    let relation = if !may_overcommit(name) && request != limit {
        "equal to"
    } else if request > limit {
        "less than or equal to"
    } else {
        return;
    };
    let why = format!("must be {relation} {name} limit of {limit}");
    wrong.push(Wrong::invalid(requests, &json!(request.to_string()), &why));
}

/// Resources of the pod as a whole, and that its containers fit into them.
pub(super) fn of_pod(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let Some(own) = present(spec, "resources") else { return };
    let path = path.field("resources");
    for list in ["limits", "requests"] {
        for (name, _) in entries(own, list) {
            if !matches!(name, "cpu" | "memory") && !is_huge_page(name) {
                let supported = ["cpu", "hugepages-", "memory"];
                wrong.push(Wrong::not_supported(path.field(list).key(name), &json!(name), &supported));
            }
        }
    }
    requirements(own, &path, wrong);
    for (name, asked) in total(spec, "requests") {
        let Some(given) = field::part(own, "requests").get(&name) else { continue };
        let asked = quantity(&json!(asked));
        if asked > quantity(given) {
            let why = format!("must be greater than or equal to aggregate container requests of {asked}");
            let shown = json!(quantity(given).to_string());
            wrong.push(Wrong::invalid(path.field("requests").key(&name), &shown, &why));
        }
    }
    for (index, container) in items(spec, "containers").iter().enumerate() {
        for (name, limit) in entries(field::part(container, "resources"), "limits") {
            let Some(given) = field::part(own, "limits").get(name) else { continue };
            let (limit, given) = (quantity(limit), quantity(given));
            if limit > given {
                let why = format!("must be less than or equal to pod limits of {given}");
                let at = path.field("containers");
                let at = at.index(index);
                let shown = json!(limit.to_string());
                wrong.push(Wrong::invalid(at.key(name).field("limits"), &shown, &why));
            }
        }
    }
}
