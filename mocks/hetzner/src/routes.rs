//! All routes of the API, gathered from the rooms.

use crate::call::{Route, Routes};
use crate::{
    action, certificate, firewall, floating_ip, image, load_balancer, network, offer, placement_group,
    primary_ip, server, ssh_key, volume,
};

/// Every route there is.
pub(crate) fn all() -> Routes {
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
