//! Answers that the door gives itself: what a fault says instead of the API, and what the harness must refuse.
//!
//! Both APIs have an error object of their own, and clients decide by its words. What a fault leaves open is filled in
//! here as that API would say it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::call::Call;
use crate::terms::Api;

/// An answer instead of the API's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Headers, such as `Retry-After`.
    pub headers: BTreeMap<String, String>,
    /// The body; otherwise one that the API would write.
    pub body: Option<Value>,
}

impl Answer {
    /// This status, and what the API would say with it.
    pub fn of(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// A revision is too old.
    pub(super) fn expired() -> Self {
        Self { status: 410, body: Some(expired_status()), ..Self::default() }
    }

    /// A refusal of the harness itself, which no subject should mistake for the API's.
    pub(super) fn of_harness(api: Api, status: u16, says: &str) -> Self {
        let says = format!("scaleproof's door: {says}");
        let body = match api {
            Api::Kubernetes => kubernetes(status, "", &says),
            Api::Cloud => cloud("scaleproof", &says),
        };
        Self { status, body: Some(body), ..Self::default() }
    }

    /// The body that the caller gets.
    pub(super) fn body_for(&self, call: &Call) -> Value {
        self.body.clone().unwrap_or_else(|| match call.to {
            Api::Kubernetes => self.kubernetes_body(call),
            Api::Cloud => {
                let (code, says) = cloud_words(self.status);
                cloud(code, says)
            }
        })
    }

    fn kubernetes_body(&self, call: &Call) -> Value {
        let (resource, name) = object_of(&call.path);
        let (reason, says) = kubernetes_words(self.status, call, &format!("{resource} {name:?}"));
        let mut body = kubernetes(self.status, reason, &says);
        body["details"] = json!({ "name": name, "kind": resource });
        if call.path.ends_with("/eviction") && self.status == 429 {
            let why = "The disruption budget does not allow it at the moment.";
            body["details"]["causes"] = json!([{ "reason": "DisruptionBudget", "message": why }]);
        }
        let after = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
        if let Some(seconds) = after.and_then(|(_, value)| value.parse::<u32>().ok()) {
            body["details"]["retryAfterSeconds"] = seconds.into();
        }
        body
    }
}

/// What a watch or a list is told whose revision is gone.
pub(super) fn expired_status() -> Value {
    kubernetes(410, "Expired", "The resourceVersion for the provided watch is too old.")
}

fn kubernetes(status: u16, reason: &str, says: &str) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": says, "reason": reason, "code": status,
    })
}

fn cloud(code: &str, says: &str) -> Value {
    json!({ "error": { "code": code, "message": says, "details": null } })
}

/// Reason and sentence of a real API server.
fn kubernetes_words(status: u16, call: &Call, object: &str) -> (&'static str, String) {
    let (reason, says) = match status {
        400 => ("BadRequest", "the server rejected our request for an unknown reason".to_owned()),
        401 => ("Unauthorized", "Unauthorized".to_owned()),
        403 => ("Forbidden", format!("{object} is forbidden")),
        404 => ("NotFound", format!("{object} not found")),
        405 => {
            ("MethodNotAllowed", "the server does not allow this method on the requested resource".to_owned())
        }
        409 if call.method == "POST" => ("AlreadyExists", format!("{object} already exists")),
        409 => (
            "Conflict",
            format!(
                "Operation cannot be fulfilled on {object}: the object has been modified; please apply your changes to \
                 the latest version and try again"
            ),
        ),
        410 => ("Expired", "The resourceVersion for the provided watch is too old.".to_owned()),
        413 => ("RequestEntityTooLarge", "Request entity too large".to_owned()),
        422 => ("Invalid", format!("{object} is invalid")),
        429 if call.path.ends_with("/eviction") => (
            "TooManyRequests",
            "Cannot evict pod as it would violate the pod's disruption budget.".to_owned(),
        ),
        429 => (
            "TooManyRequests",
            "the server has received too many requests, please try again later".to_owned(),
        ),
        500 => ("InternalError", "Internal error occurred: etcdserver: request timed out".to_owned()),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request".to_owned()),
        504 => ("Timeout", "Timeout: request did not complete within the allotted timeout".to_owned()),
        _ => ("", format!("the server answered with status {status}")),
    };
    (reason, says)
}

