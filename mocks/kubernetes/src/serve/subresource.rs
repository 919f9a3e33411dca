//! Parts of objects, and actions on them.

use hyper::Response;
use serde_json::{Value, json};

use super::Call;
use super::answer;
use crate::api::{Patch, patched, read_eviction};
use crate::listen::{Body, Claims, ISSUER, User};
use crate::status::{Name, Status, Wrong};

impl Call<'_> {
    pub(super) fn on_subresource(&self, verb: &str) -> Result<Response<Body>, Status> {
        let name = self.path.subresource.as_str();
        let found = self.resource.subresource(name).ok_or_else(Status::no_such_path)?;
        if !found.simulated {
            return Err(Status::not_simulated(&format!("{}/{name}", self.resource.plural)));
        }
        if !found.allows(verb) {
            return Err(self.refused(verb));
        }
        match (name, verb) {
            ("scale", "get") => self.value(200, &self.api.scale(&self.target())?),
            ("scale", _) => self.rescale(verb),
            ("eviction", _) => self.evict(),
            ("binding", _) => self.bind(&self.path.name),
            ("token", _) => self.token(),
            (_, "get") => self.get(),
            (_, "update") => self.update(),
            (_, "patch") => self.patch(),
            _ => Err(self.refused(verb)),
        }
    }

    pub(super) fn value(&self, code: u16, value: &Value) -> Result<Response<Body>, Status> {
        Ok(answer::value(code, self.whole(), value))
    }

    fn rescale(&self, verb: &str) -> Result<Response<Body>, Status> {
        let write = self.write()?;
        let target = self.target();
        if verb == "update" {
            let body = self.body(&mut Vec::new())?;
            self.api.rescale(&target, &write, |_| Ok(body.clone()))?;
        } else {
            let patch = self.read_scale_patch()?;
            self.api.rescale(&target, &write, |scale| patched(scale, &patch))?;
        }
        self.value(200, &self.api.scale(&target)?)
    }

    /// A `Scale` is built in, whatever it scales: it takes all patches.
    fn read_scale_patch(&self) -> Result<Patch, Status> {
        match super::body::media_type(self.headers) {
            "application/strategic-merge-patch+json" => {
                let patch = serde_json::from_slice(self.body)
                    .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))?;
                Ok(Patch::Strategic(patch))
            }
            _ => self.read_patch(),
        }
    }

    fn evict(&self) -> Result<Response<Body>, Status> {
        let mut write = self.write()?;
        let body = self.body(&mut Vec::new())?;
        let named = body["metadata"]["name"].as_str().unwrap_or_default();
        if named != self.path.name {
            let why = "name in URL does not match name in Eviction object";
            return Err(Status::bad_request(why));
        }
        let delete = read_eviction(&body)?;
        let dry_run = body["deleteOptions"]["dryRun"].as_array();
        write.dry_run |= dry_run.is_some_and(|list| list.iter().any(|value| value == "All"));
        self.api.evict(&self.target(), &delete, &write)?;
        self.success(201)
    }

    /// Binds the pod of that name; the old way names it in the body only.
    pub(super) fn bind(&self, pod: &str) -> Result<Response<Body>, Status> {
        let write = self.write()?;
        let body = self.body(&mut Vec::new())?;
        let registry = self.api.registry();
        let pods = registry.find("", "v1", "pods").ok_or_else(Status::no_such_path)?;
        let node = body["target"]["name"].as_str().unwrap_or_default();
        if node.is_empty() {
            let wrong = Wrong::required("target.name", "");
            return Err(Status::invalid("", "Binding", pod, vec![wrong]));
        }
        let target = crate::api::Target { resource: pods, name: pod, ..self.target() };
        self.api.bind(&target, &body, &write)?;
        self.success(201)
    }

    pub(super) fn success(&self, code: u16) -> Result<Response<Body>, Status> {
        let status =
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code});
        self.value(code, &status)
    }

    /// A token for a service account.
    fn token(&self) -> Result<Response<Body>, Status> {
        let mut request = self.body(&mut Vec::new())?;
        let target = crate::api::Target { subresource: "", ..self.target() };
        let account = self.api.get(&target).ok_or_else(|| target.not_found())?;
        let (namespace, name) = (&*account.key.namespace, &*account.key.name);
        let user = User::service_account(namespace, name, &account.uid);
        let seconds = request["spec"]["expirationSeconds"].as_u64().unwrap_or(3600);
        if seconds < 600 {
            let wrong = Wrong::invalid(
                "spec.expirationSeconds",
                &json!(seconds),
                "may not specify a duration less than 10 minutes",
            );
            return Err(Status::invalid("authentication.k8s.io", "TokenRequest", name, vec![wrong]));
        }
        let now = self.api.now();
        let audiences: Vec<String> =
            serde_json::from_value(request["spec"]["audiences"].take()).unwrap_or_default();
        let audiences = if audiences.is_empty() { vec![ISSUER.to_owned()] } else { audiences };
        let claims = Claims {
            audiences: audiences.clone(),
            lifetime: std::time::Duration::from_secs(seconds),
            bound: json!({"namespace": namespace, "serviceaccount": {"name": name, "uid": &*account.uid}}),
        };
        let (token, expires) = self.tokens.issue(user, &claims, now);
        request["kind"] = json!("TokenRequest");
        request["apiVersion"] = json!("authentication.k8s.io/v1");
        request["metadata"] =
            json!({"name": name, "namespace": namespace, "creationTimestamp": crate::api::stamp(now)});
        request["spec"]["audiences"] = json!(audiences);
        request["spec"]["expirationSeconds"] = json!(seconds);
        request["status"] = json!({"token": token, "expirationTimestamp": crate::api::stamp(expires)});
        self.value(201, &request)
    }

    pub(super) fn no_bindings(&self) -> Status {
        Status::method_not_allowed(Name { group: "", resource: "bindings" }, "list")
    }
}
