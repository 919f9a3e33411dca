//! How much a project may have.

use std::collections::BTreeMap;

use mock_clock::Time;

use crate::call::Wrong;
use crate::catalogue::ServerType;
use crate::project::Project;
use crate::resource::image::ImageKind;
use crate::resource::server::Server;
use crate::trouble::Limited;

/// Refuses a server more, if there may be none.
pub(crate) fn servers(project: &mut Project, now: Time, server_type: &ServerType) -> Result<(), Wrong> {
    let there = project.servers.len() as u64;
    if there >= project.catalogue.limits.servers || project.less_allowed(now, Limited::Servers, there + 1) {
        return Err(Wrong::limit_exceeded("server_limit", "server limit exceeded"));
    }
    cores(project, now, None, server_type)
}

/// Refuses another type for a server, if it takes too many cores.
pub(crate) fn other_type(
    project: &mut Project,
    now: Time,
    server: u64,
    server_type: &ServerType,
) -> Result<(), Wrong> {
    cores(project, now, Some(server), server_type)
}

/// Refuses a type beside the servers that there are, all but one of them. One that changes its type needs room for
/// either, as it may keep what it has.
fn cores(
    project: &mut Project,
    now: Time,
    except: Option<u64>,
    server_type: &ServerType,
) -> Result<(), Wrong> {
    // There may be ten thousand servers, of few types.
    let cores: BTreeMap<&str, u64> =
        project.catalogue.server_types.iter().map(|it| (it.name.as_str(), it.cores)).collect();
    let of = |name: &str| cores.get(name).copied().unwrap_or(0);
    let taken = |server: &Server| of(&server.server_type).max(server.becoming.as_deref().map_or(0, of));
    let others = project.servers.all().filter(|server| Some(server.head.id) != except);
    let used: u64 = others.map(taken).sum();
    let wanted = used + server_type.cores;
    if wanted > project.catalogue.limits.cores || project.less_allowed(now, Limited::Cores, wanted) {
        return Err(Wrong::limit_exceeded("core_limit", "core limit exceeded"));
    }
    Ok(())
}

/// Refuses a snapshot more, if there may be none.
pub(crate) fn snapshots(project: &Project) -> Result<(), Wrong> {
    let there = project.images.all().filter(|image| image.kind == ImageKind::Snapshot).count();
    one_more(there, project.catalogue.limits.snapshots, "snapshot_limit", "snapshot limit exceeded")
}

/// Refuses a floating IP more, if there may be none.
pub(crate) fn floating_ips(project: &Project) -> Result<(), Wrong> {
    let (there, most) = (project.floating_ips.len(), project.catalogue.limits.floating_ips);
    one_more(there, most, "floating_ip_limit", "floating IP limit exceeded")
}

/// Refuses a volume more, if there may be none.
pub(crate) fn volumes(project: &Project) -> Result<(), Wrong> {
    let (there, most) = (project.volumes.len(), project.catalogue.limits.volumes);
    one_more(there, most, "volume_limit", "volume limit exceeded")
}

/// Refuses a network more, if there may be none.
pub(crate) fn networks(project: &Project) -> Result<(), Wrong> {
    let (there, most) = (project.networks.len(), project.catalogue.limits.networks);
    one_more(there, most, "network_limit", "network limit exceeded")
}

/// Refuses a load balancer more, if there may be none.
pub(crate) fn load_balancers(project: &Project) -> Result<(), Wrong> {
    let (there, most) = (project.load_balancers.len(), project.catalogue.limits.load_balancers);
    one_more(there, most, "load_balancer_limit", "load balancer limit exceeded")
}

fn one_more(there: usize, most: u64, limit: &str, message: &str) -> Result<(), Wrong> {
    if there as u64 >= most { Err(Wrong::limit_exceeded(limit, message)) } else { Ok(()) }
}

/// Refuses so many primary IPs more, if there may not be as many. Those that came with a load balancer do not count.
pub(crate) fn primary_ips(project: &mut Project, now: Time, more: u64) -> Result<(), Wrong> {
    let there = project.primary_ips.all().filter(|ip| !ip.is_included()).count() as u64;
    let wanted = there + more;
    if wanted > project.catalogue.limits.primary_ips || project.less_allowed(now, Limited::PrimaryIps, wanted)
    {
        return Err(Wrong::limit_exceeded("primary_ip_limit", "Primary IP limit exceeded"));
    }
    Ok(())
}
