//! Services: ports, type, addresses.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{field, meta};
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::read::{integer, items, present, text};
use crate::status::Wrong;

const SPEC: Path<'static> = Path::Top("spec");

pub(super) fn service(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    let kind = text(spec, "type");
    let is_headless = text(spec, "clusterIP") == "None";
    let list = items(spec, "ports");
    if list.is_empty() && !is_headless && kind != "ExternalName" {
        wrong.push(Wrong::required(SPEC.field("ports"), ""));
    }
    if is_headless && matches!(kind, "LoadBalancer" | "NodePort") {
        let why = format!("may not be set to 'None' for {kind} services");
        wrong.push(Wrong::invalid(SPEC.field("clusterIPs").index(0), &json!("None"), &why));
    }
    if kind == "ExternalName" {
        external_name(spec, wrong);
    }
    ports(list, wrong);
    meta::labels(spec, "selector", &SPEC.field("selector"), wrong);
    let affinity = text(spec, "sessionAffinity");
    field::one_of(&SPEC.field("sessionAffinity"), affinity, &["ClientIP", "None"], wrong);
    if kind != "ExternalName" {
        addresses(spec, wrong);
    }
    let kinds = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    field::one_of(&SPEC.field("type"), kind, &kinds, wrong);
    node_ports(kind, list, wrong);
    same_ports(list, wrong);
    if present(spec, "allocateLoadBalancerNodePorts").is_some() && kind != "LoadBalancer" {
        let why = "may only be used when `type` is 'LoadBalancer'";
        wrong.push(Wrong::forbidden(SPEC.field("allocateLoadBalancerNodePorts"), why));
    }
    traffic(spec, kind, wrong);
}

fn external_name(spec: &Value, wrong: &mut Vec<Wrong>) {
    for name in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if present(spec, name).is_some() {
            wrong.push(Wrong::forbidden(SPEC.field(name), "may not be set for ExternalName services"));
        }
    }
    let name = text(spec, "externalName").trim_end_matches('.');
    if name.is_empty() {
        wrong.push(Wrong::required(SPEC.field("externalName"), ""));
    } else {
        field::invalid(&SPEC.field("externalName"), name, names::subdomain(name), wrong);
    }
}

fn ports(list: &[Value], wrong: &mut Vec<Wrong>) {
    let path = SPEC.field("ports");
    let mut seen = BTreeSet::new();
    for (index, port) in list.iter().enumerate() {
        let path = path.index(index);
        let name = text(port, "name");
        if name.is_empty() && list.len() > 1 {
            wrong.push(Wrong::required(path.field("name"), ""));
        } else if !name.is_empty() {
            field::invalid(&path.field("name"), name, names::label(name), wrong);
            if !seen.insert(name) {
                wrong.push(Wrong::duplicate(path.field("name"), &json!(name)));
            }
        }
        let number = integer(port, "port").unwrap_or_default();
        field::port(&path.field("port"), Some(&json!(number)), wrong);
        let protocols = ["SCTP", "TCP", "UDP"];
        field::one_of(&path.field("protocol"), text(port, "protocol"), &protocols, wrong);
        field::port(&path.field("targetPort"), port.get("targetPort"), wrong);
        if let Some(protocol) = present(port, "appProtocol").and_then(Value::as_str) {
            field::key(&path.field("appProtocol"), protocol, wrong);
        }
    }
}

