//! Questions that are asked by creating an object: may I, who am I, whose token is this.

use hyper::Response;
use serde_json::{Value, json};

use super::Call;
use crate::listen::Body;
use crate::status::Status;

impl Call<'_> {
    /// The answer, if the request is such a question.
    pub(super) fn review(&self, verb: &str) -> Option<Result<Response<Body>, Status>> {
        let group = self.resource.group.as_str();
        let status = match (group, self.resource.kind.as_str()) {
            (
                "authorization.k8s.io",
                "SelfSubjectAccessReview" | "SubjectAccessReview" | "LocalSubjectAccessReview",
            ) => {
                json!({"allowed": true, "reason": "everybody who is known may do everything"})
            }
            ("authorization.k8s.io", "SelfSubjectRulesReview") => everything(),
            ("authentication.k8s.io", "SelfSubjectReview") => json!({"userInfo": self.user_info()}),
            ("authentication.k8s.io", "TokenReview") => Value::Null,
            ("", "Binding") => {
                return Some(if verb == "create" { self.bind_named() } else { Err(self.no_bindings()) });
            }
            ("", "ComponentStatus") => return Some(Err(Status::not_simulated("componentstatuses"))),
            _ => return None,
        };
        Some(if verb == "create" { self.reviewed(status) } else { Err(self.refused(verb)) })
    }

    fn reviewed(&self, status: Value) -> Result<Response<Body>, Status> {
        let mut review = self.body(&mut Vec::new())?;
        let status = if self.resource.kind == "TokenReview" { self.token_review(&review) } else { status };
        review["kind"] = json!(self.resource.kind);
        review["apiVersion"] = json!(self.resource.api_version());
        review["status"] = status;
        self.value(201, &review)
    }

    fn token_review(&self, review: &Value) -> Value {
        let token = review["spec"]["token"].as_str().unwrap_or_default();
        match self.tokens.lookup(token, self.api.now()) {
            Some(user) => json!({
                "authenticated": true,
                "user": {"username": user.name, "groups": user.groups, "uid": user.uid},
            }),
            None => json!({"user": {}, "error": "[invalid bearer token]"}),
        }
    }

    fn user_info(&self) -> Value {
        json!({"username": self.user.name, "groups": self.user.groups})
    }

    fn bind_named(&self) -> Result<Response<Body>, Status> {
        let body = self.body(&mut Vec::new())?;
        self.bind(body["metadata"]["name"].as_str().unwrap_or_default())
    }
}

fn everything() -> Value {
    json!({
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        "incomplete": false,
    })
}
