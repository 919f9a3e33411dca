//! What load balancers there are to buy.

use serde::Serialize;

use super::deprecation::Deprecation;
use super::field::{Field, Fields, Seen};
use super::price::{self, LocationPrice};

/// Far above what any type carries.
const COUNT: std::ops::RangeInclusive<u64> = 1..=10_000_000;

/// A load balancer type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadBalancerType {
    /// Its id.
    pub id: u64,
    /// Its name, such as `lb11`.
    pub name: String,
    /// A line for people.
    pub description: String,
    /// Connections at a time.
    pub max_connections: u64,
    /// Services it has at most.
    pub max_services: u64,
    /// Targets it has at most.
    pub max_targets: u64,
    /// Certificates it has at most.
    pub max_assigned_certificates: u64,
    /// When it goes.
    pub deprecation: Option<Deprecation>,
    /// What it costs where.
    pub prices: Vec<LocationPrice>,
}

impl LoadBalancerType {
    /// What it costs in this location.
    pub fn price(&self, location: &str) -> Option<&LocationPrice> {
        self.prices.iter().find(|price| price.location == location)
    }
}

/// The list `load_balancer_types`.
pub(super) fn read(list: Field<'_>) -> Vec<LoadBalancerType> {
    let mut seen = Seen::new("id", "name");
    list.each(|fields| {
        let load_balancer_type = load_balancer_type(&fields, &mut seen);
        fields.done();
        load_balancer_type
    })
}

fn load_balancer_type(fields: &Fields<'_>, seen: &mut Seen) -> Option<LoadBalancerType> {
    let (id, name) = fields.id_and_name(seen);
    let description = fields.text("description");
    let max_connections = fields.integer("max_connections", COUNT);
    let max_services = fields.integer("max_services", COUNT);
    let max_targets = fields.integer("max_targets", COUNT);
    let max_assigned_certificates = fields.integer("max_assigned_certificates", COUNT);
    let deprecation = Deprecation::read(fields);
    let prices = price::of_type(fields);
    Some(LoadBalancerType {
        id: id?,
        name: name?,
        description: description?,
        max_connections: max_connections?,
        max_services: max_services?,
        max_targets: max_targets?,
        max_assigned_certificates: max_assigned_certificates?,
        deprecation,
        prices: prices?,
    })
}