fn addresses(spec: &Value, wrong: &mut Vec<Wrong>) {
    let (single, list) = (text(spec, "clusterIP"), items(spec, "clusterIPs"));
    let path = SPEC.field("clusterIPs");
    match list.first().and_then(Value::as_str) {
        None if !single.is_empty() => wrong.push(Wrong::required(path, "")),
        Some(first) if single.is_empty() && !first.is_empty() => {
            let why = "must be empty when `clusterIP` is not specified";
            wrong.push(Wrong::invalid(path, &json!(list), why));
        }
        Some(first) if first != single => {
            wrong.push(Wrong::invalid(path, &json!(list), "first value must match `clusterIP`"));
        }
        _ => {}
    }
    for (index, address) in list.iter().filter_map(Value::as_str).enumerate() {
        let is_legal = (index == 0 && address == "None") || address.parse::<std::net::IpAddr>().is_ok();
        if !is_legal {
            let why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            wrong.push(Wrong::invalid(path.index(index), &json!(address), why));
        }
    }
    for (index, family) in items(spec, "ipFamilies").iter().filter_map(Value::as_str).enumerate() {
        let path = SPEC.field("ipFamilies");
        field::one_of_if_given(&path.index(index), family, &["IPv4", "IPv6"], wrong);
    }
    let policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
    let policy = text(spec, "ipFamilyPolicy");
    field::one_of_if_given(&SPEC.field("ipFamilyPolicy"), policy, &policies, wrong);
}

fn node_ports(kind: &str, list: &[Value], wrong: &mut Vec<Wrong>) {
    let path = SPEC.field("ports");
    let mut seen = BTreeSet::new();
    for (index, port) in list.iter().enumerate() {
        let Some(number) = integer(port, "nodePort").filter(|number| *number != 0) else { continue };
        if kind == "ClusterIP" {
            let why = "may not be used when `type` is 'ClusterIP'";
            wrong.push(Wrong::forbidden(path.index(index).field("nodePort"), why));
        }
        if !seen.insert((text(port, "protocol"), number)) {
            wrong.push(Wrong::duplicate(path.index(index).field("nodePort"), &json!(number)));
        }
    }
}

fn same_ports(list: &[Value], wrong: &mut Vec<Wrong>) {
    let path = SPEC.field("ports");
    let mut seen = BTreeSet::new();
    for (index, port) in list.iter().enumerate() {
        let (protocol, number) = (text(port, "protocol"), integer(port, "port").unwrap_or_default());
        if !seen.insert((protocol, number)) {
            let shown = format!(
                "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{number},\"TargetPort\":0,\
                 \"NodePort\":0}}",
                json!(protocol)
            );
            wrong.push(Wrong::duplicate_shown(path.index(index), &shown, ""));
        }
    }
}

fn traffic(spec: &Value, kind: &str, wrong: &mut Vec<Wrong>) {
    let policy = text(spec, "externalTrafficPolicy");
    let path = SPEC.field("externalTrafficPolicy");
    let is_reachable = matches!(kind, "LoadBalancer" | "NodePort")
        || (kind == "ClusterIP" && !items(spec, "externalIPs").is_empty());
    if is_reachable {
        field::one_of(&path, policy, &["Cluster", "Local"], wrong);
    } else if !policy.is_empty() {
        let why = "may only be set for externally-accessible services";
        wrong.push(Wrong::invalid(path, &json!(policy), why));
    }
    if let Some(policy) = present(spec, "internalTrafficPolicy").and_then(Value::as_str) {
        field::one_of_if_given(&SPEC.field("internalTrafficPolicy"), policy, &["Cluster", "Local"], wrong);
    }
}

/// The first address of a service stays, unless it comes from or goes to an external name.
pub(super) fn update(object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    let (now, before) = (field::part(object, "spec"), field::part(old, "spec"));
    if text(now, "type") == "ExternalName" || text(before, "type") == "ExternalName" {
        return;
    }
    for name in ["clusterIPs", "ipFamilies"] {
        let first = |spec: &Value| items(spec, name).first().cloned();
        if let (Some(was), Some(is)) = (first(before), first(now))
            && was != is
        {
            let path = SPEC.field(name);
            let (why, value) = if name == "clusterIPs" {
                ("may not change once set", json!(items(now, name)))
            } else {
                ("may not change once set", is)
            };
            wrong.push(Wrong::invalid(path.index(0), &value, why));
        }
    }
}
