//! What the server does to a built-in object before it is stored: defaults, admission, preparation, validation.
//!
//! The order of a write: [`default()`] after decoding, [`admit`] (the plugins that change), [`for_create`] or
//! [`for_update`] (what a client cannot set), [`allocate`] for services, [`validate()`], and [`review`] (the plugins that only judge).
//! Everything is a function of the values given; what stands elsewhere is asked of a [`Shelf`]. Custom resources,
//! webhooks and quotas are not handled here.

mod addresses;
#[cfg(test)]
mod cases;
mod default;
mod names;
mod nature;
mod path;
mod plugin;
mod prepare;
mod quantities;
mod read;
mod same;
mod service;
mod validate;
mod warn;

pub(crate) use default::default;
pub(crate) use nature::nature;
pub(crate) use plugin::{Request, Shelf, Verb, admit, review};
pub(crate) use prepare::{class_of_service, for_create, for_update};
pub(crate) use service::allocate;
pub(crate) use validate::{validate, validate_metadata};
pub(crate) use warn::warnings;
