//! Whether a state can be: everything that it points to is there, in the state or in the catalogue.
//!
//! A state comes from outside when it is loaded. One that points to nothing would be found out much later, by an
//! answer that makes no sense. How things came to be as they are is not asked.

use std::collections::BTreeSet;

use crate::project::{Project, on_shelf};
use crate::resource::Kind;
use crate::resource::primary_ip::Assignee;
use crate::resource::shelf::{Resource, Shelf};

/// Numbers that are given out one after the other begin below this, so that they last.
const FIRST_BEYOND: u64 = 1 << 62;

type Sound = Result<(), String>;

/// Refuses a state that points to what is not there. The first such thing is told.
pub(crate) fn check(project: &Project) -> Sound {
    numbers(project)?;
    servers(project)?;
    addresses(project)?;
    balancers(project)?;
    others(project)
}

/// Refuses with the sentence if it is not so.
fn so(is: bool, sentence: impl FnOnce() -> String) -> Sound {
    if is { Ok(()) } else { Err(sentence()) }
}

/// Everything lies at its own number, and there are numbers left.
fn numbers(project: &Project) -> Sound {
    for (_, kind) in Kind::PATHS {
        on_shelf!(project, kind, it => shelf(it), Ok(()))?;
    }
    let last = project.actions.all().map(|action| action.id).max();
    so(last.is_none_or(|last| last < FIRST_BEYOND), || "the actions have no numbers left".to_owned())?;
    so(project.timeline.next_number() < FIRST_BEYOND, || "the timeline has no numbers left".to_owned())
}

fn shelf<T: Resource>(shelf: &Shelf<T>) -> Sound {
    so(shelf.is_in_order() && shelf.next_id() < FIRST_BEYOND, || {
        format!("the ids of {} and where they lie differ", T::KIND)
    })
}

fn servers(project: &Project) -> Sound {
    let catalogue = &project.catalogue;
    for server in project.servers.all() {
        let (id, name) = (server.head.id, &server.head.name);
        let has = |what: &str, which: String, is: bool| {
            so(is, || format!("server {name} has {what} {which}, which is not there"))
        };
        for server_type in [Some(&server.server_type), server.becoming.as_ref()].into_iter().flatten() {
            let known = catalogue.server_type(server_type).is_some();
            so(known, || format!("server {name} has type {server_type}, which the catalogue has not"))?;
        }
        location(project, &format!("server {name}"), &server.location)?;
        for (ip, v4) in [(server.ipv4, true), (server.ipv6, false)] {
            let Some(ip) = ip else { continue };
            has("primary IP", ip.to_string(), is_of(project, ip, v4, (Kind::Server, id)))?;
        }
        for it in &server.networks {
            has("network", it.network.to_string(), project.networks.find(it.network).is_some())?;
        }
        if let Some(image) = server.image {
            has("image", image.to_string(), project.images.find(image).is_some())?;
        }
        if let Some(group) = server.placement_group {
            let its = project.placement_groups.find(group).is_some_and(|group| group.members.contains(&id));
            has("placement group", group.to_string(), its)?;
        }
    }
    Ok(())
}

/// Whether a primary IP is there, of that version, and knows who has it.
fn is_of(project: &Project, ip: u64, v4: bool, assignee: (Kind, u64)) -> bool {
    let found = project.primary_ips.find(ip).filter(|ip| ip.v4 == v4);
    found.and_then(|ip| ip.assignee).is_some_and(|it| it.thing() == assignee)
}

/// The primary IPs of somebody who can have some.
fn primary_ips(project: &Project, assignee: Assignee) -> [Option<u64>; 2] {
    let found = match assignee {
        Assignee::Server(id) => project.servers.find(id).map(|it| [it.ipv4, it.ipv6]),
        Assignee::LoadBalancer { id, .. } => {
            project.load_balancers.find(id).map(|it| [Some(it.ipv4), Some(it.ipv6)])
        }
    };
    found.unwrap_or_default()
}

fn location(project: &Project, who: &str, location: &str) -> Sound {
    let known = project.catalogue.location(location).is_some();
    so(known, || format!("{who} is in {location}, which the catalogue has not"))
}

/// A server that something says it belongs to.
fn server(project: &Project, who: &str, id: u64) -> Sound {
    so(project.servers.find(id).is_some(), || format!("{who} is of server {id}, which is not there"))
}

fn addresses(project: &Project) -> Sound {
    if let Some(location) = project.pools.unsound() {
        return Err(format!("location {location} could give out an address twice"));
    }
    let mut given = BTreeSet::new();
    for ip in project.primary_ips.all() {
        let who = format!("primary IP {}", ip.head.id);
        location(project, &who, &ip.location)?;
        if let Some(assignee) = ip.assignee {
            let (kind, id) = assignee.thing();
            let has = primary_ips(project, assignee).contains(&Some(ip.head.id));
            so(has, || format!("{who} is of {kind} {id}, which has it not"))?;
        }
        so(given.insert(ip.ip), || format!("{who} has an address that is given already"))?;
    }
    for ip in project.floating_ips.all() {
        let who = format!("floating IP {}", ip.head.name);
        location(project, &who, &ip.location)?;
        ip.server.map_or(Ok(()), |id| server(project, &who, id))?;
        so(given.insert(ip.ip), || format!("{who} has an address that is given already"))?;
    }
    Ok(())
}

