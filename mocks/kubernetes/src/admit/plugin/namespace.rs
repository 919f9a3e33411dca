//! Nothing is created in a namespace that is missing or going away, and three namespaces stay for ever.

use serde_json::Value;

use super::{Request, Shelf, Verb};
use crate::admit::read::{deep, text};
use crate::status::{Cause, Name, Status};

pub(super) fn lifecycle(request: &Request<'_>, object: &Value, shelf: &dyn Shelf) -> Result<(), Status> {
    if (request.group, request.kind) == ("", "Namespace") {
        let is_immortal = matches!(request.name, "default" | "kube-system" | "kube-public");
        if request.verb == Verb::Delete && request.subresource.is_empty() && is_immortal {
            return Err(request.forbidden(object, "this namespace may not be deleted"));
        }
        return Ok(());
    }
    let is_review = request.group == "authorization.k8s.io";
    if request.namespace.is_empty() || request.verb == Verb::Delete || is_review {
        return Ok(());
    }
    let Some(namespace) = shelf.get("Namespace", "", request.namespace) else {
        return Err(Status::not_found(Name { group: "", resource: "namespaces" }, request.namespace));
    };
    let is_ending =
        deep(&namespace, &["status"]).is_some_and(|status| text(status, "phase") == "Terminating");
    if request.verb == Verb::Create && is_ending {
        return Err(ending(request, object));
    }
    Ok(())
}

fn ending(request: &Request<'_>, object: &Value) -> Status {
    let name = request.namespace;
    let why = format!("unable to create new content in namespace {name} because it is being terminated");
    let mut status = request.forbidden(object, &why);
    status.details.causes.push(Cause {
        reason: "NamespaceTerminating".to_owned(),
        message: format!("namespace {name} is being terminated"),
        field: "metadata.namespace".to_owned(),
    });
    status
}
