//! Which fields a selector may name, and what an object says there.
//!
//! Not the selector itself. A field that is missing from an object reads as empty, as in upstream.

use serde_json::Value;

use super::Resource;
use crate::status::Status;

const NAME: &str = "metadata.name";
const NAMESPACE: &str = "metadata.namespace";

/// The fields of built-in resources that can be selected, beyond name and namespace.
const SELECTABLE: &[(&str, &str, &[&str])] = &[
    (
        "",
        "pods",
        &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "spec.host",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
    ),
    ("", "nodes", &["spec.unschedulable"]),
    ("", "replicationcontrollers", &["status.replicas"]),
    ("", "namespaces", &["status.phase"]),
    ("", "secrets", &["type"]),
    ("", "services", &["spec.clusterIP", "spec.type"]),
    (
        "",
        "events",
        &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
    ),
    (
        "events.k8s.io",
        "events",
        &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
    ),
    ("batch", "jobs", &["status.successful"]),
    ("certificates.k8s.io", "certificatesigningrequests", &["spec.signerName"]),
    ("resource.k8s.io", "resourceslices", &["spec.nodeName", "spec.driver"]),
];

/// The fields that a selector may name.
pub(crate) fn fields(resource: &Resource) -> Vec<&str> {
    let own = own_fields(resource);
    // Cluster-scoped kinds refuse the namespace, unless they are built in and have no fields of their own.
    let namespace = resource.namespaced || (resource.custom.is_none() && own.is_empty());
    let mut fields = vec![NAME];
    fields.extend(namespace.then_some(NAMESPACE));
    fields.extend(own);
    fields
}

/// The fields that the store keeps of an object, in their order: the same for all who look at its shelf.
pub(crate) fn indexed(resource: &Resource) -> Vec<&str> {
    let mut names: Vec<&str> = match &resource.custom {
        Some((definition, _)) => {
            let versions = definition.versions.iter();
            versions
                .flat_map(|version| version.selectable_fields.iter().map(|path| path.trim_start_matches('.')))
                .collect()
        }
        None if resource.shelf == "events" => {
            let both = SELECTABLE.iter().filter(|(_, plural, _)| *plural == "events");
            both.flat_map(|(_, _, fields)| *fields).copied().collect()
        }
        None => own_fields(resource),
    };
    names.sort_unstable();
    names.dedup();
    names
}

/// Refuses a field that cannot be selected, in upstream's words.
pub(crate) fn check_field(resource: &Resource, name: &str) -> Result<(), Status> {
    if fields(resource).contains(&name) {
        return Ok(());
    }
    Err(Status::bad_request(match (&resource.custom, resource.plural.as_str()) {
        (None, "jobs") => format!("field label {name:?} not supported for Job"),
        (None, "resourceslices") => {
            let (group, version, kind) = (&resource.group, &resource.version, &resource.kind);
            format!("field label not supported for {group}/{version}, Kind={kind}: {name}")
        }
        (None, _) if own_fields(resource).is_empty() => {
            format!("{name:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
        }
        _ => format!("field label not supported: {name}"),
    }))
}

/// What an object says in each of the fields that are kept beside it.
pub(crate) fn values(resource: &Resource, object: &Value) -> Box<[Box<str>]> {
    indexed(resource).into_iter().map(|name| value(resource, object, name).into()).collect()
}

fn value(resource: &Resource, object: &Value, name: &str) -> String {
    let at = |path: &str| text(path.split('.').try_fold(object, |value, key| value.get(key)));
    match (resource.shelf.as_str(), name) {
        (_, NAME | NAMESPACE) => at(name),
        ("pods", "spec.host") => at("spec.nodeName"),
        ("pods", "spec.hostNetwork") | ("nodes", "spec.unschedulable") => or(at(name), "false"),
        // The list of addresses is selectable by name only: upstream does not fill it in.
        ("pods", "status.podIPs") => String::new(),
        ("pods", "status.podIP") => or(text(object.pointer("/status/podIPs/0/ip")), &at(name)),
        ("jobs.batch", "status.successful") => or(at("status.succeeded"), "0"),
        ("replicationcontrollers", _) => or(at(name), "0"),
        ("events", _) => event_field(object, name),
        _ => at(name),
    }
}

/// Events are stored in one form and shown in two, so each field is looked for under both names.
fn event_field(object: &Value, name: &str) -> String {
    let at = |pointer: &str| text(object.pointer(pointer));
    let (first, rest) = name.split_once('.').unwrap_or((name, ""));
    match first {
        "involvedObject" | "regarding" => {
            or(at(&format!("/involvedObject/{rest}")), &at(&format!("/regarding/{rest}")))
        }
        "reportingComponent" | "reportingController" => {
            or(at("/reportingComponent"), &at("/reportingController"))
        }
        "source" => {
            let source = or(at("/source/component"), &at("/deprecatedSource/component"));
            or(source, &event_field(object, "reportingComponent"))
        }
        _ => at(&format!("/{name}")),
    }
}

fn own_fields(resource: &Resource) -> Vec<&str> {
    if let Some((_, version)) = &resource.custom {
        return version.selectable_fields.iter().map(|path| path.trim_start_matches('.')).collect();
    }
    let found =
        SELECTABLE.iter().find(|(group, plural, _)| *group == resource.group && *plural == resource.plural);
    found.map_or_else(Vec::new, |(_, _, fields)| fields.to_vec())
}

/// A value as a selector writes it.
fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(_) | Value::Number(_)) => value.map(Value::to_string).unwrap_or_default(),
        _ => String::new(),
    }
}

