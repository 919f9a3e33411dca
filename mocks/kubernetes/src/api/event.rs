//! Events have two faces: that of the core group, in which they are stored, and that of `events.k8s.io`.

use serde_json::{Map, Value};

/// What each field is called, in the core group and in `events.k8s.io`.
const NAMES: [(&str, &str); 8] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
    ("reportingInstance", "reportingInstance"),
];

/// From the core group to `events.k8s.io`.
pub(super) fn to_events(value: &mut Value) {
    rename(value, |(core, events)| (core, events));
    if let Some(object) = value.as_object_mut() {
        for name in ["reportingController", "reportingInstance"] {
            if object.get(name).is_some_and(|reporter| reporter == "") {
                object.remove(name);
            }
        }
    }
}

/// From `events.k8s.io` to the core group.
pub(super) fn to_core(value: &mut Value) {
    rename(value, |(core, events)| (events, core));
    if let Some(object) = value.as_object_mut() {
        // In this group they are always written.
        for name in ["reportingComponent", "reportingInstance"] {
            object.entry(name).or_insert_with(|| Value::from(""));
        }
    }
    value["apiVersion"] = Value::from("v1");
}

fn rename(
    value: &mut Value,
    direction: impl Fn((&'static str, &'static str)) -> (&'static str, &'static str),
) {
    let Some(object) = value.as_object_mut() else { return };
    let mut renamed = Map::new();
    for (from, to) in NAMES.map(direction) {
        if let Some(field) = object.remove(from) {
            renamed.insert(to.to_owned(), field);
        }
    }
    object.append(&mut renamed);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_faces_carry_the_same() {
        let core = json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": "a"}, "type": "Normal", "reason": "Why",
            "involvedObject": {"name": "n"}, "message": "text", "count": 3, "eventTime": null,
            "source": {"component": "c"}, "reportingComponent": "r", "reportingInstance": "",
        });
        let mut event = core.clone();
        to_events(&mut event);
        assert_eq!(event["note"], "text");
        assert_eq!(event["deprecatedCount"], 3);
        assert!(event.get("involvedObject").is_none());
        to_core(&mut event);
        assert_eq!(event, core);
    }
}
