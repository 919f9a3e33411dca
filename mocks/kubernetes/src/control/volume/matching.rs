//! Which of the volumes that are there a claim may have.

use serde_json::Value;

use super::facts::{capacity, class, is_for, requested, text};
use crate::selector::Selector;

/// The volume that is reserved for the claim, or else the smallest that will do. A claim that waits for its first
/// consumer gets none but what is reserved: the scheduler will choose.
pub(super) fn best<'a>(claim: &Value, volumes: &'a [Value], waits: bool) -> Option<&'a Value> {
    let fits = |volume: &&Value| {
        let taken = volume["spec"]["claimRef"].is_object() && !is_for(volume, claim);
        !taken && mismatch_of_form(volume, claim).is_none()
    };
    let mut candidates = volumes.iter().filter(fits);
    if let Some(reserved) = candidates.clone().find(|volume| is_for(volume, claim)) {
        return Some(reserved);
    }
    if waits {
        return None;
    }
    let selector = match &claim["spec"]["selector"] {
        Value::Null => Selector::of(Vec::new()),
        selector => Selector::from_value(selector).unwrap_or_else(|_| Selector::nothing()),
    };
    let free = |volume: &&Value| {
        text(&volume["status"], "phase") == "Available"
            && selector.matches(&volume["metadata"]["labels"])
            && class(volume) == class(claim)
            && modes(volume, claim)
    };
    candidates.by_ref().filter(free).min_by_key(|volume| capacity(volume))
}

/// Why a claim may not have the volume it names.
pub(super) fn mismatch(volume: &Value, claim: &Value) -> Option<&'static str> {
    if let Some(why) = mismatch_of_form(volume, claim) {
        return Some(why);
    }
    if class(volume) != class(claim) {
        return Some("storageClassName does not match");
    }
    (!modes(volume, claim)).then_some("incompatible accessMode")
}

fn mismatch_of_form(volume: &Value, claim: &Value) -> Option<&'static str> {
    let form = |object: &Value| match text(&object["spec"], "volumeMode") {
        "" => "Filesystem".to_owned(),
        mode => mode.to_owned(),
    };
    let attributes = |object: &Value| text(&object["spec"], "volumeAttributesClassName").to_owned();
    if volume["metadata"]["deletionTimestamp"].is_string() {
        Some("the volume is marked for deletion")
    } else if capacity(volume) < requested(claim) {
        Some("requested PV is too small")
    } else if attributes(volume) != attributes(claim) {
        Some("volumeAttributesClassName does not match")
    } else if form(volume) != form(claim) {
        Some("incompatible volumeMode")
    } else {
        None
    }
}

/// Whether a volume offers all modes of access that a claim asks for.
fn modes(volume: &Value, claim: &Value) -> bool {
    let list = |object: &Value| object["spec"]["accessModes"].as_array().cloned().unwrap_or_default();
    let offered = list(volume);
    list(claim).iter().all(|mode| offered.contains(mode))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn volume(name: &str, size: &str, extra: Value) -> Value {
        let mut volume = json!({
            "metadata": {"name": name, "labels": {"disk": name}},
            "spec": {
                "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
                "storageClassName": "c",
            },
            "status": {"phase": "Available"},
        });
        for (field, value) in extra.as_object().unwrap() {
            volume["spec"][field] = value.clone();
        }
        volume
    }

    fn claim(extra: Value) -> Value {
        let mut claim = json!({
            "metadata": {"name": "d", "namespace": "n", "uid": "u"},
            "spec": {
                "resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"],
                "storageClassName": "c",
            },
        });
        for (field, value) in extra.as_object().unwrap() {
            claim["spec"][field] = value.clone();
        }
        claim
    }

    #[test]
    fn the_smallest_that_will_do() {
        let volumes = [
            volume("small", "1023Mi", json!({})),
            volume("large", "10Gi", json!({})),
            volume("fits", "2Gi", json!({})),
            volume("other", "1Gi", json!({"storageClassName": "d"})),
            volume("block", "1Gi", json!({"volumeMode": "Block"})),
            volume("taken", "1Gi", json!({"claimRef": {"name": "x", "namespace": "n"}})),
        ];
        let name = |claim: &Value, waits| {
            best(claim, &volumes, waits).map(|found| found["metadata"]["name"].clone())
        };
        assert_eq!(name(&claim(json!({})), false), Some(json!("fits")));
        assert_eq!(name(&claim(json!({})), true), None);
        assert_eq!(name(&claim(json!({"accessModes": ["ReadWriteMany"]})), false), None);
        assert_eq!(
            name(&claim(json!({"selector": {"matchLabels": {"disk": "large"}}})), false),
            Some(json!("large"))
        );
        assert_eq!(name(&claim(json!({"storageClassName": "d"})), false), Some(json!("other")));
    }

    #[test]
    fn what_is_reserved_comes_first() {
        let volumes = [
            volume("fits", "2Gi", json!({})),
            volume("mine", "3Gi", json!({"claimRef": {"name": "d", "namespace": "n"}})),
        ];
        let name = |waits| best(&claim(json!({})), &volumes, waits).unwrap()["metadata"]["name"].clone();
        assert_eq!([name(false), name(true)], ["mine", "mine"]);
    }
}
