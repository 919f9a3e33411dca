//! Topology spread constraints, and label keys that stand for the pod's own values.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{field, selector};
use crate::admit::path::Path;
use crate::admit::read::{entries, integer, items, present, text};
use crate::status::Wrong;

const NOT_POSITIVE: &str = "must be greater than zero";

pub(super) fn constraints(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let all = items(spec, "topologySpreadConstraints");
    for (index, constraint) in all.iter().enumerate() {
        let path = path.index(index);
        positive(constraint, "maxSkew", &path, wrong);
        let (key, action) = (text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable"));
        if key.is_empty() {
            wrong.push(Wrong::required(path.field("topologyKey"), "can not be empty"));
        }
        let actions = ["DoNotSchedule", "ScheduleAnyway"];
        if !actions.contains(&action) {
            wrong.push(Wrong::not_supported(path.field("whenUnsatisfiable"), &json!(action), &actions));
        }
        let is_same =
            |other: &Value| text(other, "topologyKey") == key && text(other, "whenUnsatisfiable") == action;
        if all.iter().skip(index + 1).any(is_same) {
            let path = path.field("{topologyKey, whenUnsatisfiable}");
            wrong.push(Wrong::duplicate(path, &json!(format!("{{{key}, {action}}}"))));
        }
        if let Some(domains) = present(constraint, "minDomains") {
            positive(constraint, "minDomains", &path, wrong);
            if action != "DoNotSchedule" {
                let why = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
                wrong.push(Wrong::invalid(path.field("minDomains"), domains, &why));
            }
        }
        for name in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            field::one_of_if_given(&path.field(name), text(constraint, name), &["Honor", "Ignore"], wrong);
        }
        label_keys(constraint, &path, wrong);
        selector::selector(constraint, &path, "labelSelector", wrong);
    }
}

fn positive(object: &Value, name: &str, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let number = integer(object, name).unwrap_or_default();
    if number <= 0 {
        wrong.push(Wrong::invalid(path.field(name), &json!(number), NOT_POSITIVE));
    }
}

/// `matchLabelKeys` and `mismatchLabelKeys` are keys, need a selector, and do not repeat one another or the selector.
pub(super) fn label_keys(term: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    for name in ["matchLabelKeys", "mismatchLabelKeys"] {
        let keys = items(term, name);
        if !keys.is_empty() && present(term, "labelSelector").is_none() {
            let why = "must not be specified when labelSelector is not set";
            wrong.push(Wrong::forbidden(path.field(name), why));
            continue;
        }
        for (index, key) in keys.iter().filter_map(Value::as_str).enumerate() {
            field::key(&path.field(name).index(index), key, wrong);
        }
    }
    let position = |key: &str| items(term, "matchLabelKeys").iter().position(|own| own == key);
    let selector = field::part(term, "labelSelector");
    let mut seen: BTreeSet<&str> = entries(selector, "matchLabels").map(|(key, _)| key).collect();
    for expression in items(selector, "matchExpressions") {
        let key = text(expression, "key");
        if let Some(index) = position(key).filter(|_| seen.contains(key)) {
            let why = "exists in both matchLabelKeys and labelSelector";
            wrong.push(Wrong::invalid(path.index(index), &json!(key), why));
        }
        seen.insert(key);
    }
    for key in items(term, "mismatchLabelKeys").iter().filter_map(Value::as_str) {
        if let Some(index) = position(key) {
            let why = "exists in both matchLabelKeys and mismatchLabelKeys";
            let path = path.field("matchLabelKeys");
            wrong.push(Wrong::invalid(path.index(index), &json!(key), why));
        }
    }
}
