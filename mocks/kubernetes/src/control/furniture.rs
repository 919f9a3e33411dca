//! What every namespace has: its default service account, and the certificate by which its pods know the server.

use std::sync::Arc;

use serde_json::{Value, json};

use super::amend::{amend, resource};
use super::frame::{Controller, Next};
use super::queue::Queue;
use crate::api::{Api, Write};
use crate::status::Status;
use crate::store::{Change, Key};

const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal \
    endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across \
    distributions of Kubernetes clusters.";

/// Keeps one object in each namespace.
pub(super) struct Furnisher {
    manager: &'static str,
    shelf: &'static str,
    name: &'static str,
    object: Arc<Value>,
}

impl Furnisher {
    pub(super) fn service_account() -> Self {
        Self {
            manager: "service-account-controller",
            shelf: "serviceaccounts",
            name: "default",
            object: Arc::new(json!({"metadata": {"name": "default"}})),
        }
    }

    pub(super) fn root_ca(pem: &str) -> Self {
        let name = "kube-root-ca.crt";
        Self {
            manager: "root-ca-cert-publisher",
            shelf: "configmaps",
            name,
            object: Arc::new(json!({
                "metadata": {"name": name, "annotations": {"kubernetes.io/description": DESCRIPTION}},
                "data": {"ca.crt": pem},
            })),
        }
    }
}

impl Controller for Furnisher {
    /// The name of a namespace.
    type Item = String;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<String>) {
        let key = &change.object.key;
        if shelf == "namespaces" {
            if change.old.is_none() {
                queue.add(key.name.to_string());
            }
        } else if &*key.name == self.name && (change.deleted || change.old.is_some()) {
            queue.add(key.namespace.to_string());
        }
    }

    fn reconcile(&mut self, api: &Api, namespace: &String) -> Result<Next, Status> {
        let alive = api.store().get("namespaces", &Key::new("", namespace));
        if alive.is_none_or(|namespace| namespace.deleting) {
            return Ok(Next::Done);
        }
        let key = Key::new(namespace, self.name);
        if api.store().get(self.shelf, &key).is_some() {
            if self.object["data"].is_object() {
                amend(api, (self.shelf, &key, ""), self.manager, |object| {
                    object["data"] = self.object["data"].clone();
                })?;
            }
            return Ok(Next::Done);
        }
        if let Some(resource) = resource(api, self.shelf) {
            let made = api.create(&resource, namespace, (*self.object).clone(), &Write::by(self.manager));
            made.map(|_| ()).or_else(|status| if status.code == 409 { Ok(()) } else { Err(status) })?;
        }
        Ok(Next::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::Rig;
    use super::*;
    use crate::api::Delete;

    #[tokio::test]
    async fn every_namespace_has_its_account_and_certificate() {
        let mut rig = Rig::new();
        rig.start("a", &["namespaces", "serviceaccounts"], Furnisher::service_account);
        rig.start("b", &["namespaces", "configmaps"], || Furnisher::root_ca("PEM"));
        rig.put("namespaces", "", json!({"metadata": {"name": "x"}}));
        rig.settle().await;
        for namespace in ["default", "x"] {
            assert!(rig.get("serviceaccounts", namespace, "default").is_some());
            assert_eq!(
                rig.get("configmaps", namespace, "kube-root-ca.crt").unwrap()["data"]["ca.crt"],
                "PEM"
            );
        }
        rig.delete("serviceaccounts", "x", "default", Delete::background());
        rig.edit("configmaps", "x", "kube-root-ca.crt", "", |map| map["data"] = json!({}));
        rig.settle().await;
        assert!(rig.get("serviceaccounts", "x", "default").is_some());
        assert_eq!(rig.get("configmaps", "x", "kube-root-ca.crt").unwrap()["data"]["ca.crt"], "PEM");
    }
}
