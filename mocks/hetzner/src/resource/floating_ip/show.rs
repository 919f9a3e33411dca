//! A floating IP as the API shows it.

use serde_json::{Value, json};

use crate::call::show::moment;
use crate::project::Project;
use crate::resource::floating_ip::FloatingIp;
use crate::resource::{offer, public_ip};

pub(super) fn show(project: &Project, ip: &FloatingIp) -> Value {
    json!({
        "id": ip.head.id,
        "name": ip.head.name,
        "description": ip.description,
        "labels": ip.head.labels,
        "created": moment(ip.head.created),
        "type": public_ip::version(ip.v4),
        "ip": public_ip::text(ip.ip),
        "dns_ptr": public_ip::show_names(ip.ip, &ip.dns_ptr),
        "server": ip.server,
        "home_location": project.catalogue.location(&ip.location).map(offer::show_location),
        "blocked": false,
        "protection": {"delete": ip.head.kept},
    })
}
