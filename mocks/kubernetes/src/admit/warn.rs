//! What is taken, but that a real server warns of: fields that do nothing, or not what they seem to.

mod pod;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::read::{deep, entries, text};

/// The sentences about an object that is written. `old` is the stored object of an update.
pub(crate) fn warnings(group: &str, kind: &str, object: &Value, old: Option<&Value>) -> Vec<String> {
    let generation = |object: &Value| deep(object, &["metadata", "generation"]).cloned();
    let specified = old.is_none_or(|old| generation(old) != generation(object));
    match (group, kind) {
        ("", "Pod") if old.is_none() => pod::warnings(object, ""),
        ("", "PodTemplate") if specified => template(object, &["template"]),
        ("", "ReplicationController") | ("apps", _) | ("batch", "Job") if specified => {
            template(object, &["spec", "template"])
        }
        ("batch", "CronJob") if specified => template(object, &["spec", "jobTemplate", "spec", "template"]),
        ("", "Service") => service(object),
        ("", "Secret") => secret(object),
        _ => Vec::new(),
    }
}

fn template(object: &Value, names: &[&str]) -> Vec<String> {
    deep(object, names)
        .map(|template| pod::warnings(template, &format!("{}.", names.join("."))))
        .unwrap_or_default()
}

fn service(object: &Value) -> Vec<String> {
    let way = deep(object, &["spec", "trafficDistribution"]).and_then(Value::as_str);
    let old = way == Some("PreferClose");
    let why = "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"";
    old.then(|| why.to_owned()).into_iter().collect()
}

/// A certificate and its key should be such; more than their form is not looked at.
fn secret(object: &Value) -> Vec<String> {
    if text(object, "type") != "kubernetes.io/tls" {
        return Vec::new();
    }
    let missing = |name: &str| {
        let data = entries(object, "data").find(|(key, _)| *key == name);
        let bytes = data.and_then(|(_, data)| STANDARD.decode(data.as_str()?).ok()).unwrap_or_default();
        !String::from_utf8_lossy(&bytes).contains("-----BEGIN ")
    };
    let parts = [("tls.crt", "certificate"), ("tls.key", "key")];
    let wrong = parts.into_iter().find(|(name, _)| missing(name));
    wrong.map(|(_, what)| format!("tls: failed to find any PEM data in {what} input")).into_iter().collect()
}
