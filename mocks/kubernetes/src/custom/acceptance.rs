//! Whether a definition may be: its names, its versions, and through `structure` and `keywords` its schemas.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    Definition, Names, Version, keywords,
    names::{not_a_label, not_a_subdomain},
    node::text,
    path::{field, index},
    structure,
};
use crate::status::Wrong;

/// What is wrong with a definition.
pub(crate) fn check(crd: &Value, definition: &Definition) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    let name = text(&crd["metadata"], "name");
    if name != format!("{}.{}", definition.names.plural, definition.group) {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        wrong.push(Wrong::invalid("metadata.name", &Value::from(name), detail));
    }
    let spec = &crd["spec"];
    group(&definition.group, &mut wrong);
    scope(spec, &mut wrong);
    let specs = spec["versions"].as_array().map_or(&[][..], Vec::as_slice);
    for (number, (spec, version)) in specs.iter().zip(&definition.versions).enumerate() {
        check_version(spec, version, specs, &index("spec.versions", number), &mut wrong);
    }
    // What the versions share is wrong once.
    let mut seen = BTreeSet::new();
    wrong.retain(|wrong| seen.insert(wrong.to_string()));
    versions(spec, definition, &mut wrong);
    names(&definition.names, &mut wrong);
    conversion(&spec["conversion"], &mut wrong);
    if spec["preserveUnknownFields"] == true {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                      spec.versions[*].schema instead";
        wrong.push(Wrong::invalid("spec.preserveUnknownFields", &Value::from(true), detail));
    }
    wrong
}

fn group(group: &str, wrong: &mut Vec<Wrong>) {
    let at = "spec.group";
    if group.is_empty() {
        wrong.push(Wrong::required(at, ""));
    } else if let Some(why) = not_a_subdomain(group) {
        wrong.push(Wrong::invalid(at, &Value::from(group), &why));
    } else if !group.contains('.') {
        wrong.push(Wrong::invalid(at, &Value::from(group), "should be a domain with at least one dot"));
    }
}

fn scope(spec: &Value, wrong: &mut Vec<Wrong>) {
    match spec["scope"].as_str().unwrap_or_default() {
        "Cluster" | "Namespaced" => {}
        "" => wrong.push(Wrong::required("spec.scope", "")),
        _ => wrong.push(Wrong::not_supported("spec.scope", &spec["scope"], &["Cluster", "Namespaced"])),
    }
}

/// What concerns the versions together.
fn versions(spec: &Value, definition: &Definition, wrong: &mut Vec<Wrong>) {
    let all = &spec["versions"];
    let names: BTreeSet<_> = definition.versions.iter().map(|version| &version.name).collect();
    if names.len() != definition.versions.len() {
        wrong.push(Wrong::invalid("spec.versions", all, "must contain unique version names"));
    }
    if definition.versions.iter().filter(|version| version.storage).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        let empty = Value::Array(Vec::new());
        let all = if all.is_null() { &empty } else { all };
        wrong.push(Wrong::invalid("spec.versions", all, detail));
        if !definition.versions.iter().any(|version| version.storage) {
            let detail = "must have at least one stored version";
            wrong.push(Wrong::invalid("status.storedVersions", &Value::Null, detail));
        }
    }
}

fn check_version(spec: &Value, version: &Version, all: &[Value], at: &str, wrong: &mut Vec<Wrong>) {
    if let Some(why) = not_a_label(&version.name) {
        wrong.push(Wrong::invalid(field(at, "name"), &spec["name"], &why));
    }
    if spec["deprecated"] != true && spec["deprecationWarning"].is_string() {
        let at = field(at, "deprecationWarning");
        wrong.push(Wrong::invalid(
            at,
            &spec["deprecationWarning"],
            "can only be set for deprecated versions",
        ));
    }
    let place =
        |word: &str, alone: &str| if shared(all, word) { format!("spec.{alone}") } else { field(at, word) };
    let schema_at = field(&place("schema", "validation"), "openAPIV3Schema");
    if version.schema.is_object() {
        schema(version, &schema_at, wrong);
    } else {
        wrong.push(Wrong::required(schema_at, ""));
    }
    let subresources_at = place("subresources", "subresources");
    scale(&spec["subresources"]["scale"], &field(&subresources_at, "scale"), wrong);
    let columns_at = place("additionalPrinterColumns", "additionalPrinterColumns");
    for (number, column) in spec["additionalPrinterColumns"].as_array().into_iter().flatten().enumerate() {
        check_column(column, &index(&columns_at, number), wrong);
    }
    selectable_fields(version, &place("selectableFields", "selectableFields"), wrong);
}

/// Whether all versions say the same. A real server then moves it out of the versions before it looks at it.
fn shared(all: &[Value], word: &str) -> bool {
    all.iter().all(|version| version[word] == all[0][word] && !version[word].is_null())
}

fn schema(version: &Version, at: &str, wrong: &mut Vec<Wrong>) {
    if version.root.nullable {
        wrong.push(Wrong::forbidden(field(at, "nullable"), "nullable cannot be true at the root"));
    }
    let found = structure::check(&version.schema, at);
    let structural = found.is_empty();
    wrong.extend(found);
    if structural {
        wrong.extend(keywords::check(&version.schema, &version.root, at));
    }
}

