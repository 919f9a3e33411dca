//! What can be ordered, and where: server types, locations, load balancer types, ISOs, prices.
//!
//! The catalogue says what there is; here is how the API shows it at a moment and in a profile, and who is refused.

mod pricing;
mod room;
mod show;

pub(crate) use room::ROUTES;
pub(crate) use show::{
    add_place, iso as show_iso, load_balancer_type as show_load_balancer_type, location as show_location,
    server_type as show_server_type,
};

use mock_clock::Time;

use crate::call::{IdOrName, Wrong};
use crate::catalogue::{Location, ServerType};
use crate::project::Project;

/// The type that is asked for, if it can still be had.
pub(crate) fn orderable_type(project: &Project, now: Time, wanted: &IdOrName) -> Result<ServerType, Wrong> {
    let catalogue = &project.catalogue;
    let by_id = || wanted.id().and_then(|id| catalogue.server_type_by_id(id));
    let found = catalogue.server_type(&wanted.0).or_else(by_id).filter(|it| sold(project, now, it));
    found
        .cloned()
        .ok_or_else(|| Wrong::invalid("server_type", format!("Server type '{}' does not exist.", wanted.0)))
}

/// Whether a type can be had at all.
pub(crate) fn sold(project: &Project, now: Time, server_type: &ServerType) -> bool {
    server_type.deprecation.is_none_or(|deprecation| !deprecation.is_over(now))
        && !project.retired(now, &server_type.name)
}

/// The location that is asked for.
pub(crate) fn location(project: &Project, wanted: &IdOrName, field: &str) -> Result<Location, Wrong> {
    let catalogue = &project.catalogue;
    let by_id = || wanted.id().and_then(|id| catalogue.location_by_id(id));
    let found = catalogue.location(&wanted.0).or_else(by_id);
    found.cloned().ok_or_else(|| Wrong::invalid(field, format!("Location '{}' does not exist.", wanted.0)))
}

/// Where something shall be: in a location or, as long as there are those, a datacenter. The cloud picks the first if
/// nobody says.
pub(crate) fn place(
    project: &Project,
    wanted: Option<&IdOrName>,
    datacenter: Option<&IdOrName>,
) -> Result<Location, Wrong> {
    match (wanted, datacenter) {
        (Some(wanted), _) => location(project, wanted, "location"),
        (None, Some(_)) if !project.profile.has_datacenters() => {
            Err(Wrong::invalid("datacenter", "Datacenters are no longer supported; use a location."))
        }
        (None, Some(wanted)) => in_datacenter(project, wanted),
        (None, None) => {
            let first = project.catalogue.locations.first().cloned();
            first.ok_or_else(|| Wrong::new("resource_unavailable", "there is no location"))
        }
    }
}

fn in_datacenter(project: &Project, wanted: &IdOrName) -> Result<Location, Wrong> {
    let is = |location: &&Location| {
        let datacenter = location.datacenter.as_ref();
        datacenter.is_some_and(|it| it.name == wanted.0 || Some(it.id) == wanted.id())
    };
    let found = project.catalogue.locations.iter().find(is);
    found
        .cloned()
        .ok_or_else(|| Wrong::invalid("datacenter", format!("Datacenter '{}' does not exist.", wanted.0)))
}

/// Refuses a type that is not offered there. What it costs there says nothing about that.
pub(crate) fn sold_in(now: Time, server_type: &ServerType, location: &Location) -> Result<(), Wrong> {
    let offer = server_type.offer(&location.name);
    if offer.is_some_and(|offer| offer.deprecation.is_none_or(|deprecation| !deprecation.is_over(now))) {
        return Ok(());
    }
    Err(Wrong::new("invalid_input", "unsupported location for server type"))
}
