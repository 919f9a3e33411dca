//! The answers of a conversation as they are kept: settled, in one file beside the requests.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::path::find;
use crate::placeholders::Placeholders;
use crate::script::{Script, Step};
use crate::talk::{Answer, Content};

#[derive(Serialize, Deserialize)]
pub(crate) struct Golden {
    /// The version the server gave itself.
    pub(crate) server: String,
    /// One object a step: its name, status, headers, and `body` or `events`.
    pub(crate) answers: Vec<Value>,
}

impl Golden {
    pub(crate) fn read(script: &Path) -> Result<Self, String> {
        let path = script.with_extension("golden.json");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Refuses a conversation that broke off: it is the script that is wrong then.
    pub(crate) fn write(&self, script: &Path) -> Result<(), String> {
        let broken = |answer: &&Value| answer.get("broken").is_some();
        if let Some(answer) = self.answers.iter().find(broken) {
            return Err(format!("not recorded: {answer}"));
        }
        let text = serde_json::to_string_pretty(self).unwrap() + "\n";
        fs::write(script.with_extension("golden.json"), text).map_err(|error| error.to_string())
    }
}

/// The answers with placeholders in place of what differs between two runs, and without what nobody asked for.
pub(crate) fn settle(script: &Script, answers: Vec<Answer>) -> Vec<Value> {
    let kept = script.steps.iter().zip(answers).filter_map(|(step, answer)| keep(step, answer));
    let mut kept: Vec<Value> = kept.collect();
    let mut placeholders = Placeholders::new(script.managed_fields);
    for answer in &kept {
        placeholders.meet(answer);
    }
    for answer in &mut kept {
        placeholders.replace(answer);
    }
    kept
}

fn keep(step: &Step, answer: Answer) -> Option<Value> {
    let failed = !(200..300).contains(&answer.status);
    if step.setup && !failed {
        return None;
    }
    let mut kept =
        Map::from_iter([("step".to_owned(), json!(step.name)), ("status".to_owned(), json!(answer.status))]);
    let mut put = |key: &str, value: Value| kept.insert(key.to_owned(), value);
    for (name, text) in answer.headers {
        put(&name, Value::String(text));
    }
    match answer.body {
        Content::Nothing(why) => put("broken", Value::String(why)),
        Content::Whole(body) if step.setup => put("broken", body),
        Content::Whole(body) if step.pick.is_empty() || failed => put("body", body),
        Content::Whole(body) => put("body", picked(step, &body)),
        Content::Events(events) => put("events", events.iter().map(|event| seen(step, event)).collect()),
    };
    Some(Value::Object(kept))
}

fn picked(step: &Step, body: &Value) -> Value {
    let places = step.pick.iter();
    places
        .map(|place| (place.clone(), find(body, place).cloned().unwrap_or(json!("<absent>"))))
        .collect::<Map<_, _>>()
        .into()
}

fn seen(step: &Step, event: &Value) -> Value {
    let mut event = event.clone();
    if event["type"] == "BOOKMARK" {
        without_versions(&mut event);
    }
    if !step.pick.is_empty() && event.is_object() {
        event["object"] = picked(step, &event["object"]);
    }
    event
}

/// A bookmark has the version of the store, as a list has.
fn without_versions(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_versions),
        Value::Object(fields) => {
            for (key, field) in fields {
                if key == "resourceVersion" {
                    *field = json!("<version of the list>");
                } else {
                    without_versions(field);
                }
            }
        }
        _ => {}
    }
}
