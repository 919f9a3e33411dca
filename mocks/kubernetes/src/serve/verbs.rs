//! What can be asked of a resource: get, list, watch, create, update, patch, delete, deletecollection.

use bytes::Bytes;
use hyper::Response;
use serde_json::Value;

use super::accept::{Encoding, Shape};
use super::answer::{self, Showing, respond};
use super::list::{self, not_from_the_future};
use super::options::{ListOptions, read_version};
use super::select::Selection;
use super::watch::Watch;
use super::{Call, body};
use crate::api::{Delete, Deleted, Patch, Target, Write, Written};
use crate::listen::Body;
use crate::status::{Status, Wrong};
use crate::store::Object;

impl Call<'_> {
    pub(super) async fn run(&self, verb: &str) -> Result<Response<Body>, Status> {
        if !self.path.subresource.is_empty() {
            return self.on_subresource(verb);
        }
        if let Some(review) = self.review(verb) {
            return review;
        }
        if !self.resource.allows(verb) {
            return Err(self.refused(verb));
        }
        match verb {
            "get" => self.get(),
            "list" => self.list().await,
            "watch" => self.watch(),
            "create" => self.create(),
            "update" => self.update(),
            "patch" => self.patch(),
            "delete" => self.delete(),
            "deletecollection" => self.delete_collection().await,
            other => Err(self.refused(other)),
        }
    }

    pub(super) fn target(&self) -> Target<'_> {
        Target {
            resource: &self.resource,
            namespace: &self.path.namespace,
            name: &self.path.name,
            subresource: &self.path.subresource,
        }
    }

    pub(super) fn showing(&self) -> Showing<'_> {
        Showing { resource: &self.resource, form: self.form, include: self.include, now: self.api.now() }
    }

    pub(super) fn write(&self) -> Result<Write, Status> {
        body::write_options(&self.query, &self.user.name, self.agent())
    }

    pub(super) fn body(&self, doubles: &mut Vec<String>) -> Result<Value, Status> {
        body::read(self.headers, self.body, self.resource.custom.is_none(), doubles)
    }

    pub(super) fn get(&self) -> Result<Response<Body>, Status> {
        if let Some(version) = self.query.text("resourceVersion") {
            not_from_the_future(self.api, read_version(version)?)?;
        }
        let target = self.target();
        let object = self.api.get(&target).ok_or_else(|| target.not_found())?;
        Ok(self.one(200, &object))
    }

    pub(super) fn one(&self, code: u16, object: &Object) -> Response<Body> {
        respond(code, self.form.content_type(), self.showing().object(object))
    }

    async fn list(&self) -> Result<Response<Body>, Status> {
        let options = ListOptions::read(&self.query, false)?;
        let selection = self.selection()?;
        let page = list::page(self.api, &self.resource, &selection, &options)?;
        let pieces = self.showing().list(&page).await;
        Ok(respond(200, self.form.content_type(), Body::pieces(pieces)))
    }

    fn selection(&self) -> Result<Selection, Status> {
        Selection::new(&self.resource, &self.path.namespace, &self.path.name, &self.query)
    }

    fn watch(&self) -> Result<Response<Body>, Status> {
        let options = ListOptions::read(&self.query, true)?;
        let selection = self.selection()?;
        if options.initial_events {
            not_from_the_future(self.api, options.revision.unwrap_or_default())?;
        }
        let watch = Watch::new(self.api, &self.resource, selection, &options, self.form, self.include);
        Ok(respond(200, self.form.stream_type(), Body::stream(watch)))
    }

    fn create(&self) -> Result<Response<Body>, Status> {
        if !self.path.name.is_empty() {
            return Err(self.refused("create"));
        }
        let mut write = self.write()?;
        let value = self.strict_body(&mut write)?;
        let written = self.api.create(&self.resource, &self.path.namespace, value, &write)?;
        Ok(self.written(&written))
    }

    /// The body, with what is found in it twice refused or warned about.
    pub(super) fn strict_body(&self, write: &mut Write) -> Result<Value, Status> {
        let mut doubles = Vec::new();
        let value = self.body(&mut doubles)?;
        write.doubles = doubles;
        Ok(value)
    }

    pub(super) fn written(&self, written: &Written) -> Response<Body> {
        let code = if written.created { 201 } else { 200 };
        let mut response = self.one(code, &written.object);
        answer::warn(&mut response, &written.warnings);
        response
    }

    pub(super) fn update(&self) -> Result<Response<Body>, Status> {
        let mut write = self.write()?;
        let value = self.strict_body(&mut write)?;
        Ok(self.written(&self.api.replace(&self.target(), &write, &value)?))
    }

    pub(super) fn patch(&self) -> Result<Response<Body>, Status> {
        let write = self.write()?;
        let patch = self.read_patch()?;
        Ok(self.written(&self.api.patch(&self.target(), &patch, &write)?))
    }

    /// The patch that the body is, by its content type.
    pub(super) fn read_patch(&self) -> Result<Patch, Status> {
        const SUPPORTED: [&str; 4] = [
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
            "application/apply-patch+yaml",
        ];
        const CUSTOM: [&str; 3] = [SUPPORTED[0], SUPPORTED[1], SUPPORTED[3]];
        let custom = self.resource.custom.is_some();
        let read = |body: &Bytes| -> Result<Value, Status> {
            serde_json::from_slice(body)
                .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))
        };
        match body::media_type(self.headers) {
            "application/json-patch+json" => Ok(Patch::Json(read(self.body)?)),
            "application/merge-patch+json" => Ok(Patch::Merge(read(self.body)?)),
            "application/strategic-merge-patch+json" if !custom => Ok(Patch::Strategic(read(self.body)?)),
            "application/apply-patch+yaml" => {
                if self.query.text("fieldManager").is_none() {
                    let wrong = Wrong::required("fieldManager", "is required for apply patch");
                    return Err(Status::invalid("meta.k8s.io", "PatchOptions", "", vec![wrong]));
                }
                let force = self.query.flag("force").unwrap_or_default();
                Ok(Patch::Apply { config: body::read_yaml(self.body)?, force })
            }
            other => {
                let supported: &[&str] = if custom { &CUSTOM } else { &SUPPORTED };
                Err(Status::unsupported_media_type(other, supported))
            }
        }
    }

    fn delete(&self) -> Result<Response<Body>, Status> {
        let (delete, write) = self.delete_options()?;
        let target = self.target();
        let deleted = self.api.delete(&target, &delete, &write)?;
        Ok(self.deleted(&deleted))
    }

    /// How to delete: by the body, or by the query if there is none.
    fn delete_options(&self) -> Result<(Delete, Write), Status> {
        let mut write = self.write()?;
        let mut options = Value::Null;
        if !self.body.is_empty() {
            options = body::read(self.headers, self.body, true, &mut Vec::new())?;
        }
        for key in ["propagationPolicy", "orphanDependents", "gracePeriodSeconds"] {
            if let (Some(text), true) = (self.query.text(key), options[key].is_null()) {
                if !options.is_object() {
                    options = serde_json::json!({});
                }
                options[key] = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
            }
        }
        write.dry_run |=
            options["dryRun"].as_array().is_some_and(|list| list.iter().any(|value| value == "All"));
        let delete = Delete::read(&options).map_err(|why| Status::invalid_options("DeleteOptions", &why))?;
        Ok((delete, write))
    }

    /// The object if it is still there or of a kind that is shown once more, a status otherwise.
    fn deleted(&self, deleted: &Deleted) -> Response<Body> {
        let core = self.resource.group.is_empty();
        let shown = [
            "pods",
            "services",
            "persistentvolumes",
            "persistentvolumeclaims",
            "serviceaccounts",
            "podtemplates",
            "resourcequotas",
        ];
        if !deleted.gone || core && shown.contains(&self.resource.plural.as_str()) {
            return self.one(200, &deleted.object);
        }
        let details = serde_json::json!({
            "name": &*deleted.object.key.name,
            "group": self.resource.group,
            "kind": self.resource.plural,
            "uid": &*deleted.object.uid,
        });
        let mut details = details;
        if core && let Some(details) = details.as_object_mut() {
            details.remove("group");
        }
        let status = serde_json::json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
        });
        answer::value(200, self.whole(), &status)
    }

    pub(super) fn whole(&self) -> super::accept::Form {
        let encoding = if self.form.encoding == Encoding::Yaml { Encoding::Json } else { self.form.encoding };
        super::accept::Form { shape: Shape::Whole, encoding, ..self.form }
    }

    async fn delete_collection(&self) -> Result<Response<Body>, Status> {
        let (delete, write) = self.delete_options()?;
        let options = ListOptions::read(&self.query, false)?;
        let selection = self.selection()?;
        let page = list::page(self.api, &self.resource, &selection, &options)?;
        for object in &page.objects {
            let (namespace, name) = (&*object.key.namespace, &*object.key.name);
            let target = Target { resource: &self.resource, namespace, name, subresource: "" };
            match self.api.delete(&target, &delete, &write) {
                Err(status) if status.code != 404 => return Err(status),
                _ => tokio::task::yield_now().await,
            }
        }
        let pieces = self.showing().list(&page).await;
        Ok(respond(200, self.form.content_type(), Body::pieces(pieces)))
    }
}
