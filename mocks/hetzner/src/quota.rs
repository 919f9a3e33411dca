//! How much a project may have.

use mock_clock::Time;

use crate::catalogue::ServerType;
use crate::project::Project;
use crate::wrong::Wrong;

/// Refuses a server more, if there may be none.
pub(crate) fn servers(project: &Project, _now: Time, server_type: &ServerType) -> Result<(), Wrong> {
    let limits = &project.catalogue.limits;
    let there = project.servers.len() as u64;
    if there >= limits.servers {
        return Err(Wrong::limit_exceeded("server_limit", "server limit exceeded"));
    }
    let used = project.servers.all().filter_map(|server| project.catalogue.server_type(&server.server_type));
    let cores: u64 = used.map(|it| it.cores).sum();
    if cores + server_type.cores > limits.cores {
        return Err(Wrong::limit_exceeded("core_limit", "core limit exceeded"));
    }
    Ok(())
}

/// Refuses so many primary IPs more, if there may not be as many.
pub(crate) fn primary_ips(project: &Project, _now: Time, more: u64) -> Result<(), Wrong> {
    let there = project.primary_ips.len() as u64;
    if there + more > project.catalogue.limits.primary_ips {
        return Err(Wrong::limit_exceeded("primary_ip_limit", "Primary IP limit exceeded"));
    }
    Ok(())
}
