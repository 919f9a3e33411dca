//! What went wrong, as a real API server says it: the one place where a `Status` is made.
//!
//! Constructors are named for the case. Every error a client sees passes here, whether it comes from the wire, from
//! admission or from the store.

mod wrong;

use std::fmt;

use serde_json::{Map, Value, json};

pub(crate) use wrong::{Cause, Wrong};

/// An answer that is not an object: code, reason, sentence, details.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Status {
    pub(crate) code: u16,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// In a box, because most results carry none.
    pub(crate) details: Box<Details>,
}

/// Whom it concerns, and why in pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Details {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) kind: String,
    pub(crate) causes: Vec<Cause>,
    pub(crate) retry_after_seconds: u32,
    /// They are written even if they say nothing.
    pub(crate) shown: bool,
}

/// A resource by its plural name, as errors call it: `nodes`, `deployments.apps`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'a> {
    pub(crate) group: &'a str,
    pub(crate) resource: &'a str,
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.resource)?;
        if self.group.is_empty() { Ok(()) } else { write!(f, ".{}", self.group) }
    }
}

/// `conflict with X`, for several fields.
fn one_managers_conflicts(causes: &[Cause]) -> String {
    let heading = causes.first().map_or("", |cause| cause.message.as_str());
    let mut lines = vec![format!("{}:", heading.replacen("conflict", "conflicts", 1))];
    lines.extend(causes.iter().map(|cause| format!("- {}", cause.field)));
    lines.join("\n")
}

