//! Limit ranges of a namespace: default requests and limits for containers, and bounds for pods and claims.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Request, Shelf};
use crate::admit::default::container::total;
use crate::admit::default::resources::list;
use crate::admit::quantities::quantity;
use crate::admit::read::{deep, entries, inner_mut, items, items_mut, present, put, text};
use crate::status::Status;

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

fn ranges(request: &Request<'_>, shelf: &dyn Shelf) -> Vec<Arc<Value>> {
    shelf.list("LimitRange", request.namespace)
}

fn limits<'a>(range: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let all = range.get("spec").map(|spec| items(spec, "limits")).unwrap_or_default();
    all.iter().filter(move |limit| text(limit, "type") == kind)
}

/// Gives containers the defaults of every range of the namespace.
pub(super) fn fill(request: &Request<'_>, pod: &mut Value, shelf: &dyn Shelf) {
    for range in ranges(request, shelf) {
        let (mut requests, mut maxima) = (Map::new(), Map::new());
        for limit in limits(&range, "Container") {
            requests.extend(entries(limit, "defaultRequest").map(|(name, q)| (name.to_owned(), q.clone())));
            maxima.extend(entries(limit, "default").map(|(name, q)| (name.to_owned(), q.clone())));
        }
        let Some(spec) = inner_mut(pod, "spec") else { return };
        let mut notes = Vec::new();
        for (field, word) in [("containers", "container"), ("initContainers", "init container")] {
            for container in items_mut(spec, field) {
                fill_container(container, word, &requests, &maxima, &mut notes);
            }
        }
        if !notes.is_empty()
            && let Some(annotations) =
                inner_mut(pod, "metadata").and_then(|all| inner_mut(all, "annotations"))
        {
            put(annotations, ANNOTATION, format!("LimitRanger plugin set: {}", notes.join("; ")));
        }
    }
}

fn fill_container(
    container: &mut Value,
    word: &str,
    requests: &Map<String, Value>,
    maxima: &Map<String, Value>,
    notes: &mut Vec<String>,
) {
    let name = text(container, "name").to_owned();
    for (field, singular, defaults) in [("requests", "request", requests), ("limits", "limit", maxima)] {
        let given = deep(container, &["resources", field]);
        let missing: Vec<(&String, &Value)> =
            defaults.iter().filter(|(name, _)| given.is_none_or(|given| given.get(name).is_none())).collect();
        if missing.is_empty() {
            continue;
        }
        let names: Vec<&str> = missing.iter().map(|(name, _)| name.as_str()).collect();
        notes.push(format!("{} {singular} for {word} {name}", names.join(", ")));
        if let Some(resources) = inner_mut(container, "resources")
            && let Some(list) = inner_mut(resources, field)
        {
            for (name, amount) in missing {
                put(list, name, amount.clone());
            }
        }
    }
}

/// What a container or a pod asks for.
struct Asked {
    requests: BTreeMap<String, String>,
    limits: BTreeMap<String, String>,
}

pub(super) fn judge_pod(request: &Request<'_>, pod: &Value, shelf: &dyn Shelf) -> Result<(), Status> {
    let Some(spec) = present(pod, "spec") else { return Ok(()) };
    for range in ranges(request, shelf) {
        let mut wrong = Vec::new();
        for limit in limits(&range, "Container") {
            for container in items(spec, "containers").iter().chain(items(spec, "initContainers")) {
                let own = present(container, "resources").unwrap_or(&Value::Null);
                let asked = Asked { requests: list(own, "requests"), limits: list(own, "limits") };
                judge(limit, "Container", &asked, &mut wrong);
            }
        }
        for limit in limits(&range, "Pod") {
            let mut asked = Asked { requests: total(spec, "requests"), limits: total(spec, "limits") };
            if let Some(own) = present(spec, "resources") {
                asked.requests.extend(list(own, "requests"));
                asked.limits.extend(list(own, "limits"));
            }
            judge(limit, "Pod", &asked, &mut wrong);
        }
        refuse(request, pod, &wrong)?;
    }
    Ok(())
}

