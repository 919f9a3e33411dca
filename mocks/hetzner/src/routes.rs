//! All routes of the API, gathered from the rooms.

use crate::call::{Route, Routes};
use crate::{action, load_balancer, network, offer, server};

/// Every route there is.
pub(crate) fn all() -> Routes {
    let all: &[&[Route]] = &[
        action::ROUTES,
        load_balancer::ROUTES,
        &load_balancer::ACTIONS,
        network::ROUTES,
        &network::ACTIONS,
        offer::ROUTES,
        server::ROUTES,
        &server::ACTIONS,
    ];
    Routes::new(all.iter().copied().flatten().copied())
}
