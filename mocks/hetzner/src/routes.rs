//! All routes of the API, gathered from the rooms.

use crate::call::{Route, Routes};
use crate::{action, network, offer, server};

/// Every route there is.
pub(crate) fn all() -> Routes {
    let all: &[&[Route]] = &[
        action::ROUTES,
        network::ROUTES,
        &network::ACTIONS,
        offer::ROUTES,
        server::ROUTES,
        &server::ACTIONS,
    ];
    Routes::new(all.iter().copied().flatten().copied())
}
