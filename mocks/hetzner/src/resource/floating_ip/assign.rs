//! Leading floating IPs to servers, and naming their addresses.

use mock_clock::Time;

use crate::action::{Begun, Undertaking};
use crate::call::{Answered, Body, Call, Wrong};
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::floating_ip::Effect;
use crate::resource::public_ip::Renaming;

/// It can be moved from one server to another without being unassigned between.
pub(super) fn assign(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    let ip = project.floating_ips.get(id)?;
    let server = call.asked(|body| body.required("server", Body::id))?;
    project.servers.get(server)?;
    project.unlocked(Kind::FloatingIp, id)?;
    if ip.server == Some(server) {
        return Err(Wrong::new("floating_ip_assigned", "the floating IP is already assigned to the server"));
    }
    let begun = begin(project, call.now, id, server);
    Ok(project.answer(begun))
}

/// Leads it to a server that is there.
pub(super) fn begin(project: &mut Project, now: Time, id: u64, server: u64) -> Begun {
    let before = project.floating_ips.find_mut(id).and_then(|ip| ip.server.replace(server));
    let undertaking = Undertaking::on("assign_floating_ip", Kind::FloatingIp, id)
        .with(Kind::Server, server)
        .effect(Effect::Assigned { id, server, before });
    project.begin(now, undertaking)
}

pub(super) fn unassign(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    let ip = project.floating_ips.get(id)?;
    call.no_body()?;
    project.unlocked(Kind::FloatingIp, id)?;
    let Some(server) = ip.server else {
        return Err(Wrong::new("invalid_input", "floating IP is not assigned"));
    };
    let undertaking = Undertaking::on("unassign_floating_ip", Kind::FloatingIp, id)
        .with(Kind::Server, server)
        .effect(Effect::Unassigned { id });
    Ok(project.undertake(call.now, undertaking))
}

/// Names are kept elsewhere: clients give them while they attach the thing to something.
pub(super) fn change_dns_ptr(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    let ip = project.floating_ips.get(id)?;
    let asked = call.asked(Renaming::read)?;
    let renaming = Renaming::fits(asked, ip.ip, &ip.dns_ptr)?;
    let undertaking = Undertaking::on("change_dns_ptr", Kind::FloatingIp, id)
        .shared()
        .effect(Effect::Renamed { id, renaming });
    Ok(project.undertake(call.now, undertaking))
}
