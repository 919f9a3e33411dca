//! How an answer is written down: short enough to be read, and with all that a client sees.
//!
//! What the catalogue holds comes back in every server and load balancer. It is recorded once, by itself, and cut to id
//! and name wherever it stands inside something else, unless a step asks for the whole.

use std::fmt::Write;

use mock_hetzner::Reply;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What every request begins with in a record.
pub(crate) const ASKED: &str = "> ";
/// Fields that hold something of the catalogue, or an image.
const EMBEDDED: [&str; 7] =
    ["server_type", "load_balancer_type", "image", "iso", "location", "datacenter", "created_from"];
/// Where lines are broken, if they can be.
const WIDTH: usize = 110;
/// Texts beyond this are cut.
const LONGEST: usize = 300;

/// How much of an answer is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Show {
    /// All but what is embedded.
    #[default]
    Usual,
    /// All of it, and all headers.
    Whole,
    /// Of each thing in a list its id and name.
    Names,
    /// Nothing but the status.
    Status,
}

/// The record of one answer.
pub(crate) fn answer(heading: &str, reply: &Reply, show: Show) -> String {
    let mut record = format!("{ASKED}{heading}\n{}\n", reply.status);
    for (name, value) in &reply.headers {
        if is_told(name, value, reply.body.is_some(), show) {
            writeln!(record, "{name}: {value}").unwrap();
        }
    }
    if let Some(body) = reply.body.as_ref().filter(|_| show != Show::Status) {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => write_pretty(&mut record, &cut(value, show, 0), 0),
            Err(_) => record += &String::from_utf8_lossy(body),
        }
        record.push('\n');
    }
    record.push('\n');
    record
}

/// A text that is not too long.
pub(crate) fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Headers are all recorded where the whole answer is. Elsewhere it is those that say something about this answer.
fn is_told(name: &str, value: &str, has_body: bool, show: Show) -> bool {
    match name {
        _ if show == Show::Whole => true,
        "Link" => true,
        "Content-Type" => !has_body || value != "application/json",
        _ => false,
    }
}

/// Cuts what is recorded elsewhere.
fn cut(value: Value, show: Show, depth: usize) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| {
                    let known = depth > 0 && show != Show::Whole && EMBEDDED.contains(&name.as_str());
                    let value = if known { id_and_name(value) } else { cut(value, show, depth + 1) };
                    (name, value)
                })
                .collect(),
        ),
        Value::Array(items) if depth == 1 && show == Show::Names => {
            items.into_iter().map(id_and_name).collect()
        }
        Value::Array(items) => items.into_iter().map(|item| cut(item, show, depth + 1)).collect(),
        // Chains of certificates have lines.
        Value::String(text) if text.contains('\n') => json!(text.lines().next()),
        Value::String(text) => json!(short(&text)),
        other => other,
    }
}

fn id_and_name(value: Value) -> Value {
    let Value::Object(fields) = value else { return value };
    if !fields.contains_key("id") {
        return fields.into();
    }
    let kept = fields.into_iter().filter(|(name, _)| name == "id" || name == "name");
    kept.collect::<Map<_, _>>().into()
}

/// What fits into a line stands in one, and so do an action and a list of ids.
fn write_pretty(out: &mut String, value: &Value, indent: usize) {
    let line = value.to_string();
    let inner = indent + 2;
    let is_ids = value.as_array().is_some_and(|items| items.iter().all(Value::is_number));
    let fits = indent + line.len() <= WIDTH || value.get("command").is_some() || is_ids;
    match value {
        Value::Object(fields) if !fits => {
            out.push('{');
            for (index, (name, value)) in fields.iter().enumerate() {
                out.push_str(if index == 0 { "\n" } else { ",\n" });
                write!(out, "{:inner$}\"{name}\": ", "").unwrap();
                write_pretty(out, value, inner);
            }
            write!(out, "\n{:indent$}}}", "").unwrap();
        }
        Value::Array(items) if !fits => {
            out.push('[');
            for (index, value) in items.iter().enumerate() {
                out.push_str(if index == 0 { "\n" } else { ",\n" });
                write!(out, "{:inner$}", "").unwrap();
                write_pretty(out, value, inner);
            }
            write!(out, "\n{:indent$}]", "").unwrap();
        }
        _ => out.push_str(&line),
    }
}
