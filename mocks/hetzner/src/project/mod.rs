//! Everything that one token owns. It is plain data: it can be written down, read again and compared.

mod books;
mod chance;
pub(crate) mod quota;
pub(crate) mod soundness;
mod timeline;

pub(crate) use chance::Chance;
pub(crate) use timeline::{Happening, Timeline};

use std::sync::Arc;

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::action::Actions;
use crate::address::Pools;
use crate::call::Bucket;
use crate::catalogue::Catalogue;
use crate::ledger::Ledger;
use crate::profile::Profile;
use crate::resource::Kind;
use crate::resource::certificate::Certificate;
use crate::resource::firewall::Firewall;
use crate::resource::floating_ip::FloatingIp;
use crate::resource::image::{self, Image};
use crate::resource::load_balancer::LoadBalancer;
use crate::resource::network::Network;
use crate::resource::placement_group::PlacementGroup;
use crate::resource::primary_ip::PrimaryIp;
use crate::resource::server::Server;
use crate::resource::shelf::{Head, Resource, Shelf};
use crate::resource::ssh_key::SshKey;
use crate::resource::volume::Volume;
use crate::trouble::Troubles;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Project {
    pub(crate) profile: Profile,
    pub(crate) servers: Shelf<Server>,
    pub(crate) images: Shelf<Image>,
    pub(crate) ssh_keys: Shelf<SshKey>,
    pub(crate) networks: Shelf<Network>,
    pub(crate) firewalls: Shelf<Firewall>,
    pub(crate) placement_groups: Shelf<PlacementGroup>,
    pub(crate) volumes: Shelf<Volume>,
    pub(crate) primary_ips: Shelf<PrimaryIp>,
    pub(crate) floating_ips: Shelf<FloatingIp>,
    pub(crate) load_balancers: Shelf<LoadBalancer>,
    pub(crate) certificates: Shelf<Certificate>,
    /// When it was last looked at.
    pub(crate) now: Time,
    pub(crate) actions: Actions,
    pub(crate) timeline: Timeline,
    pub(crate) chance: Chance,
    /// Draws the names of requests, so that how often somebody looks decides nothing.
    pub(crate) correlation: Chance,
    pub(crate) limit: Bucket,
    pub(crate) ledger: Ledger,
    /// What goes wrong on purpose.
    pub(crate) troubles: Troubles,
    /// Public addresses that are free.
    pub(crate) pools: Pools,
    /// What is for sale. It belongs to the cloud and not to the project, so it is not written down with it.
    #[serde(skip, default = "for_sale")]
    pub(crate) catalogue: Arc<Catalogue>,
}

/// What Hetzner sells, until somebody says otherwise.
fn for_sale() -> Arc<Catalogue> {
    Arc::new(Catalogue::builtin())
}

/// Does the same with the shelf of a kind, whatever lies on it. Actions lie on none.
macro_rules! on_shelf {
    ($project:expr, $kind:expr, $shelf:ident => $done:expr, $of_actions:expr) => {
        match $kind {
            Kind::Action => $of_actions,
            Kind::Server => on_shelf!(@ $project.servers, $shelf => $done),
            Kind::Image => on_shelf!(@ $project.images, $shelf => $done),
            Kind::SshKey => on_shelf!(@ $project.ssh_keys, $shelf => $done),
            Kind::Network => on_shelf!(@ $project.networks, $shelf => $done),
            Kind::Firewall => on_shelf!(@ $project.firewalls, $shelf => $done),
            Kind::PlacementGroup => on_shelf!(@ $project.placement_groups, $shelf => $done),
            Kind::Volume => on_shelf!(@ $project.volumes, $shelf => $done),
            Kind::PrimaryIp => on_shelf!(@ $project.primary_ips, $shelf => $done),
            Kind::FloatingIp => on_shelf!(@ $project.floating_ips, $shelf => $done),
            Kind::LoadBalancer => on_shelf!(@ $project.load_balancers, $shelf => $done),
            Kind::Certificate => on_shelf!(@ $project.certificates, $shelf => $done),
        }
    };
    (@ $found:expr, $shelf:ident => $done:expr) => {{
        let $shelf = &$found;
        $done
    }};
}
use on_shelf;

/// How many IPv4 addresses a location has.
const ADDRESSES_A_LOCATION: u32 = 16_000;
/// How many requests an hour a project may make.
const REQUESTS_PER_HOUR: u64 = 3600;

impl Project {
    /// One with nothing in it.
    pub(crate) fn new(catalogue: Arc<Catalogue>, profile: Profile, seed: u64, now: Time) -> Self {
        let mut project = Self {
            profile,
            servers: Shelf::default(),
            images: Shelf::default(),
            ssh_keys: Shelf::default(),
            networks: Shelf::default(),
            firewalls: Shelf::default(),
            placement_groups: Shelf::default(),
            volumes: Shelf::default(),
            primary_ips: Shelf::default(),
            floating_ips: Shelf::default(),
            load_balancers: Shelf::default(),
            certificates: Shelf::default(),
            now,
            actions: Actions::default(),
            timeline: Timeline::default(),
            chance: Chance::new(seed),
            correlation: Chance::new(!seed),
            limit: Bucket::new(REQUESTS_PER_HOUR),
            ledger: Ledger::default(),
            troubles: Troubles::new(seed),
            pools: Pools::new(catalogue.locations.iter().map(|it| it.name.as_str()), ADDRESSES_A_LOCATION),
            catalogue,
        };
        image::stock(&mut project, now);
        project
    }

    /// Lets everything happen whose time has come. Says whether there was anything.
    pub(crate) fn advance(&mut self, now: Time) -> bool {
        let mut any = false;
        self.now = self.now.max(now);
        while let Some((at, what)) = self.timeline.due(now) {
            any = true;
            match what {
                Happening::ActionEnds(id) => self.end_action(at, id),
                Happening::Server(effect) => effect.settle(self, at, true),
                Happening::SightChanges => self.turn(at),
            }
        }
        any
    }

    /// The ids of all things of a kind.
    pub(crate) fn ids(&self, kind: Kind) -> Vec<u64> {
        on_shelf!(self, kind, shelf => shelf.all().map(|thing| thing.head().id).collect(), Vec::new())
    }

    /// What every thing has, of one that may be gone.
    pub(crate) fn head(&self, kind: Kind, id: u64) -> Option<&Head> {
        on_shelf!(self, kind, shelf => shelf.find(id).map(Resource::head), None)
    }
}
