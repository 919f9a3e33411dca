//! A primary IP as the API shows it, by itself and in what has it.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::call::show::moment;
use crate::profile::Profile;
use crate::project::Project;
use crate::resource::primary_ip::{Assignee, PrimaryIp};
use crate::resource::{offer, public_ip};

pub(super) fn show(project: &Project, ip: &PrimaryIp) -> Value {
    let (assignee_type, assignee_id) = assignee(project.profile, ip);
    let mut shown = json!({
        "id": ip.head.id,
        "name": ip.head.name,
        "labels": ip.head.labels,
        "created": moment(ip.head.created),
        "type": public_ip::version(ip.v4),
        "ip": public_ip::text(ip.ip),
        "dns_ptr": public_ip::show_names(ip.ip, &ip.dns_ptr),
        "assignee_id": assignee_id,
        "assignee_type": assignee_type,
        "auto_delete": ip.auto_delete,
        "blocked": false,
        "protection": {"delete": ip.head.kept},
    });
    if let (Some(fields), Some(location)) = (shown.as_object_mut(), project.catalogue.location(&ip.location))
    {
        offer::add_place(project, fields, location);
    }
    shown
}

/// What kind of thing has it, and which. Until August 2026 the kind was a server even if none had it.
fn assignee(profile: Profile, ip: &PrimaryIp) -> (&'static str, Option<u64>) {
    match ip.assignee.map(Assignee::thing) {
        Some((kind, id)) => (kind.word(), Some(id)),
        None => (if profile >= Profile::Current { "unassigned" } else { "server" }, None),
    }
}

/// As a server shows its own.
pub(crate) fn show_in_server(ip: &PrimaryIp) -> Value {
    let names = match public_ip::name(ip.ip, &ip.dns_ptr) {
        Some(name) => Value::String(name),
        None => Value::Array(public_ip::show_names(ip.ip, &ip.dns_ptr)),
    };
    json!({"id": ip.head.id, "ip": public_ip::text(ip.ip), "blocked": false, "dns_ptr": names})
}

/// As a load balancer shows its own, which answers on one address.
pub(crate) fn show_in_balancer(profile: Profile, ip: &PrimaryIp, address: IpAddr) -> Value {
    let name = public_ip::name(address, &ip.dns_ptr).or_else(|| ip.dns_ptr.get(&address).cloned());
    if profile < Profile::Current {
        return json!({"ip": address, "dns_ptr": name});
    }
    json!({"id": ip.head.id, "ip": address, "blocked": false, "dns_ptr": name})
}
