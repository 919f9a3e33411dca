//! What Hetzner sells, where, for how much, how much of it a project may have and how long things take: plain data.
//!
//! It comes from files, of which a user can replace any; what they write is read in full and all mistakes are told.
//! It decides nothing: whether a type is in stock or retired is judged where a server is created.

mod deprecation;
mod error;
mod field;
mod folder;
mod images;
mod isos;
mod limits;
mod load_balancer_types;
mod locations;
mod node;
mod price;
mod prices;
mod server_types;
#[cfg(test)]
mod tests;
mod timings;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use serde::Serialize;

pub use deprecation::Deprecation;
pub use error::{CatalogueError, Mistake};
pub use images::{Image, ImageKind};
pub use isos::Iso;
pub use limits::Limits;
pub use load_balancer_types::LoadBalancerType;
pub use locations::{Datacenter, Location};
pub use price::{AddressPrice, LocationPrice};
pub use prices::{AddressPrices, Prices};
pub use server_types::{Architecture, CpuType, Offer, ServerType, StorageType};
pub use timings::{Timing, Timings};

/// What there is to buy, and on which terms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Catalogue {
    /// Where things run.
    pub locations: Vec<Location>,
    /// Server types, those that are gone included.
    pub server_types: Vec<ServerType>,
    /// System and app images.
    pub images: Vec<Image>,
    /// Load balancer types.
    pub load_balancer_types: Vec<LoadBalancerType>,
    /// Public ISO images.
    pub isos: Vec<Iso>,
    /// What belongs to no type.
    pub prices: Prices,
    /// The quotas of a project.
    pub limits: Limits,
    /// How long actions take.
    pub timings: Timings,
}

impl Catalogue {
    /// The catalogue that comes with this crate.
    pub fn builtin() -> Catalogue {
        static BUILTIN: LazyLock<Catalogue> =
            LazyLock::new(|| folder::builtin().expect("a test reads the built-in catalogue"));
        BUILTIN.clone()
    }

    /// The files of a folder, and the built-in ones for the subjects it has none of.
    ///
    /// A built-in file then only speaks of the folder's locations.
    pub fn load(folder: &Path) -> Result<Catalogue, CatalogueError> {
        folder::load(folder)
    }

    /// The location of this name.
    pub fn location(&self, name: &str) -> Option<&Location> {
        self.locations.iter().find(|location| location.name == name)
    }

    /// The location of this id.
    pub fn location_by_id(&self, id: u64) -> Option<&Location> {
        self.locations.iter().find(|location| location.id == id)
    }

    /// The server type of this name.
    pub fn server_type(&self, name: &str) -> Option<&ServerType> {
        self.server_types.iter().find(|server_type| server_type.name == name)
    }

    /// The server type of this id.
    pub fn server_type_by_id(&self, id: u64) -> Option<&ServerType> {
        self.server_types.iter().find(|server_type| server_type.id == id)
    }

    /// The image of this name for this architecture.
    pub fn image(&self, name: &str, architecture: Architecture) -> Option<&Image> {
        self.images.iter().find(|image| image.name == name && image.architecture == architecture)
    }

    /// The image of this id.
    pub fn image_by_id(&self, id: u64) -> Option<&Image> {
        self.images.iter().find(|image| image.id == id)
    }

    /// The load balancer type of this name.
    pub fn load_balancer_type(&self, name: &str) -> Option<&LoadBalancerType> {
        self.load_balancer_types.iter().find(|load_balancer_type| load_balancer_type.name == name)
    }

    /// The load balancer type of this id.
    pub fn load_balancer_type_by_id(&self, id: u64) -> Option<&LoadBalancerType> {
        self.load_balancer_types.iter().find(|load_balancer_type| load_balancer_type.id == id)
    }

    /// The ISO image of this name.
    pub fn iso(&self, name: &str) -> Option<&Iso> {
        self.isos.iter().find(|iso| iso.name == name)
    }

    /// The ISO image of this id.
    pub fn iso_by_id(&self, id: u64) -> Option<&Iso> {
        self.isos.iter().find(|iso| iso.id == id)
    }

    /// How long an action of this command takes.
    pub fn timing(&self, command: &str) -> &Timing {
        self.timings.commands.get(command).unwrap_or(&self.timings.default)
    }

    /// This catalogue without what it says of locations that are not `known`.
    fn only_in(mut self, known: &BTreeSet<String>) -> Self {
        self.locations.retain(|location| known.contains(&location.name));
        for server_type in &mut self.server_types {
            server_type.prices.retain(|price| known.contains(&price.location));
            server_type.locations.retain(|offer| known.contains(&offer.location));
        }
        for load_balancer_type in &mut self.load_balancer_types {
            load_balancer_type.prices.retain(|price| known.contains(&price.location));
        }
        let Prices { primary_ips, floating_ips, .. } = &mut self.prices;
        for list in
            [&mut primary_ips.ipv4, &mut primary_ips.ipv6, &mut floating_ips.ipv4, &mut floating_ips.ipv6]
        {
            list.retain(|price| known.contains(&price.location));
        }
        self
    }
}
