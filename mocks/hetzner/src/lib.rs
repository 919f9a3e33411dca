//! A stateful mock of the Hetzner Cloud API.

pub mod catalogue;
mod money;

pub use catalogue::{Catalogue, CatalogueError};
pub use money::{Money, MoneyError, VatRate};
