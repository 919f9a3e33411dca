//! Limit ranges and resource quotas: known names, and bounds in order.

use serde_json::{Value, json};

use super::{field, resources};
use crate::admit::path::Path;
use crate::admit::quantities::quantity;
use crate::admit::read::{entries, items, text};
use crate::status::Wrong;

const SPEC: Path<'static> = Path::Top("spec");

pub(super) fn limit_range(object: &Value, wrong: &mut Vec<Wrong>) {
    for (index, limit) in items(field::part(object, "spec"), "limits").iter().enumerate() {
        let path = SPEC.field("limits");
        let path = path.index(index);
        for list in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
            for (name, _) in entries(limit, list) {
                resources::name(name, &path.field(list).key(name), wrong);
            }
        }
        if text(limit, "type") == "Pod" {
            for list in ["default", "defaultRequest"] {
                if entries(limit, list).next().is_some() {
                    let why = "may not be specified when `type` is 'Pod'";
                    wrong.push(Wrong::forbidden(path.field(list), why));
                }
            }
        }
        for (low, low_word, high, high_word) in [
            ("min", "min", "max", "max"),
            ("min", "min", "defaultRequest", "default request"),
            ("defaultRequest", "default request", "max", "max"),
            ("min", "min", "default", "default"),
            ("default", "default", "max", "max"),
            ("defaultRequest", "default request", "default", "default limit"),
        ] {
            in_order(limit, &path, (low, low_word), (high, high_word), wrong);
        }
    }
}

fn in_order(
    limit: &Value,
    path: &Path<'_>,
    (low, low_word): (&str, &str),
    (high, high_word): (&str, &str),
    wrong: &mut Vec<Wrong>,
) {
    // Upstream reports a request under `defaultRequest`, a limit under `default`, a minimum under `min`.
    let at = match (low, high) {
        ("min", other) if other != "max" => other,
        (other, _) => other,
    };
    for (name, least) in entries(limit, low) {
        let Some(most) = field::part(limit, high).get(name) else { continue };
        let (least, most) = (quantity(least), quantity(most));
        if least > most {
            let why = format!("{low_word} value {least} is greater than {high_word} value {most}");
            let value = if at == low { least } else { most };
            wrong.push(Wrong::invalid(path.field(at).key(name), &json!(value.to_string()), &why));
        }
    }
}

pub(super) fn quota(object: &Value, wrong: &mut Vec<Wrong>) {
    for (name, amount) in entries(field::part(object, "spec"), "hard") {
        let path = SPEC.field("hard");
        let path = path.key(name);
        if !name.starts_with("count/") {
            resources::name(name, &path, wrong);
        }
        resources::amount(name, amount, &path, wrong);
    }
}
