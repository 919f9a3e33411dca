//! What a client asks first: which groups, versions and resources there are.
//!
//! Two forms of the same registry: the documents per group and version, and the aggregated ones. It does not negotiate
//! which of them was asked for. The aggregated form is for those who asked for exactly `v=v2`: older clients that
//! asked for `v2beta1` misread it without a word.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::{Group, GroupVersion, Registry, Resource, Subresource, api_version};

/// The content type of the aggregated documents.
pub(crate) const AGGREGATED_TYPE: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

impl Registry {
    /// `/api`: the versions of the core group, and where this server is (`127.0.0.1:6443`).
    pub(crate) fn core_versions(&self, address: &str) -> Value {
        let versions = self.group("").map(|group| &group.versions[..]).unwrap_or_default();
        json!({
            "kind": "APIVersions",
            "versions": versions.iter().map(|version| version.name.as_str()).collect::<Vec<_>>(),
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
        })
    }

    /// `/apis`: the named groups.
    pub(crate) fn group_list(&self) -> Value {
        let groups: Vec<Value> = self.named_groups().map(group_value).collect();
        json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    }

    /// `/apis/{group}`.
    pub(crate) fn group_document(&self, group: &str) -> Option<Value> {
        let mut document = group_value(self.named_groups().find(|found| found.name == group)?);
        document["kind"] = "APIGroup".into();
        document["apiVersion"] = "v1".into();
        Some(document)
    }

    /// `/api/{version}` for the empty group, `/apis/{group}/{version}` for the others.
    pub(crate) fn resource_list(&self, group: &str, version: &str) -> Option<Value> {
        let resources = self.version(group, version)?;
        let listed: Vec<Value> = resources.iter().flat_map(|resource| listed(resource)).collect();
        let mut list = json!({
            "kind": "APIResourceList",
            "groupVersion": api_version(group, version),
            "resources": listed,
        });
        if !group.is_empty() {
            list["apiVersion"] = "v1".into();
        }
        Some(list)
    }

    /// `/api` in the aggregated form.
    pub(crate) fn aggregated_core(&self) -> Value {
        aggregated(self.groups().filter(|group| group.name.is_empty()))
    }

    /// `/apis` in the aggregated form.
    pub(crate) fn aggregated_groups(&self) -> Value {
        aggregated(self.named_groups())
    }

    fn named_groups(&self) -> impl Iterator<Item = &Group> {
        self.groups().filter(|group| !group.name.is_empty())
    }
}

/// The entity tag of a document, quotes included: the same text has the same tag.
pub(crate) fn entity_tag(document: &[u8]) -> String {
    format!("\"{:016X}\"", fingerprint(document))
}

