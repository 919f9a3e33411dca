//! Paths that are no resources: health, version, discovery, `OpenAPI`.

use bytes::Bytes;
use hyper::header::{ACCEPT, ETAG, HeaderValue, IF_NONE_MATCH};
use hyper::{Method, Request, Response};
use serde_json::{Value, json};

use super::accept::{Form, JSON, PROTOBUF, YAML};
use super::answer::{self, respond};
use super::path::ResourcePath;
use super::query::Query;
use super::{Service, header};
use crate::listen::{Body, User};
use crate::registry::{AGGREGATED_TYPE, V2_PROTOBUF, V2_PROTOBUF_ASKED, encode_v2, entity_tag};
use crate::status::Status;

/// The Kubernetes minor this control plane claims to be.
pub(crate) const MINOR: u32 = 35;

/// The checks of health that can be asked for one by one.
const CHECKS: [&str; 3] = ["ping", "log", "etcd"];
const TEXT: &str = "text/plain; charset=utf-8";

impl Service {
    pub(super) fn plain(&self, request: &Request<Bytes>, user: &User) -> Response<Body> {
        let method = request.method();
        let path = request.uri().path();
        if !user.may_reach(path) {
            let verb = method.as_str().to_ascii_lowercase();
            return answer::error(Form::JSON, &user.forbidden_path(&verb, path));
        }
        let found = self.read_plain(request, path);
        match (found, *method == Method::GET || *method == Method::HEAD) {
            (Some(found), true) => found,
            (Some(_), false) => answer::error(Form::JSON, &Status::method_not_allowed()),
            (None, _) => self.lost(path),
        }
    }

    /// Nothing is there. Below a built-in group somebody knows how to say it, beside these nobody does.
    pub(super) fn lost(&self, path: &str) -> Response<Body> {
        if path.starts_with("/api/") || self.is_below_a_built_in_group(path) {
            return answer::error(Form::JSON, &Status::no_such_path());
        }
        respond(404, TEXT, Bytes::from_static(b"404 page not found\n"))
    }

    /// Whether anything is served in the group of a path. What is not is told to those who may know.
    pub(super) fn knows_group(&self, path: &ResourcePath, user: &User) -> bool {
        path.group.is_empty() || user.is_anonymous() || self.has_group(&path.group)
    }

    fn is_below_a_built_in_group(&self, path: &str) -> bool {
        let mut parts = path.trim_matches('/').split('/');
        let group = parts.next().filter(|first| *first == "apis").and_then(|_| parts.next());
        let registry = self.api.registry();
        group.is_some_and(|name| registry.groups().any(|group| group.name == name && group.is_built_in()))
    }

    fn has_group(&self, name: &str) -> bool {
        self.api.registry().groups().any(|group| group.name == name)
    }

    fn read_plain(&self, request: &Request<Bytes>, path: &str) -> Option<Response<Body>> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let registry = self.api.registry();
        let aggregated = wants_aggregated(request);
        let accept = header(request.headers(), ACCEPT.as_str());
        Some(match parts.as_slice() {
            [] => json_answer(&self.paths()),
            [probe @ ("healthz" | "livez" | "readyz")] if Query::of(request).has("verbose") => {
                respond(200, TEXT, Bytes::from(checks(probe)))
            }
            ["healthz" | "livez" | "readyz"] => text("ok"),
            ["healthz" | "livez" | "readyz", check] if CHECKS.contains(check) => text("ok"),
            ["version"] if Form::offers(accept, &[JSON]) => json_answer(&version()),
            ["version"] => answer::error(Form::JSON, &Status::no_such_form(&[JSON])),
            ["api" | "apis"] if unacceptable(request) => {
                answer::error(Form::JSON, &Status::not_acceptable(&[JSON, YAML, PROTOBUF]))
            }
            ["api"] if aggregated => tagged(request, &registry.aggregated_core()),
            ["apis"] if aggregated => tagged(request, &registry.aggregated_groups()),
            ["api"] => {
                let address = self.address.get().map_or("", String::as_str);
                document(accept, &registry.core_versions(address), Status::not_acceptable)
            }
            ["apis"] => document(accept, &registry.group_list(), Status::not_acceptable),
            ["apis", group] => document(accept, &registry.group_document(group)?, Status::not_acceptable),
            ["api", version] => document(accept, &registry.resource_list("", version)?, Status::no_such_form),
            ["apis", group, version] => {
                document(accept, &registry.resource_list(group, version)?, Status::no_such_form)
            }
            ["openapi", "v2"] => openapi_v2(request, &registry.openapi_v2()),
            // Upstream does not say that it is JSON.
            ["openapi", "v3"] => {
                let index = serde_json::to_vec(&registry.openapi_index()).unwrap_or_default();
                respond(200, TEXT, Bytes::from(index))
            }
            ["openapi", "v3", "api", version] => json_answer(&registry.openapi_document("", version)?),
            ["openapi", "v3", "apis", group, version] => {
                json_answer(&registry.openapi_document(group, version)?)
            }
            ["metrics" | "logs" | "debug" | "flagz" | "statusz" | "configz", ..]
            | [".well-known", "openid-configuration"]
            | ["openid", "v1", "jwks"] => answer::error(Form::JSON, &Status::not_simulated(path)),
            _ => return None,
        })
    }

    fn paths(&self) -> Value {
        let registry = self.api.registry();
        let mut paths = vec!["/api".to_owned(), "/api/v1".to_owned(), "/apis".to_owned()];
        for group in registry.groups().filter(|group| !group.name.is_empty()) {
            paths.push(format!("/apis/{}", group.name));
            paths.extend(
                group.versions.iter().map(|version| format!("/apis/{}/{}", group.name, version.name)),
            );
        }
        paths.extend(
            ["/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"].map(str::to_owned),
        );
        json!({ "paths": paths })
    }
}