pub(super) fn judge_claim(request: &Request<'_>, claim: &Value, shelf: &dyn Shelf) -> Result<(), Status> {
    const KIND: &str = "PersistentVolumeClaim";
    let resources = deep(claim, &["spec", "resources"]).unwrap_or(&Value::Null);
    let requests = list(resources, "requests");
    for range in ranges(request, shelf) {
        let mut wrong = Vec::new();
        for limit in limits(&range, KIND) {
            let asked = Asked { requests: requests.clone(), limits: BTreeMap::new() };
            for (name, bound) in entries(limit, "min") {
                wrong.extend(too_low(KIND, name, bound, &asked));
            }
            for (name, bound) in entries(limit, "max") {
                wrong.extend(request_too_high(KIND, name, bound, &asked));
            }
        }
        refuse(request, claim, &wrong)?;
    }
    Ok(())
}

fn refuse(request: &Request<'_>, object: &Value, wrong: &[String]) -> Result<(), Status> {
    match wrong {
        [] => Ok(()),
        [one] => Err(request.forbidden(object, one)),
        many => Err(request.forbidden(object, &format!("[{}]", many.join(", ")))),
    }
}

fn judge(limit: &Value, kind: &str, asked: &Asked, wrong: &mut Vec<String>) {
    for (name, bound) in entries(limit, "min") {
        wrong.extend(too_low(kind, name, bound, asked));
    }
    for (name, bound) in entries(limit, "max") {
        wrong.extend(too_high(kind, name, bound, asked));
    }
    for (name, bound) in entries(limit, "maxLimitRequestRatio") {
        wrong.extend(too_wide(kind, name, bound, asked));
    }
}

fn amount(text: &str) -> crate::quantity::Quantity {
    text.parse().unwrap_or_default()
}

fn too_low(kind: &str, name: &str, bound: &Value, asked: &Asked) -> Option<String> {
    let bound = quantity(bound);
    let rule = format!("minimum {name} usage per {kind} is {bound}");
    let Some(request) = asked.requests.get(name) else {
        return Some(format!("{rule}.  No request is specified"));
    };
    if amount(request) < bound {
        return Some(format!("{rule}, but request is {request}"));
    }
    let limit = asked.limits.get(name)?;
    (amount(limit) < bound).then(|| format!("{rule}, but limit is {limit}"))
}

fn too_high(kind: &str, name: &str, bound: &Value, asked: &Asked) -> Option<String> {
    let bound = quantity(bound);
    let rule = format!("maximum {name} usage per {kind} is {bound}");
    let Some(limit) = asked.limits.get(name) else { return Some(format!("{rule}.  No limit is specified")) };
    if amount(limit) > bound {
        return Some(format!("{rule}, but limit is {limit}"));
    }
    let request = asked.requests.get(name)?;
    (amount(request) > bound).then(|| format!("{rule}, but request is {request}"))
}

fn request_too_high(kind: &str, name: &str, bound: &Value, asked: &Asked) -> Option<String> {
    let bound = quantity(bound);
    let rule = format!("maximum {name} usage per {kind} is {bound}");
    let Some(request) = asked.requests.get(name) else {
        return Some(format!("{rule}.  No request is specified"));
    };
    (amount(request) > bound).then(|| format!("{rule}, but request is {request}"))
}

#[expect(clippy::cast_precision_loss, reason = "upstream divides as floating point too")]
fn too_wide(kind: &str, name: &str, bound: &Value, asked: &Asked) -> Option<String> {
    let bound = quantity(bound);
    let rule = format!("{name} max limit to request ratio per {kind} is {bound}");
    let held =
        |list: &BTreeMap<String, String>| list.get(name).map(|text| amount(text).nanos()).filter(|&n| n != 0);
    let Some(request) = held(&asked.requests) else {
        return Some(format!("{rule}, but no request is specified or request is 0"));
    };
    let Some(limit) = held(&asked.limits) else {
        return Some(format!("{rule}, but no limit is specified or limit is 0"));
    };
    let ratio = limit as f64 / request as f64;
    (ratio * 1e9 > bound.nanos() as f64).then(|| format!("{rule}, but provided ratio is {ratio:.6}"))
}
