//! The third version: an index, and one document per group and version.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::super::discovery::fingerprint;
use super::super::{GroupVersion, Registry, api_version};
use super::components::{Components, Dialect};
use super::{RELEASE, TITLE, paths};

impl Registry {
    /// `/openapi/v3`: where the documents are. Addresses change with what they lead to, so that clients may keep what
    /// they have.
    pub(crate) fn openapi_index(&self) -> Value {
        let mut paths = Map::new();
        for group in self.groups() {
            for version in &group.versions {
                let root = if group.name.is_empty() { "api" } else { "apis" };
                let path = format!("{root}/{}", api_version(&group.name, &version.name));
                let hash = hash(version);
                let address = format!("/openapi/v3/{path}?hash={hash:016X}");
                paths.insert(path, json!({"serverRelativeURL": address}));
            }
        }
        json!({"paths": paths})
    }

    /// `/openapi/v3/api/{version}` for the empty group, `/openapi/v3/apis/{group}/{version}` for the others.
    pub(crate) fn openapi_document(&self, group: &str, version: &str) -> Option<Value> {
        let resources = self.version(group, version)?;
        let resources = || resources.iter().map(AsRef::as_ref);
        Some(json!({
            "openapi": "3.0.0",
            "info": {"title": TITLE, "version": RELEASE},
            "paths": paths::of(Dialect::V3, resources()),
            "components": {"schemas": Components::of(Dialect::V3, resources())},
        }))
    }
}

/// Tells one content of a document from another, without making the document.
fn hash(version: &GroupVersion) -> u64 {
    let mut text = String::new();
    for resource in &version.resources {
        text.push_str(&resource.plural);
        if let Some((definition, version)) = &resource.custom {
            let scope = (definition.namespaced, version.status, version.scale.is_some());
            let _ = write!(text, "{:?}{scope:?}{}", definition.names, version.schema);
        }
    }
    fingerprint(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::gadgets;
    use super::*;

    #[test]
    fn a_patch_says_its_kind_and_takes_field_validation() {
        let registry = Registry::built_in().with(&gadgets("example.com", &["v1"]));
        let apps = registry.openapi_document("apps", "v1").unwrap();
        let path = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}";
        let patch = &apps["paths"][path]["patch"];
        assert_eq!(
            patch["x-kubernetes-group-version-kind"],
            json!({"group": "apps", "version": "v1", "kind": "Deployment"})
        );
        let takes =
            |name: &str| patch["parameters"].as_array().unwrap().iter().any(|one| one["name"] == name);
        assert!(takes("fieldValidation") && takes("dryRun") && !takes("limit"));
        let scale = &apps["paths"][format!("{path}/scale")]["get"]["x-kubernetes-group-version-kind"];
        assert_eq!(scale["kind"], "Scale");

        let strategic = "application/strategic-merge-patch+json";
        assert!(patch["requestBody"]["content"].get(strategic).is_some());
        let custom = registry.openapi_document("example.com", "v1").unwrap();
        let patch = &custom["paths"]["/apis/example.com/v1/gadgets/{name}"]["patch"];
        assert!(patch["requestBody"]["content"].get(strategic).is_none());
        assert!(registry.openapi_document("none", "v1").is_none());
    }

    #[test]
    fn what_is_not_simulated_has_no_path() {
        let core = Registry::built_in().openapi_document("", "v1").unwrap();
        let paths = core["paths"].as_object().unwrap();
        assert!(paths.contains_key("/api/v1/namespaces/{namespace}/pods/{name}/eviction"));
        assert!(!paths.keys().any(|path| path.ends_with("/log") || path.ends_with("/proxy")));
    }

    #[test]
    fn an_address_changes_with_its_document_only() {
        let built_in = Registry::built_in();
        let one = built_in.with(&gadgets("example.com", &["v1"])).openapi_index();
        let two = built_in.with(&gadgets("example.org", &["v1"])).openapi_index();
        assert_eq!(one["paths"]["apis/apps/v1"], two["paths"]["apis/apps/v1"]);
        let address = one["paths"]["api/v1"]["serverRelativeURL"].as_str().unwrap();
        assert!(address.starts_with("/openapi/v3/api/v1?hash="), "{address}");
        assert!(two["paths"].get("apis/example.com/v1").is_none());
    }
}
