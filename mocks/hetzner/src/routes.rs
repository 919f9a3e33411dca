//! All routes of the API, gathered from the rooms.

use crate::call::{Route, Routes};
use crate::{action, offer, server};

/// Every route there is.
pub(crate) fn all() -> Routes {
    let all: [&[Route]; 4] = [action::ROUTES, offer::ROUTES, server::ROUTES, &server::ACTIONS];
    Routes::new(all.into_iter().flatten().copied())
}
