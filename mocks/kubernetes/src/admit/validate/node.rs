//! Nodes: taints, amounts, and what is set once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{affinity, field, resources};
use crate::admit::addresses::{NO_RANGE, both_families, range};
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::read::{entries, items, text};
use crate::status::Wrong;

/// Upstream reports taints below the metadata.
const META: Path<'static> = Path::Top("metadata");
const SPEC: Path<'static> = Path::Top("spec");
const STATUS: Path<'static> = Path::Top("status");

pub(super) fn node(node: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(node, "spec");
    taints(spec, wrong);
    amounts(node, wrong);
    ranges(spec, wrong);
}

/// Ranges of addresses for pods: one of each family at most.
fn ranges(spec: &Value, wrong: &mut Vec<Wrong>) {
    let path = SPEC.field("podCIDRs");
    let all: Vec<&str> = items(spec, "podCIDRs").iter().filter_map(Value::as_str).collect();
    for (index, text) in all.iter().enumerate().filter(|(_, text)| range(text).is_none()) {
        wrong.push(Wrong::invalid(path.index(index), &json!(text), NO_RANGE));
    }
    if all.len() < 2 {
        return;
    }
    let read: Vec<_> = all.iter().map_while(|text| range(text)).collect();
    if let Some(bad) = all.get(read.len()) {
        let why = format!(
            "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{}]: <nil> (invalid CIDR \
             address: {bad})",
            read.len()
        );
        wrong.push(Wrong::internal(path, &why));
    }
    if read.len() != all.len() || all.len() > 2 || !both_families(&read) {
        let why = "may specify no more than one CIDR for each IP family";
        wrong.push(Wrong::invalid(path, &json!(all), why));
    }
}

fn taints(spec: &Value, wrong: &mut Vec<Wrong>) {
    let path = META.field("taints");
    let mut seen = BTreeSet::new();
    for (index, taint) in items(spec, "taints").iter().enumerate() {
        let path = path.index(index);
        let (key, value, effect) = (text(taint, "key"), text(taint, "value"), text(taint, "effect"));
        field::key(&path.field("key"), key, wrong);
        let complaints = names::label_value(value);
        if !complaints.is_empty() {
            wrong.push(Wrong::invalid(path.field("value"), &json!(value), &complaints.join(";")));
        }
        field::one_of(&path.field("effect"), effect, &affinity::EFFECTS, wrong);
        if !seen.insert((key, effect)) {
            let added = taint.get("timeAdded").unwrap_or(&Value::Null);
            let shown = format!(
                "{{\"Key\":{},\"Value\":{},\"Effect\":{},\"TimeAdded\":{added}}}",
                json!(key),
                json!(value),
                json!(effect)
            );
            let why = "taints must be unique by key and effect pair";
            wrong.push(Wrong::duplicate_shown(path, &shown, why));
        }
    }
}

fn amounts(node: &Value, wrong: &mut Vec<Wrong>) {
    let status = field::part(node, "status");
    for list in ["capacity", "allocatable"] {
        for (name, amount) in entries(status, list) {
            resources::amount(name, amount, &STATUS.field(list).field(name), wrong);
        }
    }
}

/// An update of the node or of its status.
pub(super) fn update(node: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    amounts(node, wrong);
    let mut seen = BTreeSet::new();
    for (index, address) in items(field::part(node, "status"), "addresses").iter().enumerate() {
        let (kind, value) = (text(address, "type"), text(address, "address"));
        if !seen.insert((kind, value)) {
            let shown = format!("{{\"Type\":{},\"Address\":{}}}", json!(kind), json!(value));
            wrong.push(Wrong::duplicate_shown(STATUS.field("addresses").index(index), &shown, ""));
        }
    }
    let (spec, before) = (field::part(node, "spec"), field::part(old, "spec"));
    let (is, was) = (items(spec, "podCIDRs"), items(before, "podCIDRs"));
    let changed = match was.len() {
        0 => 0,
        all if all != is.len() => 1,
        _ => is.iter().zip(was).filter(|(is, was)| is != was).count(),
    };
    let why = "node updates may not change podCIDR except from \"\" to valid";
    wrong.extend(std::iter::repeat_n(Wrong::forbidden(SPEC.field("podCIDRs"), why), changed));
    let provider = text(before, "providerID");
    if !provider.is_empty() && provider != text(spec, "providerID") {
        let why = "node updates may not change providerID except from \"\" to valid";
        wrong.push(Wrong::forbidden(SPEC.field("providerID"), why));
    }
    taints(spec, wrong);
    if text(spec, "externalID") != text(before, "externalID") {
        wrong.push(Wrong::forbidden(SPEC.field("externalID"), "may not be updated"));
    }
}
