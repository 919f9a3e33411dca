//! What can be asked of a resource: get, list, watch, create, update, patch, delete, deletecollection.

use hyper::Response;
use serde_json::Value;

use super::accept::Shape;
use super::answer::{self, Showing, respond};
use super::list::{self, not_from_the_future};
use super::options::{ListOptions, read_version};
use super::select::Selection;
use super::watch::Watch;
use super::{Call, body};
use crate::api::{Target, Write, Written};
use crate::listen::Body;
use crate::status::Status;
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
            return Err(Status::method_not_allowed());
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
            _ => Err(Status::method_not_allowed()),
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

    /// `kind` is that of the options, for errors.
    pub(super) fn write(&self, kind: &str) -> Result<Write, Status> {
        body::write_options(&self.query, kind, self.agent(), Vec::new())
    }

    /// Who writes, for those whose options name no manager.
    pub(super) fn manager(&self) -> &str {
        body::first_word(self.agent())
    }

    pub(super) fn body(&self, doubles: &mut Vec<String>) -> Result<Value, Status> {
        let wanted = (self.resource.api_version(), self.resource.kind.as_str());
        body::read(self.headers, self.body, (&wanted.0, wanted.1), self.resource.custom.is_none(), doubles)
    }

    pub(super) fn get(&self) -> Result<Response<Body>, Status> {
        if let Some(version) = self.query.text("resourceVersion") {
            let version = read_version(version).map_err(|wrong| Status::plain(wrong.to_string()))?;
            not_from_the_future(self.api, version)?;
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

    pub(super) fn selection(&self) -> Result<Selection, Status> {
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
        let mut write = self.write("CreateOptions")?;
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
        let mut write = self.write("UpdateOptions")?;
        let value = self.strict_body(&mut write)?;
        Ok(self.written(&self.api.replace(&self.target(), &write, &value)?))
    }

    pub(super) fn whole(&self) -> super::accept::Form {
        super::accept::Form { shape: Shape::Whole, ..self.form }
    }
}
