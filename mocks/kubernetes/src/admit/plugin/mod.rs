//! The admission plugins a real server runs by default, as far as they change what autoscalers see.
//!
//! Not here: service account tokens in pods, pod security levels, resource quotas, certificates, webhooks.

mod class;
mod limit_range;
mod namespace;
mod node;
mod pod;
mod priority;
mod runtime;

use std::sync::Arc;

use serde_json::Value;

use super::read::{deep, text};
use crate::status::{Name, Status};

/// Sentences for the client that do not stop its request.
pub(crate) type Warnings = Vec<String>;

/// The other objects of the server. `namespace` is empty for kinds outside namespaces.
pub(crate) trait Shelf {
    fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<Arc<Value>>;
    /// All objects of a kind in one namespace, or everywhere if the kind has no namespaces.
    fn list(&self, kind: &str, namespace: &str) -> Vec<Arc<Value>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Create,
    Update,
    Delete,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) verb: Verb,
    pub(crate) group: &'a str,
    pub(crate) kind: &'a str,
    /// The plural, as errors call it.
    pub(crate) resource: &'a str,
    /// Empty for the object itself.
    pub(crate) subresource: &'a str,
    pub(crate) namespace: &'a str,
    /// Empty while a name has not been generated.
    pub(crate) name: &'a str,
}

impl Request<'_> {
    /// The answer of a plugin that refuses.
    fn forbidden(&self, object: &Value, why: &str) -> Status {
        let of = |field: &str| deep(object, &["metadata", field]).and_then(Value::as_str).unwrap_or_default();
        let names = [self.name, of("name"), of("generateName"), "Unknown"];
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        Status::forbidden(Name { group: self.group, resource: self.resource }, name, why)
    }
}

/// Runs the plugins that may change the object. For a delete, `object` is the stored one and stays as it is.
pub(crate) fn admit(
    request: &Request<'_>,
    object: &mut Value,
    old: Option<&Value>,
    shelf: &dyn Shelf,
) -> Result<Warnings, Status> {
    namespace::lifecycle(request, object, shelf)?;
    if request.verb == Verb::Delete {
        return Ok(Warnings::new());
    }
    match (request.group, request.kind, request.subresource, request.verb) {
        ("", "Pod", "", Verb::Create) => {
            limit_range::fill(request, object, shelf);
            priority::resolve(request, object, shelf)?;
            pod::tolerations(object);
            runtime::overhead(request, object, shelf)?;
            pod::topology_labels(object, shelf);
            return Ok(pod::warnings(object));
        }
        ("", "Pod", "", Verb::Update) => {
            if let Some(old) = old {
                priority::keep(object, old);
            }
            pod::tolerations(object);
        }
        ("", _, "binding", Verb::Create) => pod::binding_labels(object, shelf),
        ("", "Node", "", Verb::Create) => node::not_ready(object),
        ("", "PersistentVolumeClaim", "", Verb::Create) => {
            class::storage(object, shelf);
            class::protect(object, "kubernetes.io/pvc-protection");
        }
        ("", "PersistentVolume", "", Verb::Create) => class::protect(object, "kubernetes.io/pv-protection"),
        ("storage.k8s.io", "VolumeAttributesClass", "", Verb::Create) => {
            class::protect(object, "kubernetes.io/vac-protection");
        }
        ("networking.k8s.io", "Ingress", "", Verb::Create) => class::ingress(object, shelf),
        _ => {}
    }
    Ok(Warnings::new())
}

/// Runs the plugins that judge the object as it would be stored.
pub(crate) fn review(
    request: &Request<'_>,
    object: &Value,
    old: Option<&Value>,
    shelf: &dyn Shelf,
) -> Result<(), Status> {
    match (request.group, request.kind, request.subresource, request.verb) {
        ("", "Pod", "", Verb::Create) => {
            limit_range::judge_pod(request, object, shelf)?;
            runtime::judge(request, object, shelf)
        }
        ("", "Pod", "resize", Verb::Update) => limit_range::judge_pod(request, object, shelf),
        ("", "PersistentVolumeClaim", "", Verb::Create) => limit_range::judge_claim(request, object, shelf),
        ("", "PersistentVolumeClaim", "", Verb::Update) => {
            limit_range::judge_claim(request, object, shelf)?;
            old.map_or(Ok(()), |old| class::judge_growth(request, object, old, shelf))
        }
        ("scheduling.k8s.io", "PriorityClass", "", Verb::Create | Verb::Update) => {
            priority::judge_class(request, object, shelf)
        }
        _ => Ok(()),
    }
}

/// The name an object has.
fn name_of(object: &Value) -> &str {
    object.get("metadata").map_or("", |metadata| text(metadata, "name"))
}