/// 64 bits that tell one text from another: FNV-1a. Nothing here is a secret.
pub(super) fn fingerprint(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn group_value(group: &Group) -> Value {
    let version = |version: &GroupVersion| json!({"groupVersion": api_version(&group.name, &version.name), "version": version.name});
    json!({
        "name": group.name,
        "versions": group.versions.iter().map(version).collect::<Vec<_>>(),
        "preferredVersion": group.preferred().map(version),
    })
}

/// What tells clients whether objects are stored in another version than before.
fn storage_hash(resource: &Resource) -> String {
    let stored = match &resource.custom {
        Some((definition, _)) => definition.storage().map_or("", |version| &version.name),
        None => match (resource.group.as_str(), resource.kind.as_str()) {
            ("autoscaling", _) => "v2",
            ("apiextensions.k8s.io", _) => "v1beta1",
            _ => &resource.version,
        },
    };
    let group = if resource.shelf == "events" { "" } else { &resource.group };
    let name = format!("{group}/{stored}/{}", resource.kind);
    let hash = ring::digest::digest(&ring::digest::SHA256, name.as_bytes());
    BASE64_STANDARD.encode(&hash.as_ref()[..8])
}

/// A resource and its subresources, as the list of one version has them.
fn listed(resource: &Resource) -> Vec<Value> {
    let mut main = json!({
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": resource.verbs,
    });
    add_names(&mut main, resource);
    if resource.allows("watch") {
        main["storageVersionHash"] = storage_hash(resource).into();
    }
    let mut all = vec![main];
    all.extend(resource.subresources.iter().map(|part| {
        let mut value = json!({
            "name": format!("{}/{}", resource.plural, part.name),
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": part.kind,
            "verbs": part.verbs,
        });
        if is_foreign(resource, part) {
            value["group"] = part.group.as_str().into();
            value["version"] = part.version.as_str().into();
        }
        value
    }));
    all
}

fn aggregated<'a>(groups: impl Iterator<Item = &'a Group>) -> Value {
    let items: Vec<Value> = groups
        .map(|group| {
            let metadata = if group.name.is_empty() { json!({}) } else { json!({"name": group.name}) };
            let versions: Vec<Value> = group.versions.iter().map(aggregated_version).collect();
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn aggregated_version(version: &GroupVersion) -> Value {
    let resources: Vec<Value> = version.resources.iter().map(|found| aggregated_resource(found)).collect();
    json!({"version": version.name, "resources": resources, "freshness": "Current"})
}

fn aggregated_resource(resource: &Resource) -> Value {
    let mut value = json!({
        "resource": resource.plural,
        "responseKind": response_kind(resource, &resource.group, &resource.version, &resource.kind),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    });
    add_names(&mut value, resource);
    if !resource.subresources.is_empty() {
        let parts = resource.subresources.iter().map(|part| {
            json!({
                "subresource": part.name,
                "responseKind": response_kind(resource, &part.group, &part.version, &part.kind),
                "verbs": part.verbs,
            })
        });
        value["subresources"] = parts.collect();
    }
    value
}

/// A built-in kind of the group and version where it is listed leaves both empty: clients fill them in.
fn response_kind(resource: &Resource, group: &str, version: &str, kind: &str) -> Value {
    let at_home = resource.custom.is_none() && group == resource.group && version == resource.version;
    let (group, version) = if at_home { ("", "") } else { (group, version) };
    json!({"group": group, "version": version, "kind": kind})
}

fn is_foreign(resource: &Resource, part: &Subresource) -> bool {
    (&part.group, &part.version) != (&resource.group, &resource.version)
}

fn add_names(value: &mut Value, resource: &Resource) {
    for (key, names) in [("shortNames", &resource.short_names), ("categories", &resource.categories)] {
        if !names.is_empty() {
            value[key] = names.as_slice().into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::gadgets;
    use super::*;

    fn named<'a>(list: &'a Value, key: &str, name: &str) -> &'a Value {
        list.as_array().unwrap().iter().find(|entry| entry[key] == name).unwrap()
    }

    #[test]
    fn evictions_are_listed_with_their_group() {
        let list = Registry::built_in().resource_list("", "v1").unwrap();
        assert_eq!(list["groupVersion"], "v1");
        let eviction = named(&list["resources"], "name", "pods/eviction");
        assert_eq!((&eviction["group"], &eviction["version"]), (&json!("policy"), &json!("v1")));
        let pods = named(&list["resources"], "name", "pods");
        assert_eq!(pods["shortNames"], json!(["po"]));
        assert!(pods.get("group").is_none());
        assert_eq!(pods["storageVersionHash"].as_str().unwrap().len(), 12);
        assert!(named(&list["resources"], "name", "bindings").get("storageVersionHash").is_none());
    }

    #[test]
    fn groups_say_what_they_prefer() {
        let registry = Registry::built_in().with(&gadgets("example.com", &["v1beta1", "v1"]));
        let group = registry.group_document("example.com").unwrap();
        assert_eq!(group["preferredVersion"]["groupVersion"], "example.com/v1");
        assert_eq!(group["versions"][1]["version"], "v1beta1");
        assert_eq!(
            registry.group_list()["groups"].as_array().unwrap().last().unwrap()["name"],
            "example.com"
        );
        assert!(registry.group_document("").is_none() && registry.group_document("none").is_none());
        assert!(registry.resource_list("example.com", "v2").is_none());
        assert_eq!(registry.core_versions("127.0.0.1:1")["versions"], json!(["v1"]));
    }

    #[test]
    fn the_aggregated_form_has_the_same_resources() {
        let registry = Registry::built_in().with(&gadgets("example.com", &["v1"]));
        let (core, groups) = (registry.aggregated_core(), registry.aggregated_groups());
        assert_eq!(core["items"].as_array().unwrap().len(), 1);
        let apps = &groups["items"][1];
        assert_eq!(apps["metadata"]["name"], "apps");
        let deployments = named(&apps["versions"][0]["resources"], "resource", "deployments");
        assert_eq!(deployments["responseKind"], json!({"group": "", "version": "", "kind": "Deployment"}));
        assert_eq!(deployments["subresources"][0]["responseKind"]["group"], "autoscaling");
        let last = &groups["items"].as_array().unwrap().last().unwrap()["versions"][0]["resources"][0];
        assert_eq!(last["responseKind"], json!({"group": "example.com", "version": "v1", "kind": "Gadget"}));
        assert_eq!(last["scope"], "Cluster");
    }

    #[test]
    fn the_tag_changes_with_the_registry() {
        let registry = Registry::built_in();
        let tag = |registry: &Registry| entity_tag(registry.aggregated_groups().to_string().as_bytes());
        assert_eq!(tag(&registry), tag(&Registry::built_in()));
        assert_ne!(tag(&registry), tag(&registry.with(&gadgets("example.com", &["v1"]))));
    }
}
