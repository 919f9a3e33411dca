//! All routes of the API, gathered from the rooms.

use crate::call::{Route, Routes};
use crate::{action, network, server};

/// Every route there is.
pub(crate) fn all() -> Routes {
    let all: [&[Route]; 5] =
        [action::ROUTES, network::ROUTES, &network::ACTIONS, server::ROUTES, &server::ACTIONS];
    Routes::new(all.into_iter().flatten().copied())
}
