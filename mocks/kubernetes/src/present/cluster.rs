//! Rows of nodes, namespaces, events and the small resources around them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::view::{Cells, View};

pub(super) fn printer(shelf: &str) -> Option<fn(View<'_>) -> Cells> {
    Some(match shelf {
        "nodes" => node,
        "namespaces" => |view| vec![view.name(), view.text("/status/phase").into(), view.age()],
        "events" => event,
        "configmaps" => |view| {
            let count = view.count("/data") + view.count("/binaryData");
            vec![view.name(), count.into(), view.age()]
        },
        "secrets" => {
            |view| vec![view.name(), view.text("/type").into(), view.count("/data").into(), view.age()]
        }
        "serviceaccounts" => |view| vec![view.name(), view.age()],
        "resourcequotas" => resource_quota,
        "componentstatuses" => component_status,
        "leases.coordination.k8s.io" => {
            |view| vec![view.name(), view.text("/spec/holderIdentity").into(), view.age()]
        }
        "priorityclasses.scheduling.k8s.io" => priority_class,
        "runtimeclasses.node.k8s.io" => |view| vec![view.name(), view.text("/handler").into(), view.age()],
        "apiservices.apiregistration.k8s.io" => api_service,
        _ => return None,
    })
}

fn node(view: View<'_>) -> Cells {
    let mut status = match view.condition("/status/conditions", "Ready") {
        Some("True") => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if view.flag("/spec/unschedulable", false) {
        status.push_str(",SchedulingDisabled");
    }
    let address = |kind: &str| {
        let found = view.list("/status/addresses").iter().find(|address| address["type"] == kind);
        Value::from(found.and_then(|address| address["address"].as_str()).unwrap_or("<none>"))
    };
    vec![
        view.name(),
        status.into(),
        roles(view).into(),
        view.age(),
        view.text("/status/nodeInfo/kubeletVersion").into(),
        address("InternalIP"),
        address("ExternalIP"),
        view.or("/status/nodeInfo/osImage", "<unknown>").into(),
        view.or("/status/nodeInfo/kernelVersion", "<unknown>").into(),
        view.or("/status/nodeInfo/containerRuntimeVersion", "<unknown>").into(),
    ]
}

fn roles(view: View<'_>) -> String {
    let labels = view.at("/metadata/labels").and_then(Value::as_object);
    let role = |(key, value): (&'_ String, &'_ Value)| {
        let role = match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => role.to_owned(),
            None if key == "kubernetes.io/role" => value.as_str().unwrap_or_default().to_owned(),
            None => String::new(),
        };
        Some(role).filter(|role| !role.is_empty())
    };
    let roles: BTreeSet<String> = labels.into_iter().flatten().filter_map(role).collect();
    super::view::or_none(roles.into_iter().collect::<Vec<_>>().join(","))
}

/// An event in the form of either group.
fn event(view: View<'_>) -> Cells {
    let new = view.at("/regarding").is_some();
    let by = |core: &'static str, events: &'static str| if new { events } else { core };
    let first = by("/firstTimestamp", "/deprecatedFirstTimestamp");
    let first = if view.at(first).is_some() { view.since(first) } else { view.since("/eventTime") };
    let last = by("/lastTimestamp", "/deprecatedLastTimestamp");
    let mut last = if view.at(last).is_some() { view.since(last) } else { first.clone() };
    let mut count = view.number(by("/count", "/deprecatedCount")).max(1);
    if view.at("/series").is_some() {
        last = view.since("/series/lastObservedTime");
        count = view.number("/series/count");
    }
    let about = view.part(view.at(by("/involvedObject", "/regarding")).unwrap_or(&Value::Null));
    let kind = about.text("/kind").to_lowercase();
    let object = match about.text("/name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    vec![
        last.into(),
        view.text("/type").into(),
        view.text("/reason").into(),
        object.into(),
        about.text("/fieldPath").into(),
        event_source(view, by("/source", "/deprecatedSource")).into(),
        view.text(by("/message", "/note")).trim().into(),
        first.into(),
        count.into(),
        view.name(),
    ]
}

fn event_source(view: View<'_>, pointer: &str) -> String {
    let source = view.part(view.at(pointer).unwrap_or(&Value::Null));
    let reporter = view.or("/reportingComponent", view.text("/reportingController"));
    let component = source.or("/component", reporter);
    match source.or("/host", view.text("/reportingInstance")) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    }
}

fn resource_quota(view: View<'_>) -> Cells {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    let hard = view.at("/status/hard").and_then(Value::as_object);
    for (name, hard) in hard.into_iter().flatten() {
        let used = view.at("/status/used").and_then(|used| used.get(name)).and_then(Value::as_str);
        let text = format!("{name}: {}/{}", used.unwrap_or("0"), hard.as_str().unwrap_or_default());
        if name.starts_with("limits.") { limits.push(text) } else { requests.push(text) }
    }
    vec![view.name(), requests.join(", ").into(), limits.join(", ").into(), view.age()]
}

fn component_status(view: View<'_>) -> Cells {
    let found = view.list("/conditions").iter().find(|condition| condition["type"] == "Healthy");
    let condition = view.part(found.unwrap_or(&Value::Null));
    let status = match condition.text("/status") {
        _ if found.is_none() => "Unknown",
        "True" => "Healthy",
        _ => "Unhealthy",
    };
    vec![view.name(), status.into(), condition.text("/message").into(), condition.text("/error").into()]
}

fn priority_class(view: View<'_>) -> Cells {
    vec![
        view.name(),
        view.number("/value").into(),
        view.flag("/globalDefault", false).into(),
        view.age(),
        view.text("/preemptionPolicy").into(),
    ]
}

fn api_service(view: View<'_>) -> Cells {
    let service = match view.at("/spec/service").map(|service| view.part(service)) {
        Some(service) => format!("{}/{}", service.text("/namespace"), service.text("/name")),
        None => "Local".to_owned(),
    };
    let found = view.list("/status/conditions").iter().find(|condition| condition["type"] == "Available");
    let available = match found.map(|condition| view.part(condition)) {
        Some(condition) if condition.text("/status") == "True" => "True".to_owned(),
        Some(condition) => format!("{} ({})", condition.text("/status"), condition.text("/reason")),
        None => "Unknown".to_owned(),
    };
    vec![view.name(), service.into(), available.into(), view.age()]
}
