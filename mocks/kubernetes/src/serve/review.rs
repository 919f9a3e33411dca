//! Questions that are asked by creating an object: may I, who am I, whose token is this.

use hyper::Response;
use serde_json::{Value, json};

use super::Call;
use crate::listen::{Body, ISSUER, User, Worth};
use crate::status::{Status, Wrong};

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
            ("authentication.k8s.io", "SelfSubjectReview") => json!({"userInfo": user_info(self.user)}),
            ("authentication.k8s.io", "TokenReview") => Value::Null,
            ("", "Binding") => {
                return Some(if verb == "create" {
                    self.bind_named()
                } else {
                    Err(Status::method_not_allowed())
                });
            }
            ("", "ComponentStatus") => return Some(Err(Status::not_simulated("componentstatuses"))),
            _ => return None,
        };
        Some(if verb == "create" { self.reviewed(status) } else { Err(Status::method_not_allowed()) })
    }

    fn reviewed(&self, status: Value) -> Result<Response<Body>, Status> {
        let (group, version, kind) = (&self.resource.group, &self.resource.version, &self.resource.kind);
        let mut review = self.typed_body(group, version, kind)?;
        check_attributes(group, kind, &review["spec"])?;
        let status = if self.resource.kind == "TokenReview" { self.token_review(&review) } else { status };
        review["kind"] = json!(self.resource.kind);
        review["apiVersion"] = json!(self.resource.api_version());
        review["status"] = status;
        if review["metadata"].is_null() {
            review["metadata"] = json!({});
        }
        // The rules are everybody's, wherever they are asked for.
        if self.resource.kind == "SelfSubjectRulesReview" {
            review["spec"] = json!({});
        }
        Ok(self.value(201, &review))
    }

    fn token_review(&self, review: &Value) -> Value {
        let spec = &review["spec"];
        let token = spec["token"].as_str().unwrap_or_default();
        let asked: Vec<String> = serde_json::from_value(spec["audiences"].clone()).unwrap_or_default();
        let asked = if asked.is_empty() { vec![ISSUER.to_owned()] } else { asked };
        match self.tokens.worth(token, &asked, self.api.now()) {
            Worth::Good(user, audiences) => {
                json!({"authenticated": true, "user": user_info(&user), "audiences": audiences})
            }
            Worth::Foreign(audiences) => {
                let why = format!(
                    "token audiences {} is invalid for the target audiences {}",
                    quoted(&audiences),
                    quoted(&asked)
                );
                json!({"user": {}, "error": format!("[invalid bearer token, {why}]")})
            }
            Worth::Nothing => json!({"user": {}, "error": "[invalid bearer token]"}),
        }
    }

    fn bind_named(&self) -> Result<Response<Body>, Status> {
        let body = self.typed_body("", "v1", "Binding")?;
        self.bind(body["metadata"]["name"].as_str().unwrap_or_default())
    }
}

/// A user as answers show one; what is empty is left out.
fn user_info(user: &User) -> Value {
    let mut info = json!({"username": user.name, "groups": user.groups});
    if !user.uid.is_empty() {
        info["uid"] = json!(user.uid);
    }
    if !user.extra.is_empty() {
        info["extra"] = json!(user.extra);
    }
    info
}

/// A list of texts as Go quotes it.
fn quoted(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", texts.join(" "))
}

/// Access is asked to one thing, for somebody.
fn check_attributes(group: &str, kind: &str, spec: &Value) -> Result<(), Status> {
    let mut wrong = Vec::new();
    if kind.ends_with("SubjectAccessReview") {
        let asked = [&spec["resourceAttributes"], &spec["nonResourceAttributes"]];
        match asked.map(Value::is_null) {
            [true, true] => {
                let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
                wrong.push(Wrong::invalid("spec.resourceAttributes", &Value::Null, why));
            }
            [false, false] => {
                let why = "cannot be specified in combination with resourceAttributes";
                wrong.push(Wrong::invalid("spec.nonResourceAttributes", asked[1], why));
            }
            _ => {}
        }
    }
    let nobody = spec["user"].as_str().is_none_or(str::is_empty)
        && spec["groups"].as_array().is_none_or(Vec::is_empty);
    if nobody && matches!(kind, "SubjectAccessReview" | "LocalSubjectAccessReview") {
        wrong.push(Wrong::invalid(
            "spec.user",
            &json!(""),
            "at least one of user or group must be specified",
        ));
    }
    if wrong.is_empty() { Ok(()) } else { Err(Status::invalid(group, "", "", wrong)) }
}

fn everything() -> Value {
    json!({
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        "incomplete": false,
    })
}
