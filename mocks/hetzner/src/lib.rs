//! A stateful mock of the Hetzner Cloud API.

mod labels;
mod limit;
mod selector;
