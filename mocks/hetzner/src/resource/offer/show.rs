//! Offers as the API shows them.

use serde_json::{Map, Value, json};

use crate::call::show::moment;
use crate::catalogue::{
    Architecture, Datacenter, Deprecation, Iso, LoadBalancerType, Location, LocationPrice, Offer, ServerType,
};
use crate::money::{GROSS_DECIMALS, Money};
use crate::project::Project;

pub(crate) fn server_type(project: &Project, it: &ServerType) -> Value {
    let mut shown = json!({
        "id": it.id,
        "name": it.name,
        "description": it.description,
        "cores": it.cores,
        "memory": it.memory,
        "disk": it.disk,
        "deprecated": it.deprecation.is_some(),
        "deprecation": deprecation(it.deprecation),
        "prices": prices(project, &it.prices),
        "storage_type": it.storage_type.as_str(),
        "cpu_type": it.cpu_type.as_str(),
        "architecture": it.architecture.as_str(),
    });
    if let Some(fields) = shown.as_object_mut().filter(|_| project.profile.has_locations()) {
        fields.insert("category".to_owned(), json!(it.category));
        let offers: Vec<Value> = it.locations.iter().filter_map(|offer| offered(project, offer)).collect();
        fields.insert("locations".to_owned(), offers.into());
    }
    shown
}

/// Where a type is offered. What is over there is no longer told.
fn offered(project: &Project, offer: &Offer) -> Option<Value> {
    if offer.deprecation.is_some_and(|deprecation| deprecation.is_over(project.now)) {
        return None;
    }
    let location = project.catalogue.location(&offer.location)?;
    Some(json!({
        "id": location.id,
        "name": location.name,
        "available": offer.available,
        "recommended": offer.recommended,
        "deprecation": deprecation(offer.deprecation),
    }))
}

pub(crate) fn deprecation(deprecation: Option<Deprecation>) -> Option<Value> {
    let it = deprecation?;
    Some(json!({"announced": moment(it.announced), "unavailable_after": moment(it.unavailable_after)}))
}

pub(crate) fn load_balancer_type(project: &Project, it: &LoadBalancerType) -> Value {
    json!({
        "id": it.id,
        "name": it.name,
        "description": it.description,
        "max_connections": it.max_connections,
        "max_services": it.max_services,
        "max_targets": it.max_targets,
        "max_assigned_certificates": it.max_assigned_certificates,
        "deprecated": it.deprecation.map(|it| moment(it.announced)),
        "deprecation": deprecation(it.deprecation),
        "prices": prices(project, &it.prices),
    })
}

pub(super) fn prices(project: &Project, all: &[LocationPrice]) -> Vec<Value> {
    let show = |price: &LocationPrice| {
        json!({
            "location": price.location,
            "price_hourly": amount(project, price.hourly),
            "price_monthly": amount(project, price.monthly),
            "included_traffic": price.included_traffic,
            "price_per_tb_traffic": amount(project, price.traffic_per_tb),
        })
    };
    all.iter().map(show).collect()
}

/// Net and gross. Both are texts, with as many decimals as the API writes.
pub(super) fn amount(project: &Project, net: Money) -> Value {
    let gross = net.gross(project.catalogue.prices.vat_rate);
    json!({"net": net.to_string(), "gross": format!("{gross:.GROSS_DECIMALS$}")})
}

pub(crate) fn location(it: &Location) -> Value {
    json!({
        "id": it.id,
        "name": it.name,
        "description": it.description,
        "country": it.country,
        "city": it.city,
        "latitude": it.latitude,
        "longitude": it.longitude,
        "network_zone": it.network_zone,
    })
}

/// A datacenter, with the types that can be had in its location.
pub(super) fn datacenter(project: &Project, place: &Location, it: &Datacenter) -> Value {
    let types = project.catalogue.server_types.iter();
    let offers = types.filter_map(|known| known.offer(&place.name).map(|offer| (known.id, offer.available)));
    let (supported, available): (Vec<u64>, Vec<Option<u64>>) =
        offers.map(|(id, available)| (id, available.then_some(id))).unzip();
    let available: Vec<u64> = available.into_iter().flatten().collect();
    json!({
        "id": it.id,
        "name": it.name,
        "description": it.description,
        "location": location(place),
        "server_types": {
            "supported": supported,
            "available": available,
            "available_for_migration": available,
        },
    })
}

pub(crate) fn iso(it: &Iso) -> Value {
    json!({
        "id": it.id,
        "name": it.name,
        "description": it.description,
        "type": "public",
        "architecture": it.architecture.map(Architecture::as_str),
        "deprecation": deprecation(it.deprecation),
    })
}

/// Adds where something is: its location, its datacenter, or both, as the profile has it.
pub(crate) fn add_place(project: &Project, fields: &mut Map<String, Value>, place: &Location) {
    if project.profile.has_locations() {
        fields.insert("location".to_owned(), location(place));
    }
    if project.profile.has_datacenters() {
        let shown = place.datacenter.as_ref().map(|it| datacenter(project, place, it));
        fields.insert("datacenter".to_owned(), shown.into());
    }
}
