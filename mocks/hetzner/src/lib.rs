//! A stateful mock of the Hetzner Cloud API.
