//! A primary IP as the API shows it, by itself and in its server.

use serde_json::{Value, json};

use crate::call::show::moment;
use crate::profile::Profile;
use crate::project::Project;
use crate::resource::primary_ip::PrimaryIp;
use crate::resource::{offer, public_ip};

pub(super) fn show(project: &Project, ip: &PrimaryIp) -> Value {
    let mut shown = json!({
        "id": ip.head.id,
        "name": ip.head.name,
        "labels": ip.head.labels,
        "created": moment(ip.head.created),
        "type": public_ip::version(ip.v4),
        "ip": public_ip::text(ip.ip),
        "dns_ptr": public_ip::show_names(ip.ip, &ip.dns_ptr),
        "assignee_id": ip.server,
        "assignee_type": assignee_type(project.profile, ip),
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

/// What kind of thing has it. Until August 2026 that was a server even if none had it.
fn assignee_type(profile: Profile, ip: &PrimaryIp) -> &'static str {
    if ip.server.is_none() && profile >= Profile::Current { "unassigned" } else { "server" }
}

/// As a server shows its own.
pub(crate) fn show_in_server(ip: &PrimaryIp) -> Value {
    let names = match public_ip::name(ip.ip, &ip.dns_ptr) {
        Some(name) => Value::String(name),
        None => Value::Array(public_ip::show_names(ip.ip, &ip.dns_ptr)),
    };
    json!({"id": ip.head.id, "ip": public_ip::text(ip.ip), "blocked": false, "dns_ptr": names})
}
