//! What can be ordered, as the API shows it: server types, locations, datacenters, images of the system, prices.

use mock_clock::Time;
use serde_json::{Map, Value, json};

use crate::call::IdOrName;
use crate::catalogue::{Iso, Location, ServerType};
use crate::project::Project;
use crate::wrong::Wrong;

/// The type that is asked for, if it can still be had.
pub(crate) fn orderable_type(project: &Project, _now: Time, wanted: &IdOrName) -> Result<ServerType, Wrong> {
    project
        .catalogue
        .server_type(&wanted.0)
        .cloned()
        .ok_or_else(|| Wrong::invalid("server_type", "Unknown server type."))
}

/// Where it shall be.
pub(crate) fn place(
    project: &Project,
    location: Option<&IdOrName>,
    _datacenter: Option<&IdOrName>,
) -> Result<Location, Wrong> {
    let name = location.map_or("", |it| it.0.as_str());
    project.catalogue.location(name).cloned().ok_or_else(|| Wrong::invalid("location", "Unknown location."))
}

/// Refuses a type that is not sold there.
pub(crate) fn sold_in(
    _project: &Project,
    _now: Time,
    _server_type: &ServerType,
    _location: &Location,
) -> Result<(), Wrong> {
    Ok(())
}

/// A server type as the API shows it.
pub(crate) fn show_server_type(_project: &Project, server_type: &ServerType) -> Value {
    json!({"id": server_type.id, "name": server_type.name})
}

/// An ISO as the API shows it.
pub(crate) fn show_iso(iso: &Iso) -> Value {
    json!({"id": iso.id, "name": iso.name})
}

/// Adds where something is, in the way of the profile.
pub(crate) fn add_place(_project: &Project, fields: &mut Map<String, Value>, location: &Location) {
    fields.insert("location".to_owned(), json!({"id": location.id, "name": location.name}));
}
