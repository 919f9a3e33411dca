//! Rows of services and of what leads to them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::view::{Cells, View, first_of, or_none};

pub(super) fn printer(shelf: &str) -> Option<fn(View<'_>) -> Cells> {
    Some(match shelf {
        "services" => service,
        "endpoints" => endpoints,
        "endpointslices.discovery.k8s.io" => endpoint_slice,
        "ingresses.networking.k8s.io" => ingress,
        "ingressclasses.networking.k8s.io" => ingress_class,
        "networkpolicies.networking.k8s.io" => {
            |view| vec![view.name(), or_none(view.selector("/spec/podSelector")).into(), view.age()]
        }
        "servicecidrs.networking.k8s.io" => {
            |view| vec![view.name(), view.joined("/spec/cidrs").into(), view.age()]
        }
        "ipaddresses.networking.k8s.io" => ip_address,
        _ => return None,
    })
}

fn service(view: View<'_>) -> Cells {
    let port = |port: &Value| {
        let port = view.part(port);
        let (number, protocol) = (port.number("/port"), port.text("/protocol"));
        match port.number("/nodePort") {
            0 => format!("{number}/{protocol}"),
            node => format!("{number}:{node}/{protocol}"),
        }
    };
    let ports = view.list("/spec/ports").iter().map(port).collect::<Vec<_>>().join(",");
    vec![
        view.name(),
        view.text("/spec/type").into(),
        view.plain("/spec/clusterIPs/0", "<none>").into(),
        external(view).into(),
        or_none(ports).into(),
        view.age(),
        view.labels("/spec/selector").into(),
    ]
}

fn external(view: View<'_>) -> String {
    let given = view.joined("/spec/externalIPs");
    match view.text("/spec/type") {
        "ClusterIP" | "NodePort" => or_none(given),
        "LoadBalancer" => {
            let all = [balancer(view), given].into_iter().filter(|text| !text.is_empty());
            match all.collect::<Vec<_>>().join(",") {
                none if none.is_empty() => "<pending>".to_owned(),
                all => all,
            }
        }
        "ExternalName" => view.text("/spec/externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

/// The addresses of a load balancer.
fn balancer(view: View<'_>) -> String {
    let address = |ingress: &Value| {
        let ingress = view.part(ingress);
        Some(ingress.or("/ip", ingress.text("/hostname")).to_owned()).filter(|text| !text.is_empty())
    };
    let all: BTreeSet<String> =
        view.list("/status/loadBalancer/ingress").iter().filter_map(address).collect();
    all.into_iter().collect::<Vec<_>>().join(",")
}

fn endpoints(view: View<'_>) -> Cells {
    let mut all = Vec::new();
    for subset in view.list("/subsets") {
        let subset = view.part(subset);
        let addresses: Vec<&str> =
            subset.list("/addresses").iter().filter_map(|address| address["ip"].as_str()).collect();
        if subset.list("/ports").is_empty() {
            all.extend(addresses.iter().map(|&ip| ip.to_owned()));
        }
        for port in subset.list("/ports") {
            let join = |ip: &&str| {
                if ip.contains(':') {
                    format!("[{ip}]:{}", port["port"])
                } else {
                    format!("{ip}:{}", port["port"])
                }
            };
            all.extend(addresses.iter().map(join));
        }
    }
    let text = if view.list("/subsets").is_empty() { "<none>".to_owned() } else { first_of(&all, 3) };
    vec![view.name(), text.into(), view.age()]
}

fn endpoint_slice(view: View<'_>) -> Cells {
    let port = |port: &Value| {
        let port = view.part(port);
        match port.at("/port") {
            Some(number) => number.to_string(),
            None => port.plain("/name", "*"),
        }
    };
    let ports: Vec<String> = view.list("/ports").iter().map(port).collect();
    let addresses = view.list("/endpoints").iter().flat_map(|one| view.part(one).list("/addresses"));
    let addresses: Vec<String> = addresses.filter_map(Value::as_str).map(str::to_owned).collect();
    let [ports, addresses] = [ports, addresses].map(|all| match first_of(&all, 3) {
        none if none.is_empty() => "<unset>".to_owned(),
        all => all,
    });
    vec![view.name(), view.text("/addressType").into(), ports.into(), addresses.into(), view.age()]
}

fn ingress(view: View<'_>) -> Cells {
    let rules = view.list("/spec/rules");
    let hosts = rules.iter().map(|rule| rule["host"].as_str().unwrap_or_default());
    // More are announced if any rule follows the third host, and then all rules count.
    let named: Vec<(usize, &str)> = hosts.enumerate().filter(|(_, host)| !host.is_empty()).take(3).collect();
    let list = named.iter().map(|(_, host)| *host).collect::<Vec<_>>().join(",");
    let hosts = match &named[..] {
        [] => "*".to_owned(),
        [_, _, (third, _)] if third + 1 < rules.len() => format!("{list} + {} more...", rules.len() - 3),
        _ => list,
    };
    let ports = if view.list("/spec/tls").is_empty() { "80" } else { "80, 443" };
    vec![
        view.name(),
        view.plain("/spec/ingressClassName", "<none>").into(),
        hosts.into(),
        balancer(view).into(),
        ports.into(),
        view.age(),
    ]
}

fn ingress_class(view: View<'_>) -> Cells {
    let parameters = view.at("/spec/parameters").map(|parameters| {
        let parameters = view.part(parameters);
        let group = parameters.at("/apiGroup").and_then(Value::as_str);
        let group = group.map(|group| format!(".{group}")).unwrap_or_default();
        format!("{}{group}/{}", parameters.text("/kind"), parameters.text("/name"))
    });
    let controller = view.text("/spec/controller");
    vec![view.name(), controller.into(), or_none(parameters.unwrap_or_default()).into(), view.age()]
}

fn ip_address(view: View<'_>) -> Cells {
    let parent = view.at("/spec/parentRef").map(|parent| {
        let parent = view.part(parent);
        let group = parent.text("/group");
        let dot = if group.is_empty() { "" } else { "." };
        let of =
            [parent.text("/namespace"), parent.text("/name")].into_iter().filter(|text| !text.is_empty());
        let path = of.collect::<Vec<_>>().join("/");
        format!("{}{dot}{group}/{path}", parent.text("/resource"))
    });
    vec![view.name(), or_none(parent.unwrap_or_default()).into(), view.age()]
}
