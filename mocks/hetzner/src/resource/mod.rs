//! The things that a project holds and what can be asked of them, a room each, and what the rooms have in common.
//!
//! A room reads the call, checks everything, and only then changes the project. What takes time it leaves to an action.

pub(crate) mod certificate;
pub(crate) mod firewall;
pub(crate) mod floating_ip;
pub(crate) mod image;
pub(crate) mod load_balancer;
pub(crate) mod network;
pub(crate) mod offer;
pub(crate) mod placement_group;
pub(crate) mod primary_ip;
pub(crate) mod server;
pub(crate) mod ssh_key;
pub(crate) mod volume;

pub(crate) mod host_name;
mod kind;
pub(crate) mod public_ip;
pub(crate) mod shelf;
pub(crate) mod upkeep;

pub use kind::Kind;

use crate::action;
use crate::call::{Route, Routes};

/// Every route there is, gathered from the rooms.
pub(crate) fn routes() -> Routes {
    let all: &[&[Route]] = &[
        action::ROUTES,
        certificate::ROUTES,
        &certificate::ACTIONS,
        firewall::ROUTES,
        &firewall::ACTIONS,
        floating_ip::ROUTES,
        &floating_ip::ACTIONS,
        image::ROUTES,
        &image::ACTIONS,
        load_balancer::ROUTES,
        &load_balancer::ACTIONS,
        network::ROUTES,
        &network::ACTIONS,
        offer::ROUTES,
        placement_group::ROUTES,
        primary_ip::ROUTES,
        &primary_ip::ACTIONS,
        server::ROUTES,
        &server::ACTIONS,
        ssh_key::ROUTES,
        volume::ROUTES,
        &volume::ACTIONS,
    ];
    Routes::new(all.iter().copied().flatten().copied())
}
