//! The second version: one document for everything.

use serde_json::{Value, json};

use super::super::Registry;
use super::components::{Components, Dialect};
use super::{RELEASE, TITLE, paths};

impl Registry {
    /// `/openapi/v2`.
    pub(crate) fn openapi_v2(&self) -> Value {
        let resources = || self.resources().map(AsRef::as_ref);
        json!({
            "swagger": "2.0",
            "info": {"title": TITLE, "version": RELEASE},
            "paths": paths::of(Dialect::V2, resources()),
            "definitions": Components::of(Dialect::V2, resources()),
        })
    }
}
