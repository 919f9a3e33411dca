//! The invariants of the state.

use std::collections::{BTreeMap, BTreeSet};

use crate::money::Money;
use crate::project::Project;
use crate::project::soundness;
use crate::resource::Kind;

/// Who remembers all ids there ever were.
#[derive(Default)]
pub(super) struct Witness {
    seen: BTreeMap<Kind, BTreeSet<u64>>,
    there: BTreeMap<Kind, BTreeSet<u64>>,
}

impl Witness {
    pub(super) fn look(&mut self, project: &Project) {
        for (_, kind) in Kind::PATHS {
            self.kind(project, kind);
        }
        soundness::check(project).unwrap();
        relations(project);
        work(project);
        addresses(project);
        books(project);
    }

    /// An id that was gone does not come back, and no name is there twice.
    fn kind(&mut self, project: &Project, kind: Kind) {
        let now: BTreeSet<u64> = project.ids(kind).into_iter().collect();
        let seen = self.seen.entry(kind).or_default();
        for id in now.difference(self.there.entry(kind).or_default()) {
            assert!(seen.insert(*id), "{kind} {id} came back");
        }
        if kind != Kind::Image {
            let mut names = BTreeSet::new();
            let heads = now.iter().map(|id| project.head(kind, *id).expect("it is there"));
            for head in heads.filter(|head| !head.name.is_empty()) {
                assert!(names.insert(&head.name), "two of {kind} are called {}", head.name);
            }
        }
        self.there.insert(kind, now);
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
    let untold = |(kind, id): &(Kind, u64)| match kind {
        Kind::Image => project.images.find(*id).is_some_and(|image| !image.kind.is_own()),
        Kind::PrimaryIp => project.primary_ips.find(*id).is_some_and(|ip| !ip.is_known(project.profile)),
        _ => false,
    };
    let of = |kind| project.ids(kind).into_iter().map(move |id| (kind, id));
    let there = Kind::PATHS.into_iter().flat_map(|(_, kind)| of(kind));
    let there: BTreeSet<(Kind, u64)> = there.filter(|thing| !untold(thing)).collect();
    assert_eq!(open, there, "the books and the cloud differ");
    for entry in project.ledger.left_over().filter(|entry| entry.kind != Kind::Image) {
        let head = project.head(entry.kind, entry.id).expect("it is there");
        assert_eq!(entry.name, head.name, "the books know it by another name");
    }
    let sum: Money = project.ledger.entries().map(|entry| entry.cost(project.now)).sum();
    assert_eq!(project.ledger.total(None, project.now), sum);
}
