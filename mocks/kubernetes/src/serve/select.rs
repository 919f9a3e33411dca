//! Which objects a list or a watch is about.

use std::sync::Arc;

use super::query::Query;
use crate::registry::{Resource, check_field, indexed};
use crate::selector::{FieldSelector, Selector};
use crate::status::Status;
use crate::store::{Change, Object};

/// Namespace, labels and fields.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    pub(super) namespace: String,
    labels: Selector,
    fields: FieldSelector,
    /// The names of the fields that objects have indexed, in their order.
    indexed: Vec<String>,
}

/// What a change is to somebody who sees only a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Added,
    Modified,
    Deleted,
    Nothing,
}

impl Selection {
    pub(super) fn new(
        resource: &Resource,
        namespace: &str,
        name: &str,
        query: &Query,
    ) -> Result<Self, Status> {
        let labels = query.text("labelSelector").unwrap_or_default();
        let labels = labels.parse().map_err(invalid)?;
        let mut text = query.text("fieldSelector").unwrap_or_default().to_owned();
        if !name.is_empty() {
            text = format!("metadata.name={name}{}{text}", if text.is_empty() { "" } else { "," });
        }
        let selector: FieldSelector = text.parse().map_err(invalid)?;
        for field in selector.fields() {
            check_field(resource, field)?;
        }
        let indexed = indexed(resource).into_iter().map(str::to_owned).collect();
        Ok(Self { namespace: namespace.to_owned(), labels, fields: selector, indexed })
    }

    /// Whether it leaves anything out but other namespaces.
    pub(super) fn is_selective(&self) -> bool {
        !self.labels.is_everything() || !self.fields.is_empty()
    }

    /// The one name that can match, if there is one.
    pub(super) fn only(&self) -> Option<&str> {
        self.fields.exact("metadata.name").filter(|name| !name.is_empty())
    }

    pub(super) fn matches(&self, object: &Object) -> bool {
        let here = self.namespace.is_empty() || *self.namespace == *object.key.namespace;
        here && self.labels.matches(&*object.labels) && (self.fields.is_empty() || self.fields_match(object))
    }

    fn fields_match(&self, object: &Object) -> bool {
        self.fields.matches(|field| match field {
            "metadata.name" => Some(&object.key.name),
            "metadata.namespace" => Some(&object.key.namespace),
            _ => {
                let place = self.indexed.iter().position(|name| name == field)?;
                object.fields.get(place).map(AsRef::as_ref)
            }
        })
    }

    /// An object that stops matching is deleted, one that begins to is added.
    pub(super) fn see(&self, change: &Change) -> Seen {
        let did = change.old.as_ref().is_some_and(|old| self.matches(old));
        let does = !change.deleted && self.matches(&change.object);
        match (did, does) {
            (false, true) => Seen::Added,
            (true, true) => Seen::Modified,
            (true, false) => Seen::Deleted,
            (false, false) => Seen::Nothing,
        }
    }

    pub(super) fn filter(&self, objects: Vec<Arc<Object>>) -> Vec<Arc<Object>> {
        if !self.is_selective() {
            return objects;
        }
        objects.into_iter().filter(|object| self.matches(object)).collect()
    }
}

fn invalid(error: impl std::fmt::Display) -> Status {
    Status::bad_request(error.to_string())
}
