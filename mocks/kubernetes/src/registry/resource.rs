//! One resource in one version: what it is called, what may be done with it, where its objects lie.
//!
//! A plain value. Who makes it: the table of built-in resources, or a definition.

use std::sync::Arc;

use crate::custom::{Definition, Version};
use crate::status::Name;

/// A resource in one version of its group.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// Empty for the core group.
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    /// As discovery lists them: `get`, `deletecollection`, …
    pub(crate) verbs: Vec<&'static str>,
    pub(crate) subresources: Vec<Subresource>,
    /// Whose objects these are: the same for all versions, and for the two groups that show one store of events.
    pub(crate) shelf: String,
    /// The definition and the version of it that made this resource.
    pub(crate) custom: Option<(Arc<Definition>, Arc<Version>)>,
}

/// A part of an object, or an action on it, with its own path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subresource {
    pub(crate) name: String,
    /// The group, version and kind of its bodies.
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) verbs: Vec<&'static str>,
    /// A real server has it, this one answers 501 if false.
    pub(crate) simulated: bool,
}

impl Resource {
    /// `apps/v1`, or `v1` in the core group.
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// As errors call it.
    pub(crate) fn name(&self) -> Name<'_> {
        Name { group: &self.group, resource: &self.plural }
    }

    /// Whether discovery lists the verb.
    pub(crate) fn allows(&self, verb: &str) -> bool {
        self.verbs.contains(&verb)
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }
}

impl Subresource {
    pub(crate) fn allows(&self, verb: &str) -> bool {
        self.verbs.contains(&verb)
    }
}

/// Group and version as objects write them.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
