//! A stateful mock of the Hetzner Cloud API.

mod address;
mod labels;
mod ledger;
mod limit;
mod money;
mod selector;

pub use money::{Money, MoneyError, VatRate};
