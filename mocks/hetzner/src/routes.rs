//! All routes of the API, gathered from the rooms.

use crate::call::{Route, Routes};
use crate::{action, certificate, firewall, placement_group, server, ssh_key};

/// Every route there is.
pub(crate) fn all() -> Routes {
    let all: [&[Route]; 9] = [
        action::ROUTES,
        server::ROUTES,
        &server::ACTIONS,
        ssh_key::ROUTES,
        placement_group::ROUTES,
        firewall::ROUTES,
        &firewall::ACTIONS,
        certificate::ROUTES,
        &certificate::ACTIONS,
    ];
    Routes::new(all.into_iter().flatten().copied())
}
