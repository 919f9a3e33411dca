//! Bodies: JSON, YAML or protobuf, read as values.

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::CONTENT_TYPE;
use serde_json::{Value, json};

use super::accept::{JSON, PROTOBUF, YAML};
use super::query::Query;
use super::syntax;
use crate::api::{Fields, Write, unknown_stages};
use crate::patch::wire_type;
use crate::protobuf;
use crate::schema;
use crate::status::{Status, Wrong};

/// The media type of a body, without its parameters.
pub(super) fn media_type(headers: &HeaderMap) -> &str {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim()
}

/// The body as a value. `kind` is what it should be, for errors; `protobuf` says whether its kind has that form. What is wrong with the fields is told by the
/// one who decodes the kind; fields that come twice are only seen here.
pub(super) fn read(
    headers: &HeaderMap,
    body: &Bytes,
    (api_version, kind): (&str, &str),
    protobuf: bool,
    doubles: &mut Vec<String>,
) -> Result<Value, Status> {
    let unrecognized = |why: String| {
        let data = summary(body);
        Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({data})"
        ))
    };
    match media_type(headers) {
        "" | JSON => read_json(body, doubles).map_err(unrecognized),
        YAML => read_yaml(body, "", doubles),
        PROTOBUF if protobuf => protobuf::decode(body, (api_version, kind)).map_err(|error| match &error {
            protobuf::Error::Inside { api_version, kind: found, why } => {
                let version = api_version.rsplit('/').next().unwrap_or_default();
                Status::unreadable(version, found, kind, &why.to_string())
            }
            _ => unrecognized(error.to_string()),
        }),
        _ => Err(unsupported(protobuf)),
    }
}

/// The options that a deletion has for a body.
pub(super) fn read_options(headers: &HeaderMap, body: &Bytes, protobuf: bool) -> Result<Value, Status> {
    let read = match media_type(headers) {
        "" | JSON => read_json(body, &mut Vec::new()),
        YAML => return read_yaml(body, "", &mut Vec::new()),
        PROTOBUF => protobuf::decode(body, ("v1", "DeleteOptions")).map_err(|error| error.to_string()),
        _ => return Err(unsupported(protobuf)),
    };
    read.map_err(Status::bad_request)
}

fn unsupported(protobuf: bool) -> Status {
    Status::unsupported_media_type(if protobuf { &[JSON, YAML, PROTOBUF] } else { &[JSON, YAML] })
}

/// The beginning of a body, as errors show it.
fn summary(body: &[u8]) -> String {
    const SHOWN: usize = 30;
    let shown = &body[..body.len().min(SHOWN)];
    let rest = if body.len() > SHOWN { " ..." } else { "" };
    match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{rest}", String::from_utf8_lossy(shown)),
        Some(_) => shown.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}")) + rest,
    }
}

/// A JSON object; the error is a sentence of Go's.
fn read_json(body: &Bytes, doubles: &mut Vec<String>) -> Result<Value, String> {
    let unread = |why: String| format!("couldn't get version/kind; json parse error: {why}");
    let document = schema::read(body)
        .map_err(|error| unread(syntax::mistake(body).unwrap_or_else(|| error.to_string())))?;
    if let Some(why) = no_kind(&document.value) {
        return Err(unread(why));
    }
    doubles.extend(document.duplicates);
    Ok(document.value)
}

/// Why the kind of a body cannot be read.
fn no_kind(value: &Value) -> Option<String> {
    const GO: &str = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                      \"json:\\\"kind,omitempty\\\"\" }";
    match value {
        Value::Null => None,
        Value::Object(fields) => ["apiVersion", "kind"].iter().find_map(|name| {
            let field = fields.get(*name).filter(|field| !field.is_string() && !field.is_null())?;
            let found = wire_type(field);
            Some(format!("json: cannot unmarshal {found} into Go struct field .{name} of type string"))
        }),
        other => Some(format!("json: cannot unmarshal {} into Go value of type {GO}", wire_type(other))),
    }
}

/// YAML, by way of JSON. `before` begins its error.
pub(super) fn read_yaml(body: &Bytes, before: &str, doubles: &mut Vec<String>) -> Result<Value, Status> {
    if body.first() == Some(&b'{')
        && let Ok(document) = schema::read(body)
    {
        doubles.extend(document.duplicates);
        return Ok(document.value);
    }
    let text = std::str::from_utf8(body).map_err(|error| Status::bad_request(error.to_string()))?;
    serde_yaml::from_str(text).map_err(|error| {
        let why = error.to_string();
        let why = why.lines().next().unwrap_or_default();
        // The place comes first; upstream has no columns.
        let why = why.rsplit(": ").next().unwrap_or(why);
        Status::bad_request(format!("{before}error converting YAML to JSON: yaml: {why}"))
    })
}

/// How the request wants its write to be done. `wrong` is what is wrong with its options apart from that.
pub(super) fn write_options(
    query: &Query,
    kind: &str,
    agent: &str,
    mut wrong: Vec<Wrong>,
) -> Result<Write, Status> {
    let stages: Vec<&str> = query.all("dryRun").collect();
    let named = query.text("fieldManager");
    wrong.extend(named.into_iter().flat_map(bad_manager));
    wrong.extend(unknown_stages(&stages));
    let fields = match query.text("fieldValidation").unwrap_or("Warn") {
        "Ignore" => Fields::Ignore,
        "Warn" => Fields::Warn,
        "Strict" => Fields::Strict,
        other => {
            let supported = ["", "Ignore", "Strict", "Warn"];
            wrong.push(Wrong::not_supported("fieldValidation", &json!(other), &supported));
            Fields::Warn
        }
    };
    if !wrong.is_empty() {
        return Err(Status::invalid_options(kind, wrong));
    }
    let manager = named.unwrap_or_else(|| first_word(agent)).to_owned();
    Ok(Write { manager, dry_run: !stages.is_empty(), fields, doubles: Vec::new(), applies: false })
}

/// The program in a user agent: the manager of who names none.
pub(super) fn first_word(agent: &str) -> &str {
    agent.split('/').next().unwrap_or_default()
}

/// What is wrong with the name of a manager.
fn bad_manager(name: &str) -> Vec<Wrong> {
    const LENGTH_MAX: usize = 128;
    let mut wrong = Vec::new();
    if name.len() > LENGTH_MAX {
        wrong.push(Wrong::too_long("fieldManager", LENGTH_MAX));
    }
    for (at, character) in name.char_indices().filter(|(_, character)| !is_printed(*character)) {
        let why = format!("invalid character U+{:04X} (at position {at})", u32::from(character));
        wrong.push(Wrong::invalid("fieldManager", &json!(name), &why));
    }
    wrong
}

/// As Go sees it: the only blank that is printed is the space.
fn is_printed(character: char) -> bool {
    character == ' ' || !character.is_control() && !character.is_whitespace()
}
