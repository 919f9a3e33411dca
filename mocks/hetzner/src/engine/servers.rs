//! The servers as they are, for whoever owns the engine: no request, so no limit counts it and no trouble bends it.

use std::collections::BTreeMap;

use mock_clock::Time;
use serde::Serialize;

use crate::engine::Engine;
use crate::resource::server::{Server, Status};

/// A server at a glance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Glance<'a> {
    /// Its id.
    pub id: u64,
    /// Its name.
    pub name: &'a str,
    /// What it does at the moment.
    pub status: Status,
    /// Its type, such as `cx33`.
    pub server_type: &'a str,
    /// Where it is.
    pub location: &'a str,
    /// When it was created.
    pub since: Time,
    /// Its labels.
    pub labels: &'a BTreeMap<String, String>,
}

impl Engine {
    /// All servers, by id.
    pub fn servers(&self) -> impl Iterator<Item = Glance<'_>> {
        self.project.servers.all().map(glance)
    }
}

fn glance(server: &Server) -> Glance<'_> {
    Glance {
        id: server.head.id,
        name: &server.head.name,
        status: server.status,
        server_type: &server.server_type,
        location: &server.location,
        since: server.head.created,
        labels: &server.head.labels,
    }
}
