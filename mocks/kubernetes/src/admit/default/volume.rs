//! Defaults of a volume by its source.

use serde_json::{Map, Value};

use super::{container, storage};
use crate::admit::read::{fill, fill_zero, inner_mut, items_mut, put, text};

/// The mode of files made from secrets, config maps and the like: 0644.
const FILE_MODE: i64 = 0o644;

pub(super) fn volume(volume: &mut Value) {
    let Some(map) = volume.as_object_mut() else { return };
    if map.iter().all(|(name, source)| name == "name" || source.is_null()) {
        map.insert("emptyDir".to_owned(), Value::Object(Map::new()));
    }
    let sources: Vec<String> = map.keys().filter(|name| *name != "name").cloned().collect();
    for name in sources {
        let Some(source) = map.get_mut(&name) else { continue };
        match name.as_str() {
            "secret" | "configMap" => fill(source, "defaultMode", FILE_MODE),
            "downwardAPI" => downward(source),
            "projected" => projected(source),
            "ephemeral" => claim_template(source),
            "image" => image(source),
            name => storage::volume_source(name, source),
        }
    }
}

fn downward(source: &mut Value) {
    fill(source, "defaultMode", FILE_MODE);
    field_versions(source);
}

fn field_versions(source: &mut Value) {
    for item in items_mut(source, "items") {
        if let Some(field) = item.get_mut("fieldRef") {
            fill_zero(field, "apiVersion", "v1");
        }
    }
}

fn projected(source: &mut Value) {
    fill(source, "defaultMode", FILE_MODE);
    for part in items_mut(source, "sources") {
        if let Some(downward) = part.get_mut("downwardAPI") {
            field_versions(downward);
        }
        if let Some(token) = part.get_mut("serviceAccountToken") {
            fill(token, "expirationSeconds", 3600);
        }
    }
}

fn claim_template(source: &mut Value) {
    if let Some(template) = source.get_mut("volumeClaimTemplate") {
        fill(template, "metadata", Map::new());
        if let Some(spec) = inner_mut(template, "spec") {
            storage::claim_spec(spec);
        }
    }
}

fn image(source: &mut Value) {
    if text(source, "pullPolicy").is_empty() {
        let policy = container::pull_policy(text(source, "reference"));
        put(source, "pullPolicy", policy);
    }
}
