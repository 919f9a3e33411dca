//! The names that a server's public addresses are known by in the reverse.

use crate::action::Undertaking;
use crate::call::{Answered, Call, Wrong};
use crate::project::Project;
use crate::resource::public_ip::Renaming;
use crate::resource::{Kind, primary_ip};

/// Names are kept elsewhere: clients give them while they attach the server to something.
pub(super) fn change(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    let server = project.servers.get(id)?;
    let asked = call.asked(Renaming::read)?;
    let own = [server.ipv4, server.ipv6].into_iter().flatten().filter_map(|ip| project.primary_ips.find(ip));
    let mut renamed = Err(Wrong::invalid("ip", "The server has no public address."));
    for ip in own {
        let fits = Renaming::fits(asked.clone(), ip.ip, &ip.dns_ptr);
        renamed = renamed.or(fits.map(|renaming| primary_ip::Effect::Renamed { id: ip.head.id, renaming }));
    }
    let undertaking = Undertaking::on("change_dns_ptr", Kind::Server, id).shared().effect(renamed?);
    Ok(project.undertake(call.now, undertaking))
}
