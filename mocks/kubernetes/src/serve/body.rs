//! Bodies: JSON, YAML or protobuf, read as values.

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::CONTENT_TYPE;
use serde_json::{Value, json};

use super::accept::{JSON, PROTOBUF, YAML};
use super::query::Query;
use crate::api::{Fields, Write};
use crate::protobuf;
use crate::schema;
use crate::status::Status;

/// The media type of a body, without its parameters.
pub(super) fn media_type(headers: &HeaderMap) -> &str {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim()
}

/// The body as a value. `protobuf` says whether its kind has that form. What is wrong with the fields is told by the
/// one who decodes the kind; fields that come twice are only seen here.
pub(super) fn read(
    headers: &HeaderMap,
    body: &Bytes,
    protobuf: bool,
    doubles: &mut Vec<String>,
) -> Result<Value, Status> {
    match media_type(headers) {
        "" | JSON => read_json(body, doubles),
        YAML => read_yaml(body),
        PROTOBUF if protobuf => {
            protobuf::decode(body).map_err(|error| Status::bad_request(error.to_string()))
        }
        other => {
            let supported: &[&str] = if protobuf { &[JSON, YAML, PROTOBUF] } else { &[JSON, YAML] };
            Err(Status::unsupported_media_type(other, supported))
        }
    }
}

fn read_json(body: &Bytes, doubles: &mut Vec<String>) -> Result<Value, Status> {
    let document = schema::read(body).map_err(|error| Status::bad_request(error.to_string()))?;
    doubles.extend(document.duplicates);
    Ok(document.value)
}

pub(super) fn read_yaml(body: &Bytes) -> Result<Value, Status> {
    let text = std::str::from_utf8(body).map_err(|error| Status::bad_request(error.to_string()))?;
    serde_yaml::from_str(text)
        .map_err(|error| Status::bad_request(format!("error converting YAML to JSON: yaml: {error}")))
}

/// How the request wants its write to be done.
pub(super) fn write_options(query: &Query, user: &str, agent: &str) -> Result<Write, Status> {
    let mut wrong = Vec::new();
    let dry_run = query.all("dryRun").any(|value| !value.is_empty());
    for value in query.all("dryRun").filter(|value| !value.is_empty() && *value != "All") {
        wrong.push(crate::status::Wrong::not_supported("dryRun", &json!([value]), &["All"]));
    }
    let fields = match query.text("fieldValidation").unwrap_or("Warn") {
        "Ignore" => Fields::Ignore,
        "Warn" => Fields::Warn,
        "Strict" => Fields::Strict,
        other => {
            let supported = ["Ignore", "Strict", "Warn", ""];
            wrong.push(crate::status::Wrong::not_supported("fieldValidation", &json!(other), &supported));
            Fields::Warn
        }
    };
    if !wrong.is_empty() {
        return Err(Status::invalid("meta.k8s.io", "CreateOptions", "", wrong));
    }
    let manager = query.text("fieldManager").unwrap_or_else(|| agent.split('/').next().unwrap_or_default());
    Ok(Write {
        manager: manager.to_owned(),
        user: user.to_owned(),
        dry_run,
        fields,
        doubles: Vec::new(),
        applies: false,
    })
}
