//! What is served: one table of built-in resources and the definitions that came later, as one snapshot.
//!
//! A registry is never changed. Who adds a definition makes the next registry and hands it out; requests that began
//! before keep the one they have. Discovery and `OpenAPI` are views of it.

mod discovery;
mod fields;
mod openapi;
mod priority;
mod resource;
mod table;

use std::sync::Arc;

use crate::custom::{Definition, Version};

pub(crate) use discovery::{AGGREGATED_TYPE, entity_tag};
pub(crate) use fields::{check_field, indexed, values};
pub(crate) use openapi::{V2_PROTOBUF, V2_PROTOBUF_ASKED, encode_v2};
pub(crate) use priority::compare as compare_versions;
pub(crate) use resource::{Resource, Subresource, api_version};

/// All that is served at one moment. Cloning copies one pointer per group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registry {
    groups: Vec<Arc<Group>>,
}

/// A group, the preferred version first.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Empty for the core group.
    pub(crate) name: String,
    pub(crate) versions: Vec<GroupVersion>,
    built_in: bool,
}

/// The resources of one version, by name.
#[derive(Clone, Debug)]
pub(crate) struct GroupVersion {
    pub(crate) name: String,
    pub(crate) resources: Vec<Arc<Resource>>,
}

impl Group {
    /// Whether it is more than what definitions made of it.
    pub(crate) fn is_built_in(&self) -> bool {
        self.built_in
    }
}

impl Registry {
    /// What a server serves before anybody has defined anything.
    pub(crate) fn built_in() -> Self {
        let mut registry = Self::default();
        for resource in table::built_in() {
            registry.insert(resource, true);
        }
        registry
    }

    /// This registry and the served versions of one more definition; an earlier one of its name is replaced.
    pub(crate) fn with(&self, definition: &Arc<Definition>) -> Self {
        let mut registry = self.without(&definition.group, &definition.names.plural);
        for version in definition.versions.iter().filter(|version| version.served) {
            registry.insert(defined(definition, version), false);
        }
        registry
    }

    /// This registry without a definition's resource. Built-in resources stay.
    pub(crate) fn without(&self, group: &str, plural: &str) -> Self {
        let mut registry = self.clone();
        if let Some(found) = registry.groups.iter_mut().find(|found| found.name == group) {
            let found = Arc::make_mut(found);
            for version in &mut found.versions {
                version.resources.retain(|resource| resource.custom.is_none() || resource.plural != plural);
            }
            found.versions.retain(|version| !version.resources.is_empty());
        }
        registry.groups.retain(|group| !group.versions.is_empty());
        registry
    }

    /// All groups in discovery's order, the core group first.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().map(AsRef::as_ref)
    }

    pub(crate) fn group(&self, name: &str) -> Option<&Group> {
        self.groups().find(|group| group.name == name)
    }

    /// The resources of one version of a group.
    pub(crate) fn version(&self, group: &str, version: &str) -> Option<&[Arc<Resource>]> {
        let found = self.group(group)?.versions.iter().find(|found| found.name == version)?;
        Some(&found.resources)
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.version(group, version)?.iter().find(|resource| resource.plural == plural)
    }

    pub(crate) fn by_kind(&self, group: &str, version: &str, kind: &str) -> Option<&Arc<Resource>> {
        self.version(group, version)?.iter().find(|resource| resource.kind == kind)
    }

    /// One resource in all its served versions, the preferred one first.
    #[cfg(test)]
    pub(crate) fn versions_of(&self, group: &str, plural: &str) -> Vec<&Arc<Resource>> {
        let versions = self.group(group).into_iter().flat_map(|group| &group.versions);
        versions.filter_map(|version| version.resources.iter().find(|found| found.plural == plural)).collect()
    }

    /// Every resource in every version.
    pub(crate) fn resources(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.groups().flat_map(|group| &group.versions).flat_map(|version| &version.resources)
    }

    fn insert(&mut self, resource: Resource, built_in: bool) {
        let group = self.group_mut(&resource.group, built_in);
        let place =
            group.versions.binary_search_by(|found| priority::compare(&found.name, &resource.version));
        let place = place.unwrap_or_else(|place| {
            let version = GroupVersion { name: resource.version.clone(), resources: Vec::new() };
            group.versions.insert(place, version);
            place
        });
        let resources = &mut group.versions[place].resources;
        let place = resources.partition_point(|found| found.plural <= resource.plural);
        resources.insert(place, Arc::new(resource));
    }

    /// The group of this name. Built-in groups keep the table's order, the others follow by the alphabet.
    fn group_mut(&mut self, name: &str, built_in: bool) -> &mut Group {
        let place = self.groups.iter().position(|group| group.name == name).unwrap_or_else(|| {
            let after = |group: &Arc<Group>| built_in || group.built_in || group.name.as_str() < name;
            let place = self.groups.partition_point(after);
            let group = Group { name: name.to_owned(), versions: Vec::new(), built_in };
            self.groups.insert(place, Arc::new(group));
            place
        });
        Arc::make_mut(&mut self.groups[place])
    }
}