/// Go's client takes any clause that names the list; only version 2 is ours.
fn wants_aggregated(request: &Request<Bytes>) -> bool {
    header(request.headers(), ACCEPT.as_str()).split(',').any(|clause| {
        let has = |part: &str| clause.split(';').any(|found| found.trim() == part);
        has("g=apidiscovery.k8s.io")
            && has("v=v2")
            && has("as=APIGroupDiscoveryList")
            && (has(JSON) || has("*/*") || has("application/*"))
    })
}

/// Whether all that is asked for is a form of discovery that is not served.
fn unacceptable(request: &Request<Bytes>) -> bool {
    let accept = header(request.headers(), ACCEPT.as_str());
    !accept.trim().is_empty()
        && !wants_aggregated(request)
        && accept.split(',').all(|clause| clause.contains("as=") || Form::exists(clause, false).is_err())
}

fn tagged(request: &Request<Bytes>, document: &Value) -> Response<Body> {
    let bytes = Bytes::from(serde_json::to_vec(document).unwrap_or_default());
    let tag = entity_tag(&bytes);
    let known = header(request.headers(), IF_NONE_MATCH.as_str()) == tag;
    let mut response = if known {
        respond(304, AGGREGATED_TYPE, Body::empty())
    } else {
        respond(200, AGGREGATED_TYPE, bytes)
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    response.headers_mut().insert("vary", HeaderValue::from_static("Accept"));
    response
}

fn openapi_v2(request: &Request<Bytes>, document: &Value) -> Response<Body> {
    if header(request.headers(), ACCEPT.as_str()).contains(V2_PROTOBUF_ASKED) {
        return respond(200, V2_PROTOBUF, Bytes::from(encode_v2(document)));
    }
    json_answer(document)
}

/// A document of discovery in the form that was asked for. `refuse` is how it is told that there is none such.
fn document(accept: &str, value: &Value, refuse: fn(&[&str]) -> Status) -> Response<Body> {
    const FORMS: [&str; 3] = [JSON, YAML, PROTOBUF];
    if !Form::offers(accept, &FORMS) {
        return answer::error(Form::JSON, &refuse(&FORMS));
    }
    let form = Form::negotiate(accept, true, false).unwrap_or(Form::JSON);
    answer::value(200, form, value)
}

/// What a real server looks at, told one by one.
fn checks(probe: &str) -> String {
    let lines = CHECKS.map(|check| format!("[+]{check} ok\n"));
    format!("{}{probe} check passed\n", lines.concat())
}

fn json_answer(value: &Value) -> Response<Body> {
    answer::value(200, Form::JSON, value)
}

fn text(text: &'static str) -> Response<Body> {
    respond(200, TEXT, Bytes::from_static(text.as_bytes()))
}

/// What a real server of this minor says about itself.
fn version() -> Value {
    json!({
        "major": "1",
        "minor": MINOR.to_string(),
        "emulationMajor": "1",
        "emulationMinor": MINOR.to_string(),
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": (MINOR - 1).to_string(),
        "gitVersion": format!("v1.{MINOR}.0+mock-kubernetes"),
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": "linux/amd64",
    })
}