fn balancers(project: &Project) -> Sound {
    for balancer in project.load_balancers.all() {
        let name = &balancer.head.name;
        let who = format!("load balancer {name}");
        let known = project.catalogue.load_balancer_type(&balancer.balancer_type).is_some();
        so(known, || format!("{who} has type {}, which the catalogue has not", balancer.balancer_type))?;
        location(project, &who, &balancer.location)?;
        for (ip, v4) in [(balancer.ipv4, true), (balancer.ipv6, false)] {
            let its = is_of(project, ip, v4, (Kind::LoadBalancer, balancer.head.id));
            so(its, || format!("{who} has primary IP {ip}, which is not there"))?;
        }
        for it in &balancer.networks {
            let there = project.networks.find(it.network).is_some();
            so(there, || format!("{who} has network {}, which is not there", it.network))?;
        }
        balancer.servers().try_for_each(|id| server(project, &who, id))?;
        for id in balancer.certificates() {
            let there = project.certificates.find(id).is_some();
            so(there, || format!("{who} has certificate {id}, which is not there"))?;
        }
    }
    Ok(())
}

fn others(project: &Project) -> Sound {
    for volume in project.volumes.all() {
        let who = format!("volume {}", volume.head.name);
        location(project, &who, &volume.location)?;
        volume.server.map_or(Ok(()), |id| server(project, &who, id))?;
    }
    for firewall in project.firewalls.all() {
        let who = format!("firewall {}", firewall.head.name);
        firewall.servers.iter().try_for_each(|id| server(project, &who, *id))?;
    }
    for group in project.placement_groups.all() {
        let who = format!("placement group {}", group.head.name);
        group.members.iter().try_for_each(|id| server(project, &who, *id))?;
    }
    for image in project.images.all() {
        let who = format!("backup {}", image.head.id);
        image.bound_to.map_or(Ok(()), |id| server(project, &who, id))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use crate::catalogue::Catalogue;
    use crate::engine::Engine;
    use crate::engine::Snapshot;
    use crate::rig::Rig;

    #[test]
    fn a_state_that_points_to_nothing_is_refused_with_a_sentence() {
        let mut rig = Rig::new();
        let network = rig.post("/networks", &json!({"name": "net", "ip_range": "10.0.0.0/16"}));
        let subnet = json!({"type": "cloud", "network_zone": "eu-central"});
        let network = &network["network"]["id"];
        rig.post(&format!("/networks/{network}/actions/add_subnet"), &subnet);
        let group = rig.post("/placement_groups", &json!({"name": "group", "type": "spread"}));
        rig.pass(60);
        rig.post(
            "/servers",
            &json!({"name": "a", "server_type": "cx23", "image": "debian-12", "location": "fsn1",
                "networks": [network], "placement_group": group["placement_group"]["id"]}),
        );
        rig.pass(600);
        let balancer = json!({"name": "lb", "load_balancer_type": "lb11", "location": "fsn1",
            "targets": [{"type": "server", "server": {"id": 100_000_001}}]});
        rig.post("/load_balancers", &balancer);
        rig.post("/volumes", &json!({"name": "vol", "size": 10, "server": 100_000_001}));
        rig.post("/firewalls", &json!({"name": "wall"}));
        rig.post("/primary_ips", &json!({"name": "ip", "type": "ipv4", "location": "fsn1"}));
        let state: Value = serde_json::from_str(&rig.engine.snapshot(rig.now).to_string()).unwrap();
        let server = "/servers/things/100000001";
        let cases = [
            (
                format!("{server}/server_type"),
                json!("cx0"),
                "server a has type cx0, which the catalogue has not",
            ),
            (format!("{server}/location"), json!("moon"), "server a is in moon, which the catalogue has not"),
            (format!("{server}/ipv4"), json!(1), "server a has primary IP 1, which is not there"),
            (format!("{server}/networks/0/network"), json!(1), "server a has network 1, which is not there"),
            (format!("{server}/image"), json!(1), "server a has image 1, which is not there"),
            (
                format!("{server}/placement_group"),
                json!(1),
                "server a has placement group 1, which is not there",
            ),
            (format!("{server}/head/id"), json!(5), "the ids of server and where they lie differ"),
            ("/servers/next_id".into(), json!(u64::MAX), "the ids of server and where they lie differ"),
            ("/servers/next_id".into(), json!(1), "the ids of server and where they lie differ"),
            ("/timeline/next".into(), json!(u64::MAX), "the timeline has no numbers left"),
            (
                "/volumes/things/102000001/server".into(),
                json!(9),
                "volume vol is of server 9, which is not there",
            ),
            ("/firewalls/things/2000001/servers".into(), json!([9]), "firewall wall is of server 9"),
            (
                "/placement_groups/things/1000001/members".into(),
                json!([9, 100_000_001]),
                "placement group group is of",
            ),
            (
                "/load_balancers/things/4000001/balancer_type".into(),
                json!("lb0"),
                "load balancer lb has type lb0",
            ),
            (
                "/primary_ips/things/80000003/assignee".into(),
                json!(null),
                "load balancer lb has primary IP 80000003",
            ),
            (
                "/load_balancers/things/4000001/ipv6".into(),
                json!(1),
                "primary IP 80000004 is of load_balancer 4000001",
            ),
            ("/primary_ips/things/80000001/v4".into(), json!(false), "server a has primary IP 80000001"),
            (
                "/primary_ips/things/80000001/assignee".into(),
                json!({"server": 9}),
                "server a has primary IP 80000001",
            ),
            (
                "/primary_ips/things/80000005/assignee".into(),
                json!({"load_balancer": {"id": 4_000_001, "included": true}}),
                "primary IP 80000005 is of load_balancer 4000001, which has it not",
            ),
        ];
        for (place, value, why) in cases {
            let mut forged = state.clone();
            *forged.pointer_mut(&format!("/project{place}")).unwrap() = value;
            let snapshot = Snapshot::parse(&forged.to_string()).unwrap();
            let error = Engine::resume(snapshot, Arc::new(Catalogue::builtin()), rig.now).unwrap_err();
            assert!(error.contains(why), "{place}: {error}");
        }
    }
}