/// Code and sentence of the Hetzner Cloud.
fn cloud_words(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => ("json_error", "failed to parse JSON body"),
        401 => ("unauthorized", "unable to authenticate"),
        403 => ("resource_limit_exceeded", "resource limit exceeded"),
        404 => ("not_found", "resource not found"),
        405 => ("method_not_allowed", "method not allowed"),
        409 => ("conflict", "the resource has changed during the request, please retry"),
        410 => ("deprecated_api_endpoint", "API endpoint functionality was removed"),
        412 => ("resource_unavailable", "the requested resource is currently unavailable"),
        422 => ("invalid_input", "invalid input"),
        423 => ("locked", "the resource is locked, there is already an action running"),
        429 => ("rate_limit_exceeded", "error when sending too many requests"),
        502 => ("bad_gateway", "bad gateway"),
        503 => ("unavailable", "the service is currently unavailable"),
        504 => ("timeout", "the request could not be answered in time, please retry"),
        _ => ("server_error", "error within the API backend"),
    }
}

/// The resource of a path, as errors call it, and the object's name.
fn object_of(path: &str) -> (String, &str) {
    let mut parts = path.split('/').skip(1);
    let group = match parts.next() {
        Some("apis") => parts.next().unwrap_or_default(),
        _ => "",
    };
    let mut rest: Vec<&str> = parts.skip(1).collect();
    if rest.first() == Some(&"namespaces") && rest.len() > 2 {
        rest.drain(..2);
    }
    let resource = rest.first().copied().unwrap_or_default();
    let name = rest.get(1).copied().unwrap_or_default();
    (if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") }, name)
}

#[cfg(test)]
mod tests {
    use mock_clock::Time;

    use super::*;

    fn call(to: Api, method: &str, path: &str) -> Call {
        let request = hyper::Request::builder().method(method).uri(path).body(()).unwrap();
        Call::of(0, to, Time::EPOCH, &request)
    }

    #[test]
    fn a_conflict_is_the_one_that_clients_know() {
        let put =
            call(Api::Kubernetes, "PUT", "/apis/cluster.x-k8s.io/v1beta1/namespaces/d/machinedeployments/m");
        let body = Answer::of(409).body_for(&put);
        assert_eq!((&body["reason"], &body["code"]), (&json!("Conflict"), &json!(409)));
        let says = body["message"].as_str().unwrap();
        assert!(says.starts_with(
            "Operation cannot be fulfilled on machinedeployments.cluster.x-k8s.io \"m\": the object"
        ));
    }

    #[test]
    fn a_refused_eviction_names_its_budget_and_a_wait_its_seconds() {
        let evict = call(Api::Kubernetes, "POST", "/api/v1/namespaces/a/pods/p/eviction");
        let mut answer = Answer::of(429);
        answer.headers.insert("Retry-After".into(), "7".into());
        let body = answer.body_for(&evict);
        assert_eq!(body["details"]["causes"][0]["reason"], "DisruptionBudget");
        assert_eq!(body["details"]["name"], "p");
        assert_eq!(body["details"]["retryAfterSeconds"], 7);
    }

    #[test]
    fn the_cloud_has_an_object_of_its_own_and_a_given_body_is_untouched() {
        let order = call(Api::Cloud, "POST", "/v1/servers");
        assert_eq!(Answer::of(412).body_for(&order)["error"]["code"], "resource_unavailable");
        let given = Answer { body: Some(json!([1])), ..Answer::of(418) };
        assert_eq!(given.body_for(&order), json!([1]));
    }
}
