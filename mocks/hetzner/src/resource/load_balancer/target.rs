//! Where a load balancer sends connections: servers by id or by label, or addresses of dedicated servers.

use std::net::{IpAddr, Ipv4Addr};

use serde::{Deserialize, Serialize};

use crate::call::{Body, Selector, Wrong};
use crate::project::Project;
use crate::resource::public_ip;
use crate::resource::server::Server;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Target {
    Server { id: u64, private: bool },
    LabelSelector { selector: String, private: bool },
    Ip(IpAddr),
}

/// How a load balancer can reach its targets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub(super) network: Option<u64>,
    pub(super) public: bool,
}

const NOWHERE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

#[derive(Clone, Copy)]
enum Shape {
    Server,
    LabelSelector,
    Ip,
}

const SHAPES: [(&str, Shape); 3] =
    [("server", Shape::Server), ("label_selector", Shape::LabelSelector), ("ip", Shape::Ip)];

/// Reads a target. What comes back for a mistake is a placeholder: [`Body::done`] refuses before it is used.
pub(super) fn read(body: &mut Body) -> Target {
    let private = body.flag("use_private_ip").unwrap_or(false);
    match body.needed("type", |body, field| body.word(field, &SHAPES)) {
        Some(Shape::Server) => {
            let id = |body: &mut Body| body.required("id", Body::id);
            Target::Server { id: body.required("server", |body, field| body.object(field, id)), private }
        }
        Some(Shape::LabelSelector) => {
            let selector = body.required("label_selector", |body, field| body.object(field, selector));
            Target::LabelSelector { selector, private }
        }
        Some(Shape::Ip) => {
            let ip = body.needed("ip", |body, field| body.object(field, address));
            Target::Ip(ip.unwrap_or(NOWHERE))
        }
        None => Target::Ip(NOWHERE),
    }
}

fn selector(body: &mut Body) -> String {
    let text = body.required("selector", Body::text);
    if text.chars().count() > 1000 {
        body.wrong("selector", "Longer than maximum length 1000.");
    } else if let Err(message) = Selector::parse(&text) {
        body.wrong("selector", message);
    }
    text
}

fn address(body: &mut Body) -> IpAddr {
    let text = body.required("ip", Body::text);
    text.parse().unwrap_or_else(|_| {
        body.wrong("ip", "Not a valid IP address.");
        NOWHERE
    })
}

impl Target {
    /// The server that it names.
    pub(super) fn server(&self) -> Option<u64> {
        match self {
            Self::Server { id, .. } => Some(*id),
            _ => None,
        }
    }

    /// Whether it is reached over the internet, and not through the network of the balancer.
    pub(super) fn is_public(&self) -> bool {
        match self {
            Self::Server { private, .. } | Self::LabelSelector { private, .. } => !private,
            Self::Ip(ip) => !matches!(ip, IpAddr::V4(ip) if ip.is_private()),
        }
    }

    /// Whether two name the same, however it is reached.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Server { id: one, .. }, Self::Server { id: two, .. }) => one == two,
            (Self::LabelSelector { selector: one, .. }, Self::LabelSelector { selector: two, .. }) => {
                one == two
            }
            (Self::Ip(one), Self::Ip(two)) => one == two,
            _ => false,
        }
    }

    /// Refuses a target that is there already or cannot be reached.
    pub(super) fn check(&self, project: &Project, reach: Reach, others: &[Target]) -> Result<(), Wrong> {
        if others.iter().any(|other| other.is_same(self)) {
            return Err(Wrong::new("target_already_defined", "the target is already defined"));
        }
        if self.is_public() && !reach.public {
            return Err(Wrong::new(
                "load_balancer_public_interface_disabled",
                "the public interface of the load balancer is disabled",
            ));
        }
        if !self.is_public() && reach.network.is_none() {
            return Err(Wrong::new(
                "load_balancer_not_attached_to_network",
                "the load balancer is not attached to a network",
            ));
        }
        match self {
            Self::Server { id, private } => check_server(project, reach, *id, *private),
            Self::LabelSelector { .. } => Ok(()),
            Self::Ip(ip) if self.is_public() => check_public(project, *ip),
            Self::Ip(ip) => check_coupled(project, reach, *ip),
        }
    }
}

fn check_server(project: &Project, reach: Reach, id: u64, private: bool) -> Result<(), Wrong> {
    let server = project.servers.get(id)?;
    if private && !is_beside(server, reach) {
        return Err(Wrong::new(
            "resolve_cloud_private_targets_error",
            "the server is not attached to the network of the load balancer",
        ));
    }
    if !private && server.ipv4.is_none() {
        return Err(Wrong::new(
            "resolve_cloud_public_targets_error",
            "the server does not have a public IPv4 address",
        ));
    }
    Ok(())
}

/// Whether a server is in the network of the balancer.
pub(super) fn is_beside(server: &Server, reach: Reach) -> bool {
    server.networks.iter().any(|it| Some(it.network) == reach.network && !it.pending)
}

/// Who owns an address outside of the cloud is not known, so all of those are the owner's own.
fn check_public(project: &Project, ip: IpAddr) -> Result<(), Wrong> {
    let primary = project.primary_ips.all().any(|it| public_ip::covers(it.ip, ip));
    let floating = project.floating_ips.all().any(|it| public_ip::covers(it.ip, ip));
    if primary || floating {
        return Err(Wrong::new(
            "cloud_resource_ip_not_allowed",
            "cannot add IP to load balancer: IP belongs to Hetzner Cloud resource",
        ));
    }
    Ok(())
}

/// An address of a dedicated server in a subnet that couples those.
fn check_coupled(project: &Project, reach: Reach, ip: IpAddr) -> Result<(), Wrong> {
    let network = reach.network.and_then(|id| project.networks.find(id));
    if !network.is_some_and(|network| network.couples(None)) {
        return Err(Wrong::new("network_has_no_vswitch_subnet", "the network has no subnet of type vswitch"));
    }
    let inside = matches!(ip, IpAddr::V4(ip) if network.is_some_and(|network| network.couples(Some(ip))));
    if inside {
        Ok(())
    } else {
        Err(Wrong::new("ip_not_in_vswitch_subnet", "the IP is in no subnet of type vswitch of the network"))
    }
}
