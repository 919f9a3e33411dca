//! Defaults of services, endpoints, ingresses and network policies.

use serde_json::{Map, Value, json};

use crate::admit::read::{
    fill, fill_zero, inner_mut, integer, is_zero, items, items_mut, present, put, remove, text,
};

pub(super) fn service(object: &mut Value) {
    if let Some(status) = inner_mut(object, "status")
        && let Some(balancer) = status.get_mut("loadBalancer")
    {
        for ingress in items_mut(balancer, "ingress") {
            if !text(ingress, "ip").is_empty() {
                fill(ingress, "ipMode", "VIP");
            }
        }
    }
    let Some(spec) = inner_mut(object, "spec") else { return };
    fill_zero(spec, "sessionAffinity", "None");
    match text(spec, "sessionAffinity") {
        "None" => remove(spec, "sessionAffinityConfig"),
        "ClientIP" => {
            let given = spec.pointer("/sessionAffinityConfig/clientIP/timeoutSeconds");
            if given.is_none_or(Value::is_null) {
                put(spec, "sessionAffinityConfig", json!({"clientIP": {"timeoutSeconds": 10800}}));
            }
        }
        _ => {}
    }
    fill_zero(spec, "type", "ClusterIP");
    for port in items_mut(spec, "ports") {
        fill_zero(port, "protocol", "TCP");
        if is_zero(port.get("targetPort"))
            && let Some(number) = integer(port, "port")
        {
            put(port, "targetPort", number);
        }
    }
    traffic(spec);
}

fn traffic(spec: &mut Value) {
    let kind = text(spec, "type").to_owned();
    let reachable = matches!(kind.as_str(), "LoadBalancer" | "NodePort")
        || (kind == "ClusterIP" && !items(spec, "externalIPs").is_empty());
    if reachable {
        fill_zero(spec, "externalTrafficPolicy", "Cluster");
    }
    if matches!(kind.as_str(), "LoadBalancer" | "NodePort" | "ClusterIP") {
        fill(spec, "internalTrafficPolicy", "Cluster");
    }
    if kind == "LoadBalancer" {
        fill(spec, "allocateLoadBalancerNodePorts", true);
    }
}

pub(super) fn endpoints(object: &mut Value) {
    for subset in items_mut(object, "subsets") {
        for port in items_mut(subset, "ports") {
            fill_zero(port, "protocol", "TCP");
        }
    }
}

pub(super) fn endpoint_slice(object: &mut Value) {
    for port in items_mut(object, "ports") {
        fill(port, "name", "");
        fill(port, "protocol", "TCP");
    }
}

pub(super) fn ingress_class(object: &mut Value) {
    if let Some(parameters) = object.get_mut("spec").and_then(|spec| spec.get_mut("parameters")) {
        fill(parameters, "scope", "Cluster");
    }
}

pub(super) fn network_policy(object: &mut Value) {
    let Some(spec) = inner_mut(object, "spec") else { return };
    for list in ["ingress", "egress"] {
        for rule in items_mut(spec, list) {
            for port in items_mut(rule, "ports") {
                fill(port, "protocol", "TCP");
            }
        }
    }
    if items(spec, "policyTypes").is_empty() {
        let types =
            if items(spec, "egress").is_empty() { json!(["Ingress"]) } else { json!(["Ingress", "Egress"]) };
        put(spec, "policyTypes", types);
    }
    if present(spec, "podSelector").is_none() {
        put(spec, "podSelector", Map::new());
    }
}
