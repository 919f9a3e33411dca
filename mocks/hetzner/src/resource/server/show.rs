//! A server as the API shows it.

use serde_json::{Value, json};

use crate::call::show::moment;
use crate::project::Project;
use crate::resource::network::Membership;
use crate::resource::server::Server;
use crate::resource::{Kind, image, offer, placement_group, primary_ip};

pub(crate) fn show(project: &Project, server: &Server) -> Value {
    let id = server.head.id;
    let server_type = project.catalogue.server_type(&server.server_type);
    let location = project.catalogue.location(&server.location);
    let mut shown = json!({
        "id": id,
        "name": server.head.name,
        "labels": server.head.labels,
        "created": moment(server.head.created),
        "status": server.status.word(),
        "server_type": server_type.map(|it| offer::show_server_type(project, it)),
        "image": server.image.and_then(|image| project.images.find(image)).map(|it| image::show(project, it)),
        "iso": server.iso.as_deref().and_then(|name| project.catalogue.iso(name)).map(offer::show_iso),
        "public_net": public_net(project, server),
        "private_net": server.networks.iter().filter(|it| !it.pending).map(private_net).collect::<Vec<_>>(),
        "placement_group": server.placement_group.and_then(|group| project.placement_groups.find(group)).map(placement_group::show),
        "volumes": ids(project.volumes.all().filter(|volume| volume.server == Some(id)).map(|volume| volume.head.id)),
        "load_balancers": ids(project.load_balancers.all().filter(|it| it.targets_server(id)).map(|it| it.head.id)),
        "protection": {"delete": server.head.kept, "rebuild": server.rebuild_kept},
        "locked": project.actions.hold(Kind::Server, id),
        "rescue_enabled": server.rescue_until.is_some(),
        "backup_window": server.backup_window,
        "primary_disk_size": server.disk_gb,
        "included_traffic": server_type.map_or(0, |it| it.price(&server.location).map_or(0, |price| price.included_traffic)),
        "ingoing_traffic": 0,
        "outgoing_traffic": 0,
    });
    if let (Some(fields), Some(location)) = (shown.as_object_mut(), location) {
        offer::add_place(project, fields, location);
    }
    shown
}

fn ids(all: impl Iterator<Item = u64>) -> Vec<u64> {
    all.collect()
}

fn public_net(project: &Project, server: &Server) -> Value {
    let id = server.head.id;
    let address =
        |ip: Option<u64>| ip.and_then(|ip| project.primary_ips.find(ip)).map(primary_ip::show_in_server);
    let firewalls = project
        .firewalls
        .all()
        .filter_map(|firewall| Some(json!({"id": firewall.head.id, "status": firewall.status(server)?})));
    json!({
        "ipv4": address(server.ipv4),
        "ipv6": address(server.ipv6),
        "floating_ips": ids(project.floating_ips.all().filter(|ip| ip.server == Some(id)).map(|ip| ip.head.id)),
        "firewalls": firewalls.collect::<Vec<_>>(),
    })
}

fn private_net(membership: &Membership) -> Value {
    json!({
        "network": membership.network,
        "ip": membership.ip,
        "alias_ips": membership.alias_ips,
        "mac_address": membership.mac,
    })
}
