//! Tokens of service accounts: for whom, for how long, and bound to what.

use std::time::Duration;

use hyper::Response;
use serde_json::{Value, json};

use super::Call;
use crate::api::Target;
use crate::listen::{Body, Claims, ISSUER, User};
use crate::status::{Name, Status, Wrong};
use crate::store::Object;

const GROUP: &str = "authentication.k8s.io";
const KIND: &str = "TokenRequest";
const SECONDS_MIN: i64 = 600;
const SECONDS_MAX: i64 = 1 << 32;

impl Call<'_> {
    /// A token for a service account.
    pub(super) fn token(&self) -> Result<Response<Body>, Status> {
        let mut request = self.typed_body(GROUP, "v1", KIND)?;
        let target = Target { subresource: "", ..self.target() };
        self.check_names(&request, target.name)?;
        let account = self.api.get(&target).ok_or_else(|| target.not_found())?;
        let (namespace, name) = (&*account.key.namespace, &*account.key.name);
        let seconds = lifetime(&request["spec"])?;
        let audiences: Vec<String> =
            serde_json::from_value(request["spec"]["audiences"].take()).unwrap_or_default();
        let audiences = if audiences.is_empty() { vec![ISSUER.to_owned()] } else { audiences };
        let mut bound =
            json!({"namespace": namespace, "serviceaccount": {"name": name, "uid": &*account.uid}});
        self.bind_token(&request["spec"]["boundObjectRef"], name, &mut bound)?;
        let now = self.api.now();
        let lifetime = Duration::from_secs(seconds.unsigned_abs());
        let claims = Claims { audiences: audiences.clone(), lifetime, bound };
        let user = User::service_account(namespace, name, &account.uid);
        let (token, expires) = self.tokens.issue(user, &claims, now);
        request["kind"] = json!(KIND);
        request["apiVersion"] = json!(format!("{GROUP}/v1"));
        request["metadata"] = json!({"name": name, "namespace": namespace, "uid": &*account.uid, "creationTimestamp": crate::api::stamp(now)});
        request["spec"]["audiences"] = json!(audiences);
        request["spec"]["expirationSeconds"] = json!(seconds);
        request["spec"]["boundObjectRef"] = request["spec"]["boundObjectRef"].take();
        request["status"] = json!({"token": token, "expirationTimestamp": crate::api::stamp(expires)});
        Ok(self.value(201, &request))
    }

    /// Who names the account in the body means the one of the path.
    fn check_names(&self, request: &Value, name: &str) -> Result<(), Status> {
        let pairs = [("name", name), ("namespace", self.path.namespace.as_str())];
        for (field, wanted) in pairs {
            let said = &request["metadata"][field];
            if said.as_str().is_some_and(|said| !said.is_empty() && said != wanted) {
                let why = format!("must match the service account {field} if specified");
                let wrong = Wrong::invalid(format!("metadata.{field}"), said, &why);
                return Err(Status::invalid(GROUP, KIND, name, vec![wrong]));
            }
        }
        Ok(())
    }

    /// Looks for what the token is to be bound to, and notes it in the claims.
    fn bind_token(&self, reference: &Value, account: &str, bound: &mut Value) -> Result<(), Status> {
        if reference.is_null() {
            return Ok(());
        }
        let text = |field: &str| reference[field].as_str().unwrap_or_default();
        let (version, kind, name) = (text("apiVersion"), text("kind"), text("name"));
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let (plural, claim) = match (group, kind) {
            ("", "Pod") => ("pods", "pod"),
            ("", "Node") => ("nodes", "node"),
            ("", "Secret") => ("secrets", "secret"),
            _ => {
                let shown = format!("{group}/{version}, Kind={kind}");
                return Err(Status::bad_request(format!("cannot bind token to object of type {shown}")));
            }
        };
        let object = self.object_to_bind(plural, name)?;
        let uid = text("uid");
        if kind == "Pod" {
            self.bind_to_pod(&object, account, bound)?;
        }
        if !uid.is_empty() && uid != &*object.uid {
            let why = format!(
                "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have \
                 been deleted and then recreated"
            );
            return Err(Status::conflict(Name { group, resource: kind }, name, &why));
        }
        bound[claim] = json!({"name": name, "uid": &*object.uid});
        Ok(())
    }

    fn object_to_bind(&self, plural: &str, name: &str) -> Result<std::sync::Arc<Object>, Status> {
        let registry = self.api.registry();
        let resource = registry.find("", "v1", plural).ok_or_else(Status::no_such_path)?;
        let namespace = if resource.namespaced { self.path.namespace.as_str() } else { "" };
        let target = Target { resource, namespace, name, subresource: "" };
        self.api.get(&target).ok_or_else(|| target.not_found())
    }

    /// A token of a pod is of the pod's own account, and tells of its node.
    fn bind_to_pod(&self, pod: &Object, account: &str, bound: &mut Value) -> Result<(), Status> {
        let pod = pod.value();
        if pod["spec"]["serviceAccountName"].as_str().unwrap_or_default() != account {
            return Err(Status::bad_request(format!(
                "cannot bind token for serviceaccount {account:?} to pod running with different serviceaccount name."
            )));
        }
        if let Some(node) = pod["spec"]["nodeName"].as_str().filter(|node| !node.is_empty()) {
            bound["node"] = match self.object_to_bind("nodes", node) {
                Ok(found) => json!({"name": node, "uid": &*found.uid}),
                Err(_) => json!({"name": node}),
            };
        }
        Ok(())
    }
}

/// The seconds that a token is to last.
fn lifetime(spec: &Value) -> Result<i64, Status> {
    let seconds = spec["expirationSeconds"].as_i64().unwrap_or(3600);
    let why = match seconds {
        ..SECONDS_MIN => "may not specify a duration less than 10 minutes",
        SECONDS_MIN..=SECONDS_MAX => return Ok(seconds),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let wrong = Wrong::invalid("spec.expirationSeconds", &json!(seconds), why);
    Err(Status::invalid(GROUP, KIND, "", vec![wrong]))
}
