//! Deletions: how the client wants it done, and what it is shown.

use hyper::Response;
use serde_json::{Value, json};

use super::answer::{self, respond};
use super::list;
use super::options::ListOptions;
use super::{Call, body};
use crate::api::{Delete, Deleted, Target, Write, read_as};
use crate::listen::Body;
use crate::status::Status;

/// Kinds whose objects are shown once more when they are gone, by group and plural.
const SHOWN: [(&str, &str); 9] = [
    ("", "pods"),
    ("", "services"),
    ("", "persistentvolumes"),
    ("", "persistentvolumeclaims"),
    ("", "serviceaccounts"),
    ("", "podtemplates"),
    ("", "resourcequotas"),
    ("storage.k8s.io", "*"),
    ("resource.k8s.io", "*"),
];
/// The one kind of these groups that is not.
const NOT_SHOWN: &str = "csistoragecapacities";

impl Call<'_> {
    pub(super) fn delete(&self) -> Result<Response<Body>, Status> {
        let (delete, write) = self.delete_options()?;
        let target = self.target();
        let deleted = self.api.delete(&target, &delete, &write)?;
        Ok(self.deleted(&deleted))
    }

    /// How to delete: by the body, or by the query if there is none.
    fn delete_options(&self) -> Result<(Delete, Write), Status> {
        let options = if self.body.is_empty() {
            self.asked_options()?
        } else {
            // What the query says does not count then.
            let body = body::read_options(self.headers, self.body, self.resource.custom.is_none())?;
            read_as(("meta.k8s.io", "v1", "DeleteOptions"), body)?
        };
        let delete = Delete::read(&options)?;
        let write = Write { dry_run: delete.dry_run, ..Write::by(self.manager()) };
        Ok((delete, write))
    }

    /// `DeleteOptions` as the query has them.
    fn asked_options(&self) -> Result<Value, Status> {
        let mut options = json!({"dryRun": self.query.all("dryRun").collect::<Vec<_>>()});
        if let Some(seconds) = self.query.number("gracePeriodSeconds")? {
            options["gracePeriodSeconds"] = json!(seconds);
        }
        if let Some(orphan) = self.query.flag("orphanDependents") {
            options["orphanDependents"] = json!(orphan);
        }
        if let Some(policy) = self.query.text("propagationPolicy") {
            options["propagationPolicy"] = json!(policy);
        }
        Ok(options)
    }

    /// The object if it is still there or of a kind that is shown once more, a status otherwise.
    fn deleted(&self, deleted: &Deleted) -> Response<Body> {
        let resource = &self.resource;
        let shown = SHOWN.iter().any(|(group, plural)| {
            *group == resource.group && (*plural == "*" || *plural == resource.plural)
        });
        let shown = shown && resource.plural != NOT_SHOWN;
        if !deleted.gone || shown {
            return self.one(200, &deleted.object);
        }
        let mut details = json!({
            "name": &*deleted.object.key.name,
            "kind": self.resource.plural,
            "uid": &*deleted.object.uid,
        });
        if !self.resource.group.is_empty() {
            details["group"] = json!(self.resource.group);
        }
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
        });
        answer::value(200, self.whole(), &status)
    }

    pub(super) async fn delete_collection(&self) -> Result<Response<Body>, Status> {
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