fn scale(scale: &Value, at: &str, wrong: &mut Vec<Wrong>) {
    if !scale.is_object() {
        return;
    }
    let paths = [
        ("specReplicasPath", true, &[".spec."][..], ".spec"),
        ("statusReplicasPath", true, &[".status."], ".status"),
        ("labelSelectorPath", false, &[".spec.", ".status."], "either .spec or .status"),
    ];
    for (word, required, places, place) in paths {
        let path = text(scale, word);
        let at = field(at, word);
        if path.is_empty() {
            if required {
                wrong.push(Wrong::required(at, ""));
            }
        } else if !path.starts_with('.') {
            wrong.push(Wrong::invalid(at, &scale[word], "must be a simple json path starting with ."));
        } else if !places.iter().any(|place| path.starts_with(place)) {
            wrong.push(Wrong::invalid(at, &scale[word], &format!("should be a json path under {place}")));
        }
    }
}

fn check_column(column: &Value, at: &str, wrong: &mut Vec<Wrong>) {
    let kinds = ["boolean", "date", "integer", "number", "string"];
    let formats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
    if text(column, "name").is_empty() {
        wrong.push(Wrong::required(field(at, "name"), ""));
    }
    let kind = text(column, "type");
    let detail = format!("must be one of {}", kinds.join(","));
    if kind.is_empty() {
        wrong.push(Wrong::required(field(at, "type"), &detail));
    } else if !kinds.contains(&kind.as_str()) {
        wrong.push(Wrong::invalid(field(at, "type"), &Value::from(kind), &detail));
    }
    let format = text(column, "format");
    if !format.is_empty() && !formats.contains(&format.as_str()) {
        let detail = format!("must be one of {}", formats.join(","));
        wrong.push(Wrong::invalid(field(at, "format"), &Value::from(format), &detail));
    }
    let path = text(column, "jsonPath");
    let at = field(at, "JSONPath");
    if path.is_empty() {
        wrong.push(Wrong::required(at, ""));
    } else if !path.starts_with('.') {
        wrong.push(Wrong::invalid(at, &Value::from(path), "must be a simple json path starting with ."));
    }
}

fn selectable_fields(version: &Version, at: &str, wrong: &mut Vec<Wrong>) {
    let mut seen = BTreeSet::new();
    for (number, path) in version.selectable_fields.iter().enumerate() {
        let at = field(&index(at, number), "jsonPath");
        let value = Value::from(path.as_str());
        if path.is_empty() {
            wrong.push(Wrong::required(at, ""));
            continue;
        }
        let mut names = path.strip_prefix('.').unwrap_or_default().split('.');
        let Some(node) = names.try_fold(&version.root, |node, name| node.field(name)) else {
            wrong.push(Wrong::invalid(at, &value, "is an invalid path: does not refer to a valid field"));
            continue;
        };
        if path.starts_with(".metadata.") {
            wrong.push(Wrong::invalid(at.as_str(), &value, "must not point to fields in metadata"));
        }
        if !["string", "boolean", "integer"].contains(&node.kind.as_str()) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings \
                          with formats are allowed.";
            wrong.push(Wrong::invalid(at.as_str(), &value, detail));
        }
        if !seen.insert(path) {
            wrong.push(Wrong::duplicate(at, &value));
        }
    }
    if seen.len() > 8 {
        wrong.push(Wrong::too_many(at, seen.len(), 8));
    }
}

fn names(names: &Names, wrong: &mut Vec<Wrong>) {
    let all = [
        ("plural", &names.plural),
        ("singular", &names.singular),
        ("kind", &names.kind),
        ("listKind", &names.list_kind),
    ];
    for (word, name) in all {
        if name.is_empty() {
            wrong.push(Wrong::required(field("spec.names", word), ""));
        }
    }
    for (word, name) in all {
        let mixed = word == "kind" || word == "listKind";
        let lower = if mixed { name.to_lowercase() } else { name.clone() };
        if let Some(why) = not_a_label(&lower).filter(|_| !name.is_empty()) {
            let lead = if mixed { "may have mixed case, but should otherwise match: " } else { "" };
            let at = field("spec.names", word);
            wrong.push(Wrong::invalid(at, &Value::from(name.as_str()), &format!("{lead}{why}")));
        }
    }
    if !names.kind.is_empty() && names.kind == names.list_kind {
        let value = Value::from(names.list_kind.as_str());
        wrong.push(Wrong::invalid("spec.names.listKind", &value, "kind and listKind may not be the same"));
    }
    for (word, list) in [("shortNames", &names.short_names), ("categories", &names.categories)] {
        for (number, name) in list.iter().enumerate() {
            if let Some(why) = not_a_label(name) {
                let at = index(&field("spec.names", word), number);
                wrong.push(Wrong::invalid(at, &Value::from(name.as_str()), &why));
            }
        }
    }
}

fn conversion(conversion: &Value, wrong: &mut Vec<Wrong>) {
    if conversion.is_null() {
        return;
    }
    let at = "spec.conversion";
    match conversion["strategy"].as_str().unwrap_or_default() {
        "None" if conversion["webhook"].is_object() => {
            let detail = "should not be set when strategy is not set to Webhook";
            wrong.push(Wrong::forbidden(field(at, "webhookClientConfig"), detail));
        }
        "Webhook" if !conversion["webhook"]["clientConfig"].is_object() => {
            let detail = "required when strategy is set to Webhook";
            wrong.push(Wrong::required(field(at, "webhookClientConfig"), detail));
        }
        "None" | "Webhook" => {}
        "" => wrong.push(Wrong::required(field(at, "strategy"), "")),
        _ => {
            let at = field(at, "strategy");
            wrong.push(Wrong::not_supported(at, &conversion["strategy"], &["None", "Webhook"]));
        }
    }
}
