//! A stateful mock of the Hetzner Cloud API.

mod address;
mod labels;
mod limit;
mod selector;
