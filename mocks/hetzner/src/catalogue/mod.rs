//! What is for sale.

use std::time::Duration;

/// What is for sale.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Catalogue {
    pub(crate) limits: Limits,
}
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Limits {
    pub(crate) servers: u64,
    pub(crate) cores: u64,
    pub(crate) primary_ips: u64,
}
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Location {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) network_zone: String,
}
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServerType {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) cores: u32,
    pub(crate) disk: u64,
}
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Iso {
    pub(crate) id: u64,
    pub(crate) name: String,
}
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Timing {
    pub(crate) mean: Duration,
    pub(crate) spread: Duration,
}
impl ServerType {
    pub(crate) fn included_traffic(&self, _location: &str) -> u64 {
        0
    }
}
impl Catalogue {
    pub(crate) fn timing(&self, _command: &str) -> Timing {
        Timing { mean: Duration::from_secs(6), spread: Duration::from_secs(2) }
    }
    pub(crate) fn server_type(&self, _name: &str) -> Option<&ServerType> {
        None
    }
    pub(crate) fn location(&self, _name: &str) -> Option<&Location> {
        None
    }
    pub(crate) fn iso(&self, _name: &str) -> Option<&Iso> {
        None
    }
}
impl Catalogue {
    pub fn builtin() -> Self {
        Self::default()
    }
}
