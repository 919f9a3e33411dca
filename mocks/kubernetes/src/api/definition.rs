//! Definitions of custom resources: what they define is served from the moment they are stored.

use std::sync::Arc;

use serde_json::Value;

use super::Api;
use crate::custom::Definition;
use crate::store::Object;

impl Api {
    /// Serves what a definition says, and no longer what it said.
    pub(super) fn register(&self, old: Option<&Object>, object: &Object) {
        let value = object.value();
        let still_there =
            self.store().get("customresourcedefinitions.apiextensions.k8s.io", &object.key).is_some();
        if still_there && old.is_some_and(|old| old.value()["spec"] == value["spec"]) {
            return;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (group, plural) = (text(&value["spec"]["group"]), text(&value["spec"]["names"]["plural"]));
        if !still_there {
            self.reregister(|registry| registry.without(&group, &plural));
            return;
        }
        match Definition::read(&value) {
            Ok(definition) => {
                let definition = Arc::new(definition);
                self.reregister(|registry| registry.with(&definition));
            }
            Err(wrong) => tracing::error!(name = %object.key, ?wrong, "a stored definition cannot be read"),
        }
    }
}
