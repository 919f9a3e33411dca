//! The administration: what the API's users cannot do and its owner can.

use std::sync::Arc;

use mock_clock::Time;

use crate::call::{Reply, Request};
use crate::engine::Engine;

/// Answers a request to the administration.
pub(crate) fn answer(_engine: &mut Engine, _now: Time, _request: &Request) -> Reply {
    Reply { status: 404, headers: Vec::new(), body: Some(Arc::new(Vec::new())) }
}
