//! A definition object on its way in: its own defaults, and the status that says it is served.

use serde_json::{Value, json};

use super::{Names, node::text};

/// Fills in what a client may leave out: singular, listKind, conversion.
pub(crate) fn complete(crd: &mut Value) {
    let names = Names::read(&crd["spec"]["names"]);
    let Some(spec) = crd.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if let Some(given) = spec.get_mut("names").and_then(Value::as_object_mut) {
        if names.singular.is_empty() && !names.kind.is_empty() {
            given.insert("singular".to_owned(), Value::from(names.kind.to_lowercase()));
        }
        if names.list_kind.is_empty() && !names.kind.is_empty() {
            given.insert("listKind".to_owned(), Value::from(format!("{}List", names.kind)));
        }
    }
    let conversion = spec.entry("conversion").or_insert(Value::Null);
    if conversion.is_null() {
        *conversion = json!({"strategy": "None"});
    }
}

/// Sets the status. `conflict` is why the names are not free: a reason (`PluralConflict`, …) and a sentence. Conditions
/// keep their time while their status stays; a definition once established stays so.
pub(crate) fn establish(crd: &mut Value, now: &str, conflict: Option<(&str, &str)>) {
    let old = crd["status"].take();
    let (accepted, reason, message) = conflict
        .map_or(("True", "NoConflicts", "no conflicts found"), |(reason, message)| {
            ("False", reason, message)
        });
    let was_established = condition(&old, "Established").is_some_and(|old| old["status"] == "True");
    let established = if was_established || conflict.is_none() {
        ("True", "InitialNamesAccepted", "the initial names have been accepted")
    } else {
        ("False", "NotAccepted", "not all names are accepted")
    };
    let mut conditions = vec![
        renewed(&old, "NamesAccepted", (accepted, reason, message), now),
        renewed(&old, "Established", established, now),
    ];
    // What others say of it, that it goes for one, is theirs to change.
    let own = |kind: &Value| kind == "NamesAccepted" || kind == "Established";
    let others = old["conditions"].as_array().into_iter().flatten();
    conditions.extend(others.filter(|condition| !own(&condition["type"])).cloned());
    let names = if conflict.is_none() { crd["spec"]["names"].clone() } else { old["acceptedNames"].clone() };
    let names = if names.is_object() { names } else { json!({"plural": "", "kind": ""}) };
    let mut stored = old["storedVersions"].as_array().cloned().unwrap_or_default();
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    for version in versions.filter(|version| version["storage"] == true) {
        let name = Value::from(text(version, "name"));
        if !stored.contains(&name) {
            stored.push(name);
        }
    }
    crd["status"] = json!({"conditions": conditions, "acceptedNames": names, "storedVersions": stored});
}

fn condition<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == kind)
}

fn renewed(old: &Value, kind: &str, (status, reason, message): (&str, &str, &str), now: &str) -> Value {
    let old = condition(old, kind).filter(|old| old["status"] == status);
    let since = old.and_then(|old| old["lastTransitionTime"].as_str()).unwrap_or(now);
    json!({
        "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since,
    })
}
