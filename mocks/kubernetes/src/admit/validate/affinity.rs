//! Affinity of pods to nodes and to other pods, and tolerations.

use serde_json::{Value, json};

use super::{field, selector, spread};
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::read::{integer, items, present, text};
use crate::status::Wrong;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

pub(super) fn affinity(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let Some(affinity) = present(spec, "affinity") else { return };
    if let Some(nodes) = present(affinity, "nodeAffinity") {
        let path = path.field("nodeAffinity");
        if let Some(wanted) = present(nodes, REQUIRED) {
            node_selector(wanted, &path.field(REQUIRED), wrong);
        }
        for (index, preference) in items(nodes, PREFERRED).iter().enumerate() {
            let path = path.field(PREFERRED);
            let path = path.index(index);
            weight(preference, &path, wrong);
            let term = field::part(preference, "preference");
            node_term(term, false, &path.field("preference"), wrong);
        }
    }
    for name in ["podAffinity", "podAntiAffinity"] {
        let Some(pods) = present(affinity, name) else { continue };
        let path = path.field(name);
        for (index, term) in items(pods, REQUIRED).iter().enumerate() {
            pod_term(term, &path.field(REQUIRED).index(index), wrong);
        }
        for (index, weighted) in items(pods, PREFERRED).iter().enumerate() {
            let path = path.field(PREFERRED);
            let path = path.index(index);
            weight(weighted, &path, wrong);
            pod_term(field::part(weighted, "podAffinityTerm"), &path.field("podAffinityTerm"), wrong);
        }
    }
}

fn weight(object: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let weight = integer(object, "weight").unwrap_or_default();
    if !(1..=100).contains(&weight) {
        wrong.push(Wrong::invalid(path.field("weight"), &json!(weight), "must be in the range 1-100"));
    }
}

/// Terms that a node must match one of.
pub(super) fn node_selector(selector: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let path = path.field("nodeSelectorTerms");
    let terms = items(selector, "nodeSelectorTerms");
    if terms.is_empty() {
        wrong.push(Wrong::required(path, "must have at least one node selector term"));
    }
    for (index, term) in terms.iter().enumerate() {
        node_term(term, true, &path.index(index), wrong);
    }
}

fn node_term(term: &Value, checks_values: bool, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    for (index, expression) in items(term, "matchExpressions").iter().enumerate() {
        node_expression(expression, checks_values, &path.field("matchExpressions").index(index), wrong);
    }
    for (index, expression) in items(term, "matchFields").iter().enumerate() {
        node_field(expression, &path.field("matchFields").index(index), wrong);
    }
}

fn node_expression(expression: &Value, checks_values: bool, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let values = items(expression, "values");
    let at = path.field("values");
    match text(expression, "operator") {
        "In" | "NotIn" => {
            if values.is_empty() {
                wrong.push(Wrong::required(at, "must be specified when `operator` is 'In' or 'NotIn'"));
            }
        }
        "Exists" | "DoesNotExist" => {
            if !values.is_empty() {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                wrong.push(Wrong::forbidden(at, why));
            }
        }
        "Gt" | "Lt" => {
            if values.len() != 1 {
                let why = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                wrong.push(Wrong::required(at, why));
            }
        }
        other => {
            let path = path.field("operator");
            wrong.push(Wrong::invalid(path, &json!(other), "not a valid selector operator"));
        }
    }
    field::key(&path.field("key"), text(expression, "key"), wrong);
    if checks_values {
        for (index, value) in values.iter().filter_map(Value::as_str).enumerate() {
            field::invalid(&at.index(index), value, names::label_value(value), wrong);
        }
    }
}

fn node_field(expression: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let values = items(expression, "values");
    match text(expression, "operator") {
        "In" | "NotIn" => {
            if values.len() != 1 {
                let why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                wrong.push(Wrong::required(path.field("values"), why));
            }
        }
        other => {
            let path = path.field("operator");
            wrong.push(Wrong::invalid(path, &json!(other), "not a valid selector operator"));
        }
    }
    let key = text(expression, "key");
    if key != "metadata.name" {
        wrong.push(Wrong::invalid(path.field("key"), &json!(key), "not a valid field selector key"));
        return;
    }
    for (index, value) in values.iter().filter_map(Value::as_str).enumerate() {
        field::invalid(&path.field("values").index(index), value, names::subdomain(value), wrong);
    }
}

fn pod_term(term: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    selector::selector(term, path, "labelSelector", wrong);
    selector::selector(term, path, "namespaceSelector", wrong);
    for name in items(term, "namespaces").iter().filter_map(Value::as_str) {
        field::invalid(&path.field("namespace"), name, names::label(name), wrong);
    }
    spread::label_keys(term, path, wrong);
    let topology = text(term, "topologyKey");
    if topology.is_empty() {
        wrong.push(Wrong::required(path.field("topologyKey"), "can not be empty"));
    }
    field::key(&path.field("topologyKey"), topology, wrong);
}

pub(super) const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

pub(super) fn tolerations(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    for (index, toleration) in items(spec, "tolerations").iter().enumerate() {
        let path = path.index(index);
        let (key, operator) = (text(toleration, "key"), text(toleration, "operator"));
        let (value, effect) = (text(toleration, "value"), text(toleration, "effect"));
        if !key.is_empty() {
            field::key(&path.field("key"), key, wrong);
        } else if operator != "Exists" {
            let why =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            wrong.push(Wrong::invalid(path.field("operator"), &json!(operator), why));
        }
        if present(toleration, "tolerationSeconds").is_some() && effect != "NoExecute" {
            let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            wrong.push(Wrong::invalid(path.field("effect"), &json!(effect), why));
        }
        match operator {
            "Equal" | "" => {
                let complaints = names::label_value(value);
                if !complaints.is_empty() {
                    let why = complaints.join(";");
                    wrong.push(Wrong::invalid(path.field("operator"), &json!(value), &why));
                }
            }
            "Exists" if !value.is_empty() => {
                let why = "value must be empty when `operator` is 'Exists'";
                wrong.push(Wrong::invalid(path.field("operator"), &json!(value), why));
            }
            "Exists" => {}
            "Lt" | "Gt" => {
                let known = ["Equal", "Exists", "Lt", "Gt"];
                wrong.push(Wrong::not_supported(path.field("operator"), &json!(operator), &known));
            }
            _ => {
                let known = ["Equal", "Exists"];
                wrong.push(Wrong::not_supported(path.field("operator"), &json!(operator), &known));
            }
        }
        field::one_of_if_given(&path.field("effect"), effect, &EFFECTS, wrong);
    }
}
