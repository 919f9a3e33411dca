//! The invariants of the state.

use std::collections::{BTreeMap, BTreeSet};

use crate::project::Project;
use crate::resource::Kind;
use crate::resource::primary_ip::Assignee;
use crate::resource::shelf::{Resource, Shelf};

/// Who remembers all ids there ever were.
#[derive(Default)]
pub(super) struct Witness {
    seen: BTreeMap<Kind, BTreeSet<u64>>,
    there: BTreeMap<Kind, BTreeSet<u64>>,
}

impl Witness {
    pub(super) fn look(&mut self, project: &Project) {
        self.shelf(&project.servers);
        self.shelf(&project.networks);
        self.shelf(&project.volumes);
        self.shelf(&project.firewalls);
        self.shelf(&project.placement_groups);
        self.shelf(&project.primary_ips);
        self.shelf(&project.floating_ips);
        self.shelf(&project.load_balancers);
        self.shelf(&project.images);
        relations(project);
        addresses(project);
        books(project);
    }

    /// An id that was gone does not come back, and no name is there twice.
    fn shelf<T: Resource>(&mut self, shelf: &Shelf<T>) {
        let now: BTreeSet<u64> = shelf.all().map(|thing| thing.head().id).collect();
        let seen = self.seen.entry(T::KIND).or_default();
        let before = self.there.insert(T::KIND, now.clone()).unwrap_or_default();
        for id in now.difference(&before) {
            assert!(seen.insert(*id), "{} {id} came back", T::KIND);
        }
        if T::KIND != Kind::Image {
            let mut names = BTreeSet::new();
            for name in shelf.all().map(|thing| &thing.head().name).filter(|name| !name.is_empty()) {
                assert!(names.insert(name), "two of {} are called {name}", T::KIND);
            }
        }
    }

    /// Every action has come to its end.
    pub(super) fn nothing_runs(project: &Project) {
        for action in project.actions.all() {
            let finished = action.finished.unwrap_or_else(|| panic!("{action:?} has no end"));
            assert!(finished >= action.started, "{action:?} ended before it began");
        }
        for server in project.servers.all() {
            let status = server.status.word();
            assert!(["running", "off"].contains(&status), "server {} is still {status}", server.head.id);
            assert!(server.networks.iter().all(|it| !it.pending), "{server:?} waits for a network");
        }
        assert!(project.volumes.all().all(|volume| volume.available), "a volume is still being made");
    }
}

/// Nothing points to what is not there, and what is told twice is told the same.
fn relations(project: &Project) {
    for server in project.servers.all() {
        let id = server.head.id;
        for ip in [server.ipv4, server.ipv6].into_iter().flatten() {
            let ip = project
                .primary_ips
                .find(ip)
                .unwrap_or_else(|| panic!("server {id} has an address that is gone"));
            assert_eq!(
                ip.assignee,
                Some(Assignee::Server(id)),
                "primary IP {} does not know its server",
                ip.head.id
            );
        }
        for membership in &server.networks {
            assert!(
                project.networks.find(membership.network).is_some(),
                "server {id} is in a network that is gone"
            );
        }
        if let Some(image) = server.image {
            assert!(project.images.find(image).is_some(), "server {id} was made from an image that is gone");
        }
        if let Some(group) = server.placement_group {
            let group = project.placement_groups.find(group).expect("the group of a server is there");
            assert!(group.members.contains(&id), "group {} does not know server {id}", group.head.id);
        }
    }
    for balancer in project.load_balancers.all() {
        for ip in [balancer.ipv4, balancer.ipv6] {
            let ip = project.primary_ips.find(ip).expect("the address of a balancer is there");
            let is_its = |it| matches!(it, Assignee::LoadBalancer { id, .. } if id == balancer.head.id);
            assert!(ip.assignee.is_some_and(is_its), "{ip:?} does not know its balancer");
        }
    }
    let there = |server: u64| project.servers.find(server).is_some();
    for ip in project.primary_ips.all() {
        let (ipv4, ipv6) = match ip.assignee {
            Some(Assignee::Server(id)) => {
                let server = project.servers.find(id).expect("the server of a primary IP is there");
                (server.ipv4, server.ipv6)
            }
            Some(Assignee::LoadBalancer { id, .. }) => {
                let balancer =
                    project.load_balancers.find(id).expect("the balancer of a primary IP is there");
                (Some(balancer.ipv4), Some(balancer.ipv6))
            }
            None => continue,
        };
        assert_eq!(if ip.v4 { ipv4 } else { ipv6 }, Some(ip.head.id), "{ip:?} is not its assignee's");
    }
    assert!(project.volumes.all().filter_map(|it| it.server).all(there), "a volume is attached to nothing");
    let bound = project.images.all().filter_map(|it| it.bound_to);
    assert!(bound.into_iter().all(there), "a backup is one of nothing");
    assert!(
        project.floating_ips.all().filter_map(|it| it.server).all(there),
        "a floating IP leads to nothing"
    );
    assert!(
        project.firewalls.all().flat_map(|it| it.servers.clone()).all(there),
        "a firewall guards nothing"
    );
    for group in project.placement_groups.all() {
        assert!(group.members.iter().all(|id| there(*id)), "a group holds a server that is gone");
        assert!(group.members.len() <= 10, "a group is too full");
    }
}

/// No address is given twice.
fn addresses(project: &Project) {
    let mut private = BTreeSet::new();
    for server in project.servers.all() {
        for membership in &server.networks {
            for ip in std::iter::once(&membership.ip).chain(&membership.alias_ips) {
                assert!(private.insert((membership.network, *ip)), "{ip} is given twice");
            }
        }
    }
    let mut public = BTreeSet::new();
    for ip in project.primary_ips.all().map(|it| it.ip).chain(project.floating_ips.all().map(|it| it.ip)) {
        assert!(public.insert(ip), "{ip} is given twice");
    }
}

/// Who is there is on the books, who is not is not, and the bill is the sum of its lines.
fn books(project: &Project) {
    let open: BTreeSet<(Kind, u64)> =
        project.ledger.left_over().map(|entry| (entry.kind, entry.id)).collect();
    let mut there = BTreeSet::new();
    there.extend(project.servers.all().map(|it| (Kind::Server, it.head.id)));
    there.extend(project.volumes.all().map(|it| (Kind::Volume, it.head.id)));
    let known = project.primary_ips.all().filter(|it| it.is_known(project.profile));
    there.extend(known.map(|it| (Kind::PrimaryIp, it.head.id)));
    there.extend(project.floating_ips.all().map(|it| (Kind::FloatingIp, it.head.id)));
    there.extend(project.load_balancers.all().map(|it| (Kind::LoadBalancer, it.head.id)));
    let own = project.images.all().filter(|it| it.kind.is_own());
    there.extend(own.map(|it| (Kind::Image, it.head.id)));
    let billed = |entry: &&(Kind, u64)| there.iter().any(|(kind, _)| *kind == entry.0);
    let open_of_these: BTreeSet<(Kind, u64)> = open.iter().filter(billed).copied().collect();
    assert_eq!(open_of_these, there.iter().copied().collect(), "the books and the cloud differ");
    let sum: crate::money::Money = project.ledger.entries().map(|entry| entry.cost(project.now)).sum();
    assert_eq!(project.ledger.total(None, project.now), sum);
}
