//! The addresses and ports a service gets when it asks for none.
//!
//! A real server draws them at random; here they follow from the name, so that a run repeats. Addresses come from
//! 10.96.0.0/16 and node ports from 30000–32767; single-stack IPv4 only.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::plugin::Shelf;
use super::read::{
    deep, fill, inner_mut, integer, items, items_mut, keep, present, put, remove, text, truth,
};

const FIRST_NODE_PORT: u64 = 30_000;
const NODE_PORTS: u64 = 2_768;
const ADDRESSES: u64 = 0x1_0000 - 2;

/// Gives a service what its type needs and keeps what it had. `others` are asked only if something is missing.
pub(crate) fn allocate(service: &mut Value, old: Option<&Value>, shelf: &dyn Shelf) {
    let seed = seed(service);
    let Some(spec) = inner_mut(service, "spec") else { return };
    if let Some(stored) = old.and_then(|old| present(old, "spec")) {
        drop_unneeded(spec, stored);
        keep_allocated(spec, stored);
    }
    if text(spec, "type") == "ExternalName" {
        return;
    }
    align(spec);
    let mut taken = None;
    if text(spec, "clusterIP").is_empty() {
        let taken = taken.get_or_insert_with(|| Taken::of(shelf));
        let address = (0..ADDRESSES)
            .map(|step| 1 + (seed + step) % ADDRESSES)
            .map(|number| format!("10.96.{}.{}", number >> 8, number & 0xff))
            .find(|address| !taken.addresses.contains(address));
        put(spec, "clusterIP", address.unwrap_or_default());
        align(spec);
    }
    let is_headless = text(spec, "clusterIP") == "None";
    let is_open = is_headless && present(spec, "selector").is_none();
    fill(spec, "ipFamilies", json!(["IPv4"]));
    fill(spec, "ipFamilyPolicy", if is_open { "RequireDualStack" } else { "SingleStack" });
    if is_open {
        put(spec, "ipFamilies", json!(["IPv4", "IPv6"]));
    }
    if needs_node_ports(spec) {
        node_ports(spec, seed, taken.get_or_insert_with(|| Taken::of(shelf)));
    }
}

/// What other services hold.
struct Taken {
    addresses: BTreeSet<String>,
    ports: BTreeSet<i64>,
}

impl Taken {
    fn of(shelf: &dyn Shelf) -> Self {
        let mut taken = Self { addresses: BTreeSet::new(), ports: BTreeSet::new() };
        for service in shelf.list("Service", "") {
            let Some(spec) = service.get("spec") else { continue };
            taken.addresses.insert(text(spec, "clusterIP").to_owned());
            taken.ports.extend(items(spec, "ports").iter().filter_map(|port| integer(port, "nodePort")));
            taken.ports.extend(integer(spec, "healthCheckNodePort"));
        }
        taken
    }
}

/// A number that follows from the name (FNV-1a).
fn seed(service: &Value) -> u64 {
    let of = |field: &str| deep(service, &["metadata", field]).and_then(Value::as_str).unwrap_or_default();
    let bytes = of("namespace").bytes().chain(*b"/").chain(of("name").bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash >> 1
}

fn needs_node_ports(spec: &Value) -> bool {
    match text(spec, "type") {
        "NodePort" => true,
        "LoadBalancer" => {
            present(spec, "allocateLoadBalancerNodePorts").is_none()
                || truth(spec, "allocateLoadBalancerNodePorts")
        }
        _ => false,
    }
}

fn node_ports(spec: &mut Value, seed: u64, taken: &mut Taken) {
    let mut draw = |step: u64| {
        let numbers = (0..NODE_PORTS).map(|offset| FIRST_NODE_PORT + (seed + step + offset) % NODE_PORTS);
        let free =
            numbers.filter_map(|number| i64::try_from(number).ok()).find(|port| taken.ports.insert(*port));
        free.unwrap_or_default()
    };
    let mut step = 0;
    for port in items_mut(spec, "ports") {
        if integer(port, "nodePort").unwrap_or_default() == 0 {
            put(port, "nodePort", draw(step));
            step += 1;
        }
    }
    let checks = text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local";
    if checks && integer(spec, "healthCheckNodePort").unwrap_or_default() == 0 {
        put(spec, "healthCheckNodePort", draw(step));
    }
}

/// `clusterIP` and the first of `clusterIPs` tell the same.
fn align(spec: &mut Value) {
    let first = items(spec, "clusterIPs").first().and_then(Value::as_str).unwrap_or_default().to_owned();
    let single = text(spec, "clusterIP").to_owned();
    if single.is_empty() && !first.is_empty() {
        put(spec, "clusterIP", first);
    } else if first.is_empty() && !single.is_empty() {
        put(spec, "clusterIPs", json!([single]));
    }
}

fn has_address(spec: &Value) -> bool {
    matches!(text(spec, "type"), "ClusterIP" | "NodePort" | "LoadBalancer" | "")
}

/// A change of type drops what the new type does not have, if the client left it as it was.
fn drop_unneeded(spec: &mut Value, old: &Value) {
    if has_address(old) && !has_address(spec) {
        for name in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            drop_if_same(spec, old, name);
        }
    }
    if needs_node_ports(old) && !needs_node_ports(spec) {
        let ports = |spec: &Value| -> Vec<i64> {
            items(spec, "ports").iter().filter_map(|port| integer(port, "nodePort")).collect()
        };
        if ports(spec) == ports(old) {
            for port in items_mut(spec, "ports") {
                remove(port, "nodePort");
            }
        }
    }
    if text(old, "type") == "LoadBalancer" && text(spec, "type") != "LoadBalancer" {
        for name in ["allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"] {
            drop_if_same(spec, old, name);
        }
    }
    let is_outside = |spec: &Value| matches!(text(spec, "type"), "NodePort" | "LoadBalancer");
    if is_outside(old) && !is_outside(spec) && items(spec, "externalIPs").is_empty() {
        drop_if_same(spec, old, "externalTrafficPolicy");
    }
}

fn drop_if_same(spec: &mut Value, old: &Value, name: &str) {
    if spec.get(name) == old.get(name) {
        remove(spec, name);
    }
}

/// A client that does not repeat what the server allocated keeps it.
fn keep_allocated(spec: &mut Value, old: &Value) {
    if has_address(spec) && has_address(old) {
        if text(spec, "clusterIP").is_empty() && items(spec, "clusterIPs").is_empty() {
            for name in ["clusterIP", "clusterIPs"] {
                keep(spec, old, name);
            }
        }
        for name in ["ipFamilies", "ipFamilyPolicy"] {
            if present(spec, name).is_none() {
                keep(spec, old, name);
            }
        }
    }
    if needs_node_ports(spec) && needs_node_ports(old) {
        let stored = items(old, "ports");
        for port in items_mut(spec, "ports") {
            let is_same = |other: &&Value| {
                integer(other, "port") == integer(port, "port")
                    && text(other, "protocol") == text(port, "protocol")
            };
            if integer(port, "nodePort").unwrap_or_default() == 0
                && let Some(before) = stored.iter().find(is_same)
            {
                keep(port, before, "nodePort");
            }
        }
    }
    if integer(spec, "healthCheckNodePort").unwrap_or_default() == 0
        && text(spec, "type") == text(old, "type")
    {
        keep(spec, old, "healthCheckNodePort");
    }
}