fn or(text: String, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Registry;
    use super::super::tests::gadgets;
    use super::*;

    fn field_of(resource: &Resource, object: &Value, field: &str) -> Option<String> {
        let kept = [NAME, NAMESPACE].contains(&field) || indexed(resource).contains(&field);
        kept.then(|| value(resource, object, field))
    }

    fn said(group: &str, plural: &str, object: &Value, field: &str) -> Option<String> {
        field_of(Registry::built_in().find(group, "v1", plural).unwrap(), object, field)
    }

    fn refusal(registry: &Registry, group: &str, plural: &str, field: &str) -> String {
        check_field(registry.find(group, "v1", plural).unwrap(), field).unwrap_err().message
    }

    #[test]
    fn pods_and_nodes_say_false_and_empty_where_nothing_is_written() {
        let pod = json!({
            "metadata": {"name": "a", "namespace": "b"},
            "spec": {"nodeName": "n"},
            "status": {"podIPs": [{"ip": "10.0.0.1"}, {"ip": "::1"}]},
        });
        for (field, value) in [
            ("metadata.name", "a"),
            ("metadata.namespace", "b"),
            ("spec.nodeName", "n"),
            ("spec.host", "n"),
            ("spec.hostNetwork", "false"),
            ("status.phase", ""),
            ("status.podIP", "10.0.0.1"),
            ("status.podIPs", ""),
        ] {
            assert_eq!(said("", "pods", &pod, field).as_deref(), Some(value), "{field}");
        }
        assert_eq!(said("", "pods", &pod, "spec.priority"), None);
        let node = json!({"spec": {"unschedulable": true}});
        assert_eq!(said("", "nodes", &node, "spec.unschedulable").as_deref(), Some("true"));
        assert_eq!(said("", "nodes", &json!({}), "spec.unschedulable").as_deref(), Some("false"));
        assert_eq!(said("batch", "jobs", &json!({}), "status.successful").as_deref(), Some("0"));
    }

    #[test]
    fn both_forms_of_an_event_answer_to_both_names() {
        let core = json!({"involvedObject": {"name": "a"}, "reason": "R", "source": {"component": "c"}});
        let new = json!({"regarding": {"name": "a"}, "reason": "R", "reportingController": "c"});
        for event in [core, new] {
            assert_eq!(said("", "events", &event, "involvedObject.name").as_deref(), Some("a"));
            assert_eq!(said("events.k8s.io", "events", &event, "regarding.name").as_deref(), Some("a"));
            assert_eq!(said("", "events", &event, "source").as_deref(), Some("c"));
        }
        let registry = Registry::built_in();
        let [core, new] = ["", "events.k8s.io"].map(|group| registry.find(group, "v1", "events").unwrap());
        assert_eq!(indexed(core), indexed(new), "one shelf has one order");
        let refused = "field label not supported: involvedObject.name";
        assert_eq!(refusal(&registry, "events.k8s.io", "events", "involvedObject.name"), refused);
    }

    #[test]
    fn a_definition_says_which_fields_can_be_selected() {
        let registry = Registry::built_in().with(&gadgets("example.com", &["v1"]));
        let gadgets = registry.find("example.com", "v1", "gadgets").unwrap();
        assert_eq!(fields(gadgets), ["metadata.name", "spec.colour"]);
        let red = json!({"spec": {"colour": "red"}});
        assert_eq!(field_of(gadgets, &red, "spec.colour").as_deref(), Some("red"));
        assert_eq!(
            refusal(&registry, "example.com", "gadgets", "metadata.namespace"),
            "field label not supported: metadata.namespace"
        );
    }

    #[test]
    fn other_fields_are_refused_in_upstreams_words() {
        let registry = Registry::built_in();
        assert_eq!(refusal(&registry, "", "pods", "spec.x"), "field label not supported: spec.x");
        assert_eq!(
            refusal(&registry, "apps", "replicasets", "status.replicas"),
            "\"status.replicas\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        );
        assert_eq!(refusal(&registry, "batch", "jobs", "a"), "field label \"a\" not supported for Job");
        let storage = registry.find("storage.k8s.io", "v1", "storageclasses").unwrap();
        assert!(check_field(storage, "metadata.namespace").is_ok());
    }
}
