//! A network as the API shows it.

use serde_json::{Value, json};

use crate::address::Subnet;
use crate::call::show::moment;
use crate::call::word;
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::network::draft::KINDS;
use crate::resource::network::{Network, Route, members};

pub(super) fn show(project: &Project, network: &Network) -> Value {
    let attached = |wanted: Kind| -> Vec<u64> {
        let all = members(project, network.head.id).filter(|(_, _, place)| !place.pending);
        all.filter(|(kind, _, _)| *kind == wanted).map(|(_, id, _)| id).collect()
    };
    json!({
        "id": network.head.id,
        "name": network.head.name,
        "labels": network.head.labels,
        "created": moment(network.head.created),
        "ip_range": network.plan.range(),
        "subnets": network.plan.subnets().iter().map(|it| show_subnet(network, it)).collect::<Vec<_>>(),
        "routes": network.routes.iter().map(show_route).collect::<Vec<_>>(),
        "servers": attached(Kind::Server),
        "load_balancers": attached(Kind::LoadBalancer),
        "protection": {"delete": network.head.kept},
        "expose_routes_to_vswitch": network.exposes_routes,
    })
}

fn show_subnet(network: &Network, subnet: &Subnet) -> Value {
    json!({
        "type": word(&KINDS, subnet.kind),
        "ip_range": subnet.range,
        "network_zone": subnet.zone,
        "gateway": network.plan.gateway_of(subnet),
        "vswitch_id": subnet.vswitch,
    })
}

fn show_route(route: &Route) -> Value {
    json!({"destination": route.destination, "gateway": route.gateway})
}
