//! Where things run.

use serde::Serialize;

use super::field::{Field, Fields, Seen};

/// A location.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Location {
    /// Its id.
    pub id: u64,
    /// Its name, such as `fsn1`.
    pub name: String,
    /// A line for people.
    pub description: String,
    /// The code of the country, such as `DE`.
    pub country: String,
    /// The city.
    pub city: String,
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// The zone that networks span, such as `eu-central`.
    pub network_zone: String,
    /// The datacenter that stood for it while the API had them.
    pub datacenter: Option<Datacenter>,
}

/// A datacenter, which the API gave up in 2026.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Datacenter {
    /// Its id.
    pub id: u64,
    /// Its name, such as `fsn1-dc14`.
    pub name: String,
    /// A line for people.
    pub description: String,
}

/// The list `locations`. The API tells no datacenters: those of `builtin` stay.
pub(super) fn read(list: Field<'_>, builtin: &[Location]) -> Vec<Location> {
    let mut seen = Seen::new("id", "name");
    let mut datacenters = Seen::new("datacenter id", "datacenter name");
    list.each(|fields| {
        let (id, name) = fields.id_and_name(&mut seen);
        let description = fields.text("description");
        let country = fields.text("country");
        let city = fields.text("city");
        let latitude = fields.need("latitude").and_then(|field| field.float(-90.0..=90.0));
        let longitude = fields.need("longitude").and_then(|field| field.float(-180.0..=180.0));
        let network_zone = fields.text("network_zone");
        let datacenter = datacenter(&fields, &mut datacenters);
        fields.done();
        let name = name?;
        let known = || builtin.iter().find(|location| location.name == name)?.datacenter.clone();
        let datacenter = if fields.by_api() { known() } else { datacenter };
        Some(Location {
            id: id?,
            description: description?,
            country: country?,
            city: city?,
            latitude: latitude?,
            longitude: longitude?,
            network_zone: network_zone?,
            datacenter,
            name,
        })
    })
}

fn datacenter(location: &Fields<'_>, seen: &mut Seen) -> Option<Datacenter> {
    let fields = location.maybe("datacenter")?.fields()?;
    let (id, name) = fields.id_and_name(seen);
    let description = fields.text("description");
    fields.done();
    Some(Datacenter { id: id?, name: name?, description: description? })
}
