//! Parts of objects, and actions on them.

use hyper::Response;
use serde_json::{Value, json};

use super::Call;
use super::answer::{self, Showing, respond};
use crate::api::{patched, read_as, read_eviction, same_name, same_namespace};
use crate::listen::Body;
use crate::registry::{Resource, api_version};
use crate::status::{Status, Wrong};

impl Call<'_> {
    pub(super) fn on_subresource(&self, verb: &str) -> Result<Response<Body>, Status> {
        let name = self.path.subresource.as_str();
        let found = self.resource.subresource(name).ok_or_else(|| self.no_subresource())?;
        if !found.allows(verb) {
            return Err(Status::method_not_allowed());
        }
        if !found.simulated {
            let target = self.target();
            self.api.get(&target).ok_or_else(|| target.not_found())?;
            return Err(Status::not_simulated(&format!("{}/{name}", self.resource.plural)));
        }
        match (name, verb) {
            ("scale", "get") => Ok(self.shown_scale(&self.api.scale(&self.target())?)),
            ("scale", _) => self.rescale(verb),
            ("eviction", _) => self.evict(),
            ("binding", _) => self.bind(&self.path.name),
            ("token", _) => self.token(),
            (_, "get") => self.get(),
            (_, "update") => self.update(),
            (_, "patch") => self.patch(),
            _ => Err(Status::method_not_allowed()),
        }
    }

    /// A subresource that a definition could have, but this one has not, is missed with its object.
    fn no_subresource(&self) -> Status {
        let definable = matches!(self.path.subresource.as_str(), "status" | "scale");
        if definable && self.resource.custom.is_some() {
            return self.target().not_found();
        }
        Status::no_such_path()
    }

    pub(super) fn value(&self, code: u16, value: &Value) -> Response<Body> {
        answer::value(code, self.whole(), value)
    }

    /// A `Scale` in the shape that was asked for; a table of it is the same for all that can be scaled.
    fn shown_scale(&self, scale: &Value) -> Response<Body> {
        let mut scales = Resource::clone(&self.resource);
        "scales.autoscaling".clone_into(&mut scales.shelf);
        scales.custom = None;
        let showing = Showing { resource: &scales, ..self.showing() };
        respond(200, self.form.content_type(), showing.shown(scale, true))
    }

    fn rescale(&self, verb: &str) -> Result<Response<Body>, Status> {
        let target = self.target();
        let scale = if verb == "update" {
            let write = self.write("UpdateOptions")?;
            let body = self.typed_body("autoscaling", "v1", "Scale")?;
            same_name(body["metadata"].get("name"), target.name)?;
            self.api.rescale(&target, &write, |_| Ok(body.clone()))?
        } else {
            // A `Scale` is built in, whatever it scales: it takes all patches.
            let (patch, write) = self.read_patch(true)?;
            self.api.rescale(&target, &write, |scale| patched(scale, &patch))?
        };
        Ok(self.value(200, &scale))
    }

    /// A body of another kind than the resource's.
    pub(super) fn typed_body(&self, group: &str, version: &str, kind: &str) -> Result<Value, Status> {
        let body = super::body::read(
            self.headers,
            self.body,
            (&api_version(group, version), kind),
            true,
            &mut Vec::new(),
        )?;
        read_as((group, version, kind), body)
    }

    fn evict(&self) -> Result<Response<Body>, Status> {
        let mut write = self.write("CreateOptions")?;
        let body = self.typed_body("policy", "v1", "Eviction")?;
        same_namespace(body["metadata"].get("namespace"), &self.path.namespace)?;
        let named = body["metadata"]["name"].as_str().unwrap_or_default();
        if named != self.path.name {
            let why = "name in URL does not match name in Eviction object";
            return Err(Status::bad_request(why));
        }
        let delete = read_eviction(&body)?;
        write.dry_run |= delete.dry_run;
        self.api.evict(&self.target(), &delete, &write)?;
        Ok(self.success(201))
    }

    /// Binds the pod of that name; the old way names it in the body only.
    pub(super) fn bind(&self, pod: &str) -> Result<Response<Body>, Status> {
        let write = self.write("CreateOptions")?;
        let body = self.typed_body("", "v1", "Binding")?;
        same_namespace(body["metadata"].get("namespace"), &self.path.namespace)?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (name, kind, node) =
            (text(&body["metadata"]["name"]), text(&body["target"]["kind"]), text(&body["target"]["name"]));
        if name != pod {
            return Err(Status::bad_request("name in URL does not match name in Binding object"));
        }
        if !matches!(kind.as_str(), "" | "Node") {
            let wrong = Wrong::not_supported("target.kind", &json!(kind), &["Node", "<empty>"]);
            return Err(Status::plain(wrong.to_string()));
        }
        if node.is_empty() {
            return Err(Status::plain(Wrong::required("target.name", "").to_string()));
        }
        let registry = self.api.registry();
        let pods = registry.find("", "v1", "pods").ok_or_else(Status::no_such_path)?;
        let target = crate::api::Target { resource: pods, name: pod, ..self.target() };
        self.api.bind(&target, &body, &write)?;
        Ok(self.success(201))
    }

    pub(super) fn success(&self, code: u16) -> Response<Body> {
        let status =
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code});
        self.value(code, &status)
    }
}
