//! Subnets and routes as bodies ask for them, and whether they fit into a network.
//!
//! What is read for a mistake in a body is a placeholder: [`Body::done`] refuses before it is used.

use std::net::Ipv4Addr;

use crate::address::{PrivateSpace, Range, Subnet, SubnetKind, SubnetRefusal};
use crate::call::{Body, Wrong};
use crate::project::Project;
use crate::resource::network::{Route, coupled};

pub(super) const KINDS: [(&str, SubnetKind); 3] =
    [("cloud", SubnetKind::Cloud), ("server", SubnetKind::Server), ("vswitch", SubnetKind::Vswitch)];

/// The gateway of public interfaces, where no private route may lead.
const PUBLIC_GATEWAY: Ipv4Addr = Ipv4Addr::new(172, 31, 1, 1);

/// A subnet that somebody would like to have.
pub(super) struct SubnetDraft {
    kind: SubnetKind,
    /// None for the first that is free.
    range: Option<Range>,
    zone: String,
    vswitch: Option<i64>,
}

/// A range in CIDR notation.
pub(super) fn range(body: &mut Body, field: &str) -> Option<Range> {
    let text = body.filled(field)?;
    Range::parse(&text).map_err(|message| body.wrong(field, message)).ok()
}

/// A range that has to be there.
pub(super) fn required_range(body: &mut Body, field: &str) -> Range {
    body.needed(field, range).unwrap_or(Range::ALL)
}

pub(super) fn subnet(body: &mut Body) -> SubnetDraft {
    // Old clients send one, though nobody can choose it.
    body.ignore("gateway");
    let kind = body.needed("type", |body, field| body.word(field, &KINDS)).unwrap_or(SubnetKind::Cloud);
    let zone = body.required("network_zone", Body::text);
    let range = range(body, "ip_range");
    let vswitch = body.number("vswitch_id", 0, i64::MAX.unsigned_abs()).filter(|id| *id > 0);
    match (kind, vswitch) {
        (SubnetKind::Vswitch, None) => body.wrong("vswitch_id", "Must be given for subnets of type vswitch."),
        (SubnetKind::Cloud | SubnetKind::Server, Some(_)) => {
            body.wrong("vswitch_id", "Must only be given for subnets of type vswitch.");
        }
        _ => {}
    }
    SubnetDraft { kind, range, zone, vswitch: vswitch.and_then(|id| i64::try_from(id).ok()) }
}

pub(super) fn route(body: &mut Body) -> Route {
    let destination = required_range(body, "destination");
    let gateway = body.needed("gateway", Body::ipv4).unwrap_or(Ipv4Addr::UNSPECIFIED);
    Route { destination, gateway }
}

/// Where the routes lead.
pub(super) fn destinations(routes: &[Route]) -> Vec<Range> {
    routes.iter().map(|route| route.destination).collect()
}

/// Refuses a vSwitch that another network is coupled with.
pub(super) fn vswitch_free(
    project: &Project,
    network: Option<u64>,
    draft: &SubnetDraft,
) -> Result<(), Wrong> {
    let mut others = project.networks.all().filter(|other| Some(other.head.id) != network);
    let wanted = |subnet: &Subnet| draft.vswitch.is_some() && subnet.vswitch == draft.vswitch;
    if others.any(|other| other.plan.subnets().iter().any(wanted)) {
        return Err(Wrong::new("vswitch_id_already_used", "vswitch id already used by another network"));
    }
    Ok(())
}

/// The subnet that a draft comes to, if it fits. `place` is where the draft stands in the body.
pub(super) fn fit_subnet(
    project: &Project,
    plan: &PrivateSpace,
    routes: &[Route],
    draft: SubnetDraft,
    place: &str,
) -> Result<Subnet, Wrong> {
    if !project.catalogue.locations.iter().any(|location| location.network_zone == draft.zone) {
        return Err(Wrong::invalid(&format!("{place}network_zone"), "Unknown network zone."));
    }
    let destinations = destinations(routes);
    let refused = |refusal: SubnetRefusal| Wrong::invalid(&format!("{place}ip_range"), refusal.to_string());
    let range = match draft.range {
        Some(range) => range,
        None => plan.next_subnet(&destinations).map_err(refused)?,
    };
    let subnet = Subnet { range, kind: draft.kind, zone: draft.zone, vswitch: draft.vswitch };
    plan.clone().add_subnet(subnet.clone(), &destinations).map_err(refused)?;
    Ok(subnet)
}

/// Refuses a route that leads where none may, or through what is no gateway.
pub(super) fn fit_route(
    plan: &PrivateSpace,
    routes: &[Route],
    route: &Route,
    place: &str,
) -> Result<(), Wrong> {
    let Route { destination, gateway } = *route;
    let wrong = |field: &str, message: String| Err(Wrong::invalid(&format!("{place}{field}"), message));
    let same = |other: Range| other == destination;
    // The default route overlaps everything, so it is only held against itself.
    let meets = |other: Range| {
        if destination == Range::ALL || other == Range::ALL {
            same(other)
        } else {
            other.overlaps(destination)
        }
    };
    if destination != Range::ALL && !destination.is_private() {
        return wrong("destination", "must be a private IPv4 range of RFC1918 or 0.0.0.0/0".to_owned());
    }
    if destination != Range::ALL && destination.holds(PUBLIC_GATEWAY) {
        return wrong("destination", format!("must not overlap with {PUBLIC_GATEWAY}"));
    }
    let subnets = plan.subnets().iter().map(|subnet| subnet.range);
    if let Some(other) = subnets.chain(destinations(routes)).find(|other| meets(*other)) {
        return wrong("destination", format!("overlaps with {other}"));
    }
    if gateway == PUBLIC_GATEWAY || gateway == plan.range().gateway() {
        return wrong("gateway", format!("{gateway} is reserved"));
    }
    if coupled(plan, Some(gateway)) {
        return wrong("gateway", format!("{gateway} is behind a vSwitch"));
    }
    Ok(())
}
