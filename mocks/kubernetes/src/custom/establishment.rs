//! A definition object on its way in: its own defaults, and the status that says it is served.

use std::collections::BTreeSet;

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

/// The names that other resources of a group have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken {
    /// Plural, singular and short names.
    pub(crate) resources: BTreeSet<String>,
    pub(crate) kinds: BTreeSet<String>,
}

/// Sets the status. Names are accepted one by one; if one is taken, the last of these is told. Conditions keep their
/// time while their status stays; a definition once established stays so.
pub(crate) fn establish(crd: &mut Value, now: &str, taken: &Taken) {
    let old = crd["status"].take();
    let (names, conflict) = accepted(&crd["spec"]["names"], &old["acceptedNames"], taken);
    let (accepted, reason, message) = match &conflict {
        None => ("True", "NoConflicts", "no conflicts found"),
        Some((reason, message)) => ("False", *reason, message.as_str()),
    };
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

/// Whether what a definition defines is served.
pub(crate) fn is_established(crd: &Value) -> bool {
    condition(&crd["status"], "Established").is_some_and(|condition| condition["status"] == "True")
}

/// The wanted names as far as they are free, beside those already accepted, and the last conflict.
fn accepted(wanted: &Value, before: &Value, taken: &Taken) -> (Value, Option<(&'static str, String)>) {
    let mut names = if before.is_object() { before.clone() } else { json!({"plural": "", "kind": ""}) };
    let mut conflict = None;
    let parts = [
        ("plural", "PluralConflict", &taken.resources),
        ("singular", "SingularConflict", &taken.resources),
        ("shortNames", "ShortNamesConflict", &taken.resources),
        ("kind", "KindConflict", &taken.kinds),
        ("listKind", "ListKindConflict", &taken.kinds),
    ];
    for (field, reason, used) in parts {
        let (wanted, before) = (&wanted[field], &before[field]);
        let texts: Vec<&str> = match wanted {
            Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
            other => other.as_str().into_iter().collect(),
        };
        let clash = texts.iter().find(|text| wanted != before && used.contains(**text));
        match clash {
            Some(text) => conflict = Some((reason, format!("{text:?} is already in use"))),
            None if !wanted.is_null() => names[field] = wanted.clone(),
            None => {}
        }
    }
    if !wanted["categories"].is_null() {
        names["categories"] = wanted["categories"].clone();
    }
    (names, conflict)
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
