//! Lists as the API answers them, read from files.

use mock_hetzner::catalogue::{Deprecation, Image, LocationPrice, ServerType};
use mock_hetzner::{Catalogue, Money, VatRate};
use serde_json::{Value, json};

use crate::empty_folder;

fn amount(net: Money, vat: VatRate) -> Value {
    json!({"net": net, "gross": format!("{:.16}", net.gross(vat))})
}

fn prices(prices: &[LocationPrice], vat: VatRate) -> Vec<Value> {
    let price = |price: &LocationPrice| {
        json!({
            "location": price.location,
            "price_hourly": amount(price.hourly, vat),
            "price_monthly": amount(price.monthly, vat),
            "included_traffic": price.included_traffic,
            "price_per_tb_traffic": amount(price.traffic_per_tb, vat),
        })
    };
    prices.iter().map(price).collect()
}

fn server_type(it: &ServerType, catalogue: &Catalogue) -> Value {
    let offers: Vec<Value> = it
        .locations
        .iter()
        .map(|offer| {
            json!({"id": catalogue.location(&offer.location).unwrap().id, "name": offer.location,
                   "deprecation": offer.deprecation, "available": offer.available, "recommended": offer.recommended})
        })
        .collect();
    json!({
        "id": it.id, "name": it.name, "description": it.description, "category": it.category, "cores": it.cores,
        "memory": it.memory, "disk": it.disk, "storage_type": it.storage_type, "cpu_type": it.cpu_type,
        "architecture": it.architecture, "deprecated": it.deprecation.is_some(), "deprecation": it.deprecation,
        "prices": prices(&it.prices, catalogue.prices.vat_rate), "locations": offers,
    })
}

fn image(it: &Image) -> Value {
    json!({
        "id": it.id, "type": it.kind, "status": "available", "name": it.name, "description": it.description,
        "image_size": null, "disk_size": it.disk_size, "created": it.created, "created_from": null, "bound_to": null,
        "os_flavor": it.os_flavor, "os_version": it.os_version, "rapid_deploy": it.rapid_deploy,
        "protection": {"delete": false}, "deprecated": it.deprecated(), "deprecation": it.deprecation,
        "deleted": null, "labels": {}, "architecture": it.architecture,
    })
}

/// Captures of the built-in catalogue, as curl would store them.
fn captures() -> Vec<(&'static str, Vec<Value>)> {
    let catalogue = Catalogue::builtin();
    let vat = catalogue.prices.vat_rate;
    let of_location = |it: &mock_hetzner::catalogue::Location| {
        json!({"id": it.id, "name": it.name, "description": it.description, "country": it.country, "city": it.city,
               "latitude": it.latitude, "longitude": it.longitude, "network_zone": it.network_zone})
    };
    let of_load_balancer = |it: &mock_hetzner::catalogue::LoadBalancerType| {
        json!({"id": it.id, "name": it.name, "description": it.description, "max_connections": it.max_connections,
               "max_services": it.max_services, "max_targets": it.max_targets, "deprecated": null,
               "max_assigned_certificates": it.max_assigned_certificates, "prices": prices(&it.prices, vat)})
    };
    let of_iso = |it: &mock_hetzner::catalogue::Iso| {
        json!({"id": it.id, "name": it.name, "description": it.description, "type": "public",
               "deprecation": it.deprecation, "architecture": it.architecture})
    };
    vec![
        ("locations", catalogue.locations.iter().map(of_location).collect()),
        ("server_types", catalogue.server_types.iter().map(|it| server_type(it, &catalogue)).collect()),
        ("images", catalogue.images.iter().map(image).collect()),
        ("load_balancer_types", catalogue.load_balancer_types.iter().map(of_load_balancer).collect()),
        ("isos", catalogue.isos.iter().map(of_iso).collect()),
    ]
}

fn document(subject: &str, entries: &[Value]) -> Value {
    let pagination = json!({"page": 1, "per_page": 50, "previous_page": null, "next_page": null, "last_page": 1,
                            "total_entries": entries.len()});
    json!({subject: entries, "meta": {"pagination": pagination}})
}

#[test]
fn lists_of_the_api_are_the_catalogue_they_were_captured_from() {
    let folder = empty_folder("captured");
    for (subject, entries) in captures() {
        // One line, and many: curl stores what it gets.
        let text = document(subject, &entries);
        let text =
            if subject == "images" { format!("{text:#}") } else { serde_json::to_string(&text).unwrap() };
        std::fs::write(folder.join(format!("{subject}.json")), text).unwrap();
    }
    let (read, builtin) = (Catalogue::load(&folder).unwrap(), Catalogue::builtin());
    assert_eq!(read, builtin);
}

#[test]
fn what_belongs_to_a_project_is_left_out() {
    let folder = empty_folder("captured-own");
    let mut entries: Vec<Value> = Catalogue::builtin().images.iter().map(image).collect();
    let mut snapshot = entries.first().unwrap().clone();
    snapshot["type"] = json!("snapshot");
    snapshot["name"] = json!(null);
    entries.insert(0, snapshot);
    std::fs::write(folder.join("images.json"), document("images", &entries).to_string()).unwrap();
    let private =
        json!({"id": 5, "name": "mine", "description": "Mine", "type": "private", "architecture": null});
    std::fs::write(folder.join("isos.json"), document("isos", &[private]).to_string()).unwrap();
    let read = Catalogue::load(&folder).unwrap();
    assert_eq!(read, Catalogue { isos: Vec::new(), ..Catalogue::builtin() });
}

#[test]
fn the_older_deprecation_of_an_image_ends_three_months_later() {
    let folder = empty_folder("captured-old");
    let mut entry = image(Catalogue::builtin().images.last().unwrap());
    entry["deprecated"] = json!("2026-01-01T00:00:00+00:00");
    entry["deprecation"] = json!(null);
    std::fs::write(folder.join("images.json"), document("images", &[entry]).to_string()).unwrap();
    let read = Catalogue::load(&folder).unwrap().images.remove(0).deprecation;
    let time = |text: &str| text.parse().unwrap();
    let (announced, unavailable_after) = (time("2026-01-01T00:00:00Z"), time("2026-04-02T00:00:00Z"));
    assert_eq!(read, Some(Deprecation { announced, unavailable_after }));
}
