//! Paths into objects, as `kubectl` and `JSONPath` (RFC 9535) write them: `.status.replicas`, `{.status.replicas}` or
//! `$.status.conditions[?(@.type=='Ready')].status`.

use jsonpath_rust::JsonPath as _;
use serde_json::Value;

/// What a path leads to in an object, in order; nothing if the text is no path.
pub fn selected<'a>(path: &str, object: &'a Value) -> Option<Vec<&'a Value>> {
    let bare = path.trim();
    let bare = bare.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(bare);
    let rooted = if bare.starts_with('$') { bare.to_owned() } else { format!("${bare}") };
    object.query(&rooted).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_read_as_kubectl_writes_them_and_as_the_standard_does() {
        let object = json!({"status": {"replicas": 2, "conditions": [
            {"type": "Ready", "status": "True"}, {"type": "Drifted", "status": "False"}]},
            "metadata": {"labels": {"hcloud/node-group": "small"}}});
        for (path, leads_to) in [
            (".status.replicas", vec![json!(2)]),
            ("{.status.replicas}", vec![json!(2)]),
            ("$.status.conditions[?(@.type=='Ready')].status", vec![json!("True")]),
            (".status.conditions[?(@.type==\"Drifted\")].status", vec![json!("False")]),
            (".status.conditions[*].type", vec![json!("Ready"), json!("Drifted")]),
            (".metadata.labels['hcloud/node-group']", vec![json!("small")]),
            (".status.none", vec![]),
        ] {
            let selected = selected(path, &object).unwrap();
            assert_eq!(selected.into_iter().cloned().collect::<Vec<_>>(), leads_to, "{path}");
        }
        for wrong in ["status.replicas", ".status[", ".status.conditions[?(@.type=]"] {
            assert_eq!(selected(wrong, &object), None, "{wrong}");
        }
    }
}