impl Group {
    /// The version that clients take if they are free to choose.
    pub(crate) fn preferred(&self) -> Option<&GroupVersion> {
        self.versions.first()
    }
}

/// The resource that one version of a definition makes.
fn defined(definition: &Arc<Definition>, version: &Arc<Version>) -> Resource {
    let names = &definition.names;
    let part = |name: &str, group: &str, version: &str, kind: &str| Subresource {
        name: name.to_owned(),
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        verbs: vec!["get", "patch", "update"],
        simulated: true,
    };
    let mut subresources = Vec::new();
    if version.status {
        subresources.push(part("status", &definition.group, &version.name, &names.kind));
    }
    if version.scale.is_some() {
        subresources.push(part("scale", "autoscaling", "v1", "Scale"));
    }
    Resource {
        group: definition.group.clone(),
        version: version.name.clone(),
        plural: names.plural.clone(),
        singular: names.singular.clone(),
        kind: names.kind.clone(),
        list_kind: names.list_kind.clone(),
        short_names: names.short_names.clone(),
        categories: names.categories.clone(),
        namespaced: definition.namespaced,
        verbs: vec!["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
        subresources,
        shelf: table::shelf(&definition.group, &names.plural),
        custom: Some((Arc::clone(definition), Arc::clone(version))),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A definition of cluster-wide gadgets with these versions, the first stored; one that begins with `-` is not
    /// served.
    pub(crate) fn gadgets(group: &str, versions: &[&str]) -> Arc<Definition> {
        Arc::new(Definition::read(&gadgets_as_json(group, versions)).unwrap())
    }

    pub(crate) fn gadgets_as_json(group: &str, versions: &[&str]) -> Value {
        let version = |name: &&str| {
            json!({
                "name": name.trim_start_matches('-'),
                "served": !name.starts_with('-'),
                "storage": *name == versions[0],
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": {"type": "object", "properties": {"colour": {"type": "string"}}},
                        "status": {"type": "object"},
                    },
                }},
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
                },
                "selectableFields": [{"jsonPath": ".spec.colour"}],
            })
        };
        json!({
            "metadata": {"name": format!("gadgets.{group}")},
            "spec": {
                "group": group,
                "scope": "Cluster",
                "names": {
                    "plural": "gadgets",
                    "singular": "gadget",
                    "kind": "Gadget",
                    "listKind": "GadgetList",
                    "shortNames": ["gg"],
                },
                "versions": versions.iter().map(version).collect::<Vec<_>>(),
            },
        })
    }

    fn group_names(registry: &Registry) -> Vec<&str> {
        registry.groups().map(|group| group.name.as_str()).collect()
    }

    #[test]
    fn built_in_resources_are_found_by_name_and_by_kind() {
        let registry = Registry::built_in();
        assert_eq!(registry.find("apps", "v1", "deployments").unwrap().kind, "Deployment");
        assert_eq!(registry.by_kind("", "v1", "Pod").unwrap().plural, "pods");
        assert!(registry.find("apps", "v2", "deployments").is_none());
        assert_eq!(group_names(&registry)[..3], ["", "apiregistration.k8s.io", "apps"]);
        assert_eq!(registry.group("autoscaling").unwrap().preferred().unwrap().name, "v2");
        let scalers = registry.versions_of("autoscaling", "horizontalpodautoscalers");
        assert_eq!(scalers.iter().map(|found| found.version.as_str()).collect::<Vec<_>>(), ["v2", "v1"]);
    }

    #[test]
    fn definitions_come_and_go_and_old_snapshots_stay() {
        let before = Registry::built_in();
        let after = before.with(&gadgets("b.example.com", &["v1alpha1", "-v3", "v1", "v1beta1"]));
        assert!(before.group("b.example.com").is_none());
        let versions = after.versions_of("b.example.com", "gadgets");
        let names: Vec<_> = versions.iter().map(|found| found.version.as_str()).collect();
        assert_eq!(names, ["v1", "v1beta1", "v1alpha1"]);
        assert_eq!(versions[0].subresource("scale").unwrap().group, "autoscaling");

        let both = after.with(&gadgets("a.example.com", &["v1"]));
        assert_eq!(group_names(&both).last_chunk(), Some(&["a.example.com", "b.example.com"]));

        let fewer = both.with(&gadgets("b.example.com", &["v2"]));
        assert_eq!(fewer.versions_of("b.example.com", "gadgets").len(), 1);
        let none = fewer.without("a.example.com", "gadgets").without("b.example.com", "gadgets");
        assert_eq!(group_names(&none), group_names(&before));
    }

    #[test]
    fn a_definition_may_join_a_built_in_group_and_leaves_the_rest_alone() {
        let built_in = Registry::built_in();
        let joined = built_in.with(&gadgets("node.k8s.io", &["v1", "v2"]));
        assert_eq!(joined.group("node.k8s.io").unwrap().preferred().unwrap().name, "v2");
        let left = joined.without("node.k8s.io", "gadgets").without("node.k8s.io", "runtimeclasses");
        assert!(left.find("node.k8s.io", "v1", "runtimeclasses").is_some());
        assert_eq!(left.resources().count(), built_in.resources().count());
    }
}
