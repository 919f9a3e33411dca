//! The invariants of the state.

use std::collections::{BTreeMap, BTreeSet};

use crate::kind::Kind;
use crate::project::Project;
use crate::shelf::{Resource, Shelf};
use crate::soundness;

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
        soundness::check(project).unwrap();
        relations(project);
        work(project);
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
            let names: BTreeSet<&str> = shelf.all().map(|thing| thing.head().name.as_str()).collect();
            assert_eq!(names.len(), shelf.len(), "two of {} have one name", T::KIND);
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
        let failed = |id| {
            let mut all = project.actions.all().filter(|it| it.concerns(Kind::Volume, id));
            all.any(|it| it.command == "create_volume" && it.status() == "error")
        };
        let made = project.volumes.all().all(|volume| volume.available != failed(volume.head.id));
        assert!(made, "a volume is still being made");
    }
}

/// Nothing is joined twice, and nothing is too full. That everything is there to be joined, every state has to show.
fn relations(project: &Project) {
    for firewall in project.firewalls.all() {
        let unique: BTreeSet<&u64> = firewall.servers.iter().collect();
        assert_eq!(unique.len(), firewall.servers.len(), "{firewall:?} guards one twice");
    }
    for balancer in project.load_balancers.all() {
        assert!(balancer.networks.len() < 2, "{balancer:?} is in two networks");
        let unique: BTreeSet<u64> = balancer.servers().collect();
        assert_eq!(unique.len(), balancer.servers().count(), "{balancer:?} has a target twice");
    }
    assert!(project.placement_groups.all().all(|group| group.members.len() <= 10), "a group is too full");
}

/// Whatever runs will end: its end is planned, or a trouble holds it back.
fn work(project: &Project) {
    let planned = serde_json::to_string(&project.timeline).unwrap();
    let troubles = serde_json::to_value(&project.troubles).unwrap();
    let standing = troubles["all"].as_object().unwrap();
    for action in project.actions.all().filter(|it| it.finished.is_none()) {
        let id = action.id.to_string();
        let held = standing.values().any(|it| it["holds"]["actions"].get(&id).is_some());
        let awaited = planned.contains(&format!("{{\"action_ends\":{id}}}"));
        assert!(held || awaited, "{action:?} will never end");
    }
}

/// No address is given twice.
fn addresses(project: &Project) {
    let mut private = BTreeSet::new();
    let servers = project.servers.all().map(|it| &it.networks);
    for networks in servers.chain(project.load_balancers.all().map(|it| &it.networks)) {
        for membership in networks {
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
    there.extend(project.primary_ips.all().map(|it| (Kind::PrimaryIp, it.head.id)));
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