impl Status {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: Box::default() }
    }

    fn about(mut self, name: Name<'_>, object: &str) -> Self {
        object.clone_into(&mut self.details.name);
        name.group.clone_into(&mut self.details.group);
        name.resource.clone_into(&mut self.details.kind);
        self
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// Options that contradict themselves.
    pub(crate) fn invalid_options(kind: &str, wrong: Vec<Wrong>) -> Self {
        Self::invalid("meta.k8s.io", kind, "", wrong)
    }

    /// A body that cannot be read as its kind. `version` and `found` are what it says it is.
    pub(crate) fn unreadable(version: &str, found: &str, kind: &str, why: &str) -> Self {
        Self::bad_request(format!("{found} in version {version:?} cannot be handled as a {kind}: {why}"))
    }

    /// A patch that makes of an object what cannot be read. `shown` is the patch, or the object it led to.
    pub(crate) fn bad_patch(shown: &str, why: &str) -> Self {
        Self::invalid("", "", "", vec![Wrong::invalid("patch", &Value::from(shown), why)])
    }

    /// The condition of a writer does not hold: `uid` is what it wanted, `found` what is there. `path` is where the
    /// object lies, as etcd's keys say it.
    pub(crate) fn other_uid(name: Name<'_>, object: &str, path: &str, uid: &str, found: &str) -> Self {
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: /registry/{path}, ResourceVersion: 0, AdditionalErrorMsg: \
             Precondition failed: UID in precondition: {uid}, UID in object meta: {found}"
        );
        Self::conflict(name, object, &why)
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    pub(crate) fn forbidden(name: Name<'_>, object: &str, why: &str) -> Self {
        let message = if object.is_empty() {
            format!("{name} is forbidden: {why}")
        } else {
            format!("{name} \"{object}\" is forbidden: {why}")
        };
        Self::new(403, "Forbidden", message).about(name, object)
    }

    /// A path that is no resource, and who may not see it.
    pub(crate) fn forbidden_path(why: &str) -> Self {
        Self::new(403, "Forbidden", format!("forbidden: {why}"))
    }

    pub(crate) fn not_found(name: Name<'_>, object: &str) -> Self {
        Self::new(404, "NotFound", format!("{name} \"{object}\" not found")).about(name, object)
    }

    /// An error of which only the code is known.
    fn generic(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        let mut status = Self::new(code, reason, message);
        status.details.shown = true;
        status
    }

    /// A path that leads nowhere.
    pub(crate) fn no_such_path() -> Self {
        Self::generic(404, "NotFound", "the server could not find the requested resource")
    }

    /// Whether it is about a path that leads nowhere.
    pub(crate) fn is_lost(&self) -> bool {
        self.code == 404 && self.details.shown
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::generic(405, "MethodNotAllowed", message)
    }

    /// No form that the path has at all.
    pub(crate) fn no_such_form(forms: &[&str]) -> Self {
        let message = format!("406: Not Acceptable\n\nAvailable representations: {}", forms.join(", "));
        Self::generic(406, "NotAcceptable", message)
    }

    /// No way to patch that the path has at all.
    pub(crate) fn no_such_patch() -> Self {
        Self::generic(415, "UnsupportedMediaType", "415: Unsupported Media Type")
    }

    /// A form that the thing asked for cannot have.
    pub(crate) fn unsuitable(why: &str) -> Self {
        Self::new(406, "NotAcceptable", why)
    }

    /// A custom resource is to be made while its definition goes.
    pub(crate) fn ending_definition(name: Name<'_>) -> Self {
        let message = "create not allowed while custom resource definition is terminating";
        Self::new(405, "MethodNotAllowed", message).about(name, "")
    }

    pub(crate) fn not_acceptable(supported: &[&str]) -> Self {
        let message = format!("only the following media types are accepted: {}", supported.join(", "));
        Self::new(406, "NotAcceptable", message)
    }

    /// The name is free once the object that has it is gone.
    pub(crate) fn still_exists(name: Name<'_>, object: &str) -> Self {
        let mut status = Self::already_exists(name, object);
        status.message = format!("object is being deleted: {}", status.message);
        status
    }

    pub(crate) fn already_exists(name: Name<'_>, object: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{name} \"{object}\" already exists")).about(name, object)
    }

    pub(crate) fn conflict(name: Name<'_>, object: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {name} \"{object}\": {why}");
        Self::new(409, "Conflict", message).about(name, object)
    }

    /// Somebody else wrote first.
    pub(crate) fn modified(name: Name<'_>, object: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(name, object, why)
    }

    /// Fields that other managers own: `causes` have the reason `FieldManagerConflict` and stand together by manager.
    pub(crate) fn apply_conflict(causes: Vec<Cause>) -> Self {
        let mut message = format!("Apply failed with {} conflict", causes.len());
        match &causes[..] {
            [one] => message = format!("{message}: {}: {}", one.message, one.field),
            many => {
                message += "s: ";
                let groups = many.chunk_by(|one, next| one.message == next.message);
                let groups: Vec<String> = groups.map(one_managers_conflicts).collect();
                message += &groups.join("\n");
            }
        }
        let mut status = Self::new(409, "Conflict", message);
        status.details.causes = causes;
        status
    }

    /// The revision asked for is no longer kept.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        Self::new(413, "RequestEntityTooLarge", format!("Request entity too large: limit is {limit}"))
    }

    /// A JSON patch of too many operations.
    pub(crate) fn too_large_patch(limit: usize, got: usize) -> Self {
        let message = format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {limit}, got {got}"
        );
        Self::new(413, "RequestEntityTooLarge", message)
    }

    pub(crate) fn unsupported_media_type(supported: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            supported.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// Fields are wrong. `kind` is the kind, not the resource.
    pub(crate) fn invalid(group: &str, kind: &str, object: &str, wrong: Vec<Wrong>) -> Self {
        let name = Name { group, resource: kind };
        // Each complaint is told once, although it may be a cause twice.
        let mut texts: Vec<String> = Vec::new();
        for text in wrong.iter().map(ToString::to_string) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let list = match &texts[..] {
            [] => String::new(),
            [one] => format!(": {one}"),
            many => format!(": [{}]", many.join(", ")),
        };
        let mut status =
            Self::new(422, "Invalid", format!("{name} \"{object}\" is invalid{list}")).about(name, object);
        status.details.causes = wrong.into_iter().map(|wrong| wrong.cause).collect();
        status
    }

    /// A patch that cannot be done on this object. A real server does not say why.
    pub(crate) fn rejected() -> Self {
        Self::generic(422, "Invalid", "the server rejected our request due to an error in our request")
    }

    pub(crate) fn too_many_requests(message: impl Into<String>, retry_after_seconds: u32) -> Self {
        let mut status = Self::new(429, "TooManyRequests", message);
        status.details.retry_after_seconds = retry_after_seconds;
        status
    }

    pub(crate) fn internal(message: impl fmt::Display) -> Self {
        Self::new(500, "InternalError", format!("Internal error occurred: {message}"))
            .because("", message.to_string())
    }

    /// An error that a real server lets through as it is: no reason, only its text.
    pub(crate) fn plain(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// A real server would answer; this one does not simulate it.
    pub(crate) fn not_simulated(what: &str) -> Self {
        let message = format!("{what} is not simulated by this control plane");
        Self::new(501, "NotImplemented", message)
    }

    /// The client took too long over its request.
    pub(crate) fn request_timeout() -> Self {
        Self::new(504, "Timeout", "Timeout: request did not complete within the allotted timeout")
    }

    /// The client has seen the future.
    pub(crate) fn resource_version_too_large(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let mut status = Self::new(504, "Timeout", message);
        status.details.retry_after_seconds = 1;
        status.details.causes.push(Cause {
            reason: "ResourceVersionTooLarge".to_owned(),
            message: "Too large resource version".to_owned(),
            field: String::new(),
        });
        status
    }

    /// Adds one cause.
    pub(crate) fn because(mut self, reason: &str, message: impl Into<String>) -> Self {
        let cause = Cause { reason: reason.to_owned(), message: message.into(), field: String::new() };
        self.details.causes.push(cause);
        self
    }

    /// The object on the wire.
    pub(crate) fn to_value(&self) -> Value {
        let mut body = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        });
        if !self.reason.is_empty() {
            body["reason"] = Value::from(self.reason);
        }
        let details = self.details.to_value();
        if self.details.shown || details.as_object().is_some_and(|details| !details.is_empty()) {
            body["details"] = details;
        }
        body
    }
}

impl Details {
    fn to_value(&self) -> Value {
        let mut details = Map::new();
        let texts = [("name", &self.name), ("group", &self.group), ("kind", &self.kind)];
        for (key, text) in texts {
            if !text.is_empty() {
                details.insert(key.to_owned(), Value::from(text.as_str()));
            }
        }
        if !self.causes.is_empty() {
            details.insert("causes".to_owned(), self.causes.iter().map(Cause::to_value).collect());
        }
        if self.retry_after_seconds > 0 {
            details.insert("retryAfterSeconds".to_owned(), Value::from(self.retry_after_seconds));
        }
        Value::Object(details)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Status {}
