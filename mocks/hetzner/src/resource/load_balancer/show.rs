//! A load balancer as the API shows it, with the health of its targets.

use serde_json::{Map, Value, json};

use crate::call::Selector;
use crate::call::show::moment;
use crate::profile::Profile;
use crate::project::Project;
use crate::resource::load_balancer::service::Service;
use crate::resource::load_balancer::target::{Target, is_beside};
use crate::resource::load_balancer::{LoadBalancer, address};
use crate::resource::server::{Server, Status};
use crate::resource::{offer, primary_ip};

pub(super) fn show(project: &Project, balancer: &LoadBalancer) -> Value {
    let balancer_type = project.catalogue.load_balancer_type(&balancer.balancer_type);
    let price = balancer_type.and_then(|it| it.price(&balancer.location));
    let networks = balancer.networks.iter().filter(|it| !it.pending);
    let networks: Vec<Value> = networks.map(|it| json!({"network": it.network, "ip": it.ip})).collect();
    json!({
        "id": balancer.head.id,
        "name": balancer.head.name,
        "labels": balancer.head.labels,
        "created": moment(balancer.head.created),
        "load_balancer_type": balancer_type.map(|it| offer::show_load_balancer_type(project, it)),
        "location": project.catalogue.location(&balancer.location).map(offer::show_location),
        "algorithm": {"type": balancer.algorithm.word()},
        "services": balancer.services.iter().map(Service::show).collect::<Vec<_>>(),
        "targets": balancer.targets.iter().map(|it| target(project, balancer, it)).collect::<Vec<_>>(),
        "public_net": public_net(project, balancer),
        "private_net": networks,
        "protection": {"delete": balancer.head.kept},
        "included_traffic": price.map_or(0, |it| it.included_traffic),
        "ingoing_traffic": 0,
        "outgoing_traffic": 0,
    })
}

fn public_net(project: &Project, balancer: &LoadBalancer) -> Value {
    let found = |id: u64| project.primary_ips.find(id);
    let show = |id: u64| found(id).map(|ip| primary_ip::show_in_balancer(project.profile, ip, address(ip)));
    json!({"enabled": balancer.public, "ipv4": show(balancer.ipv4), "ipv6": show(balancer.ipv6)})
}

fn target(project: &Project, balancer: &LoadBalancer, target: &Target) -> Value {
    match target {
        Target::Server { id, private } => server(project, balancer, project.servers.find(*id), *id, *private),
        Target::LabelSelector { selector, private } => json!({
            "type": "label_selector",
            "label_selector": {"selector": selector},
            "use_private_ip": private,
            "targets": selected(project, balancer, selector, *private),
        }),
        Target::Ip(ip) => json!({
            "type": "ip",
            "ip": {"ip": ip},
            "use_private_ip": false,
            "health_status": health(project, balancer, None),
        }),
    }
}

/// The servers that have the labels now. Those that cannot be reached in the way asked for are none.
fn selected(project: &Project, balancer: &LoadBalancer, selector: &str, private: bool) -> Vec<Value> {
    let Ok(selector) = Selector::parse(selector) else { return Vec::new() };
    let all = project.servers.all().filter(|server| selector.matches(&server.head.labels));
    let reached = |it: &&Server| if private { is_beside(it, balancer.reach()) } else { it.ipv4.is_some() };
    all.filter(reached).map(|it| server(project, balancer, Some(it), it.head.id, private)).collect()
}

fn server(
    project: &Project,
    balancer: &LoadBalancer,
    found: Option<&Server>,
    id: u64,
    private: bool,
) -> Value {
    let well = |server: &Server| {
        let reached = if private { is_beside(server, balancer.reach()) } else { server.ipv4.is_some() };
        reached && server.status == Status::Running
    };
    json!({
        "type": "server",
        "server": {"id": id},
        "use_private_ip": private,
        "health_status": health(project, balancer, Some(found.is_some_and(well))),
    })
}

/// What the checks of each service say. They know nothing of what is outside of the cloud.
fn health(project: &Project, balancer: &LoadBalancer, well: Option<bool>) -> Vec<Value> {
    let word = match well {
        None => "unknown",
        Some(true) => "healthy",
        Some(false) => "unhealthy",
    };
    let one = |service: &Service| {
        let mut status = Map::new();
        status.insert("listen_port".to_owned(), service.listen_port.into());
        status.insert("status".to_owned(), word.into());
        if well == Some(false) && project.profile >= Profile::Current {
            status.insert("detail".to_owned(), "layer4_timeout".into());
        }
        Value::Object(status)
    };
    balancer.services.iter().map(one).collect()
}
