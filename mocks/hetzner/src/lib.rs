//! A stateful mock of the Hetzner Cloud API.

mod money;

pub use money::{Money, MoneyError, VatRate};
