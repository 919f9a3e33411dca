//! What can go wrong on purpose: injected by a scenario or by hand, counted when it bites, healed.
//!
//! The engine and the rooms ask here at the points where something can go wrong: a request comes in, an order is
//! checked, an action begins, a status changes, something is looked at. Connections are not ours to cut.

mod bend;
mod deed;
mod form;
mod orders;
mod requests;
mod schema;
mod sight;
mod standing;
mod target;
#[cfg(test)]
mod tests;
mod turn;
mod what;
mod work;

pub use deed::{Deed, DeedError, Which};
pub use form::TroubleError;
pub(crate) use form::blaming;
pub(crate) use orders::Limited;
pub(crate) use requests::Meddling;
pub use standing::TroubleReport;
pub(crate) use standing::Troubles;
pub use target::{Calls, Things};
pub use what::{Shortage, Spent, Tear, Trouble, TroubleId, What, When};
