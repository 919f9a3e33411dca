//! Defaults of a container of any sort, and what a pod's containers ask for together.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::resources;
use crate::admit::quantities;
use crate::admit::read::{deep, fill, fill_zero, items, items_mut, present, text};

pub(super) fn container(container: &mut Value) {
    if text(container, "imagePullPolicy").is_empty() {
        let policy = pull_policy(text(container, "image"));
        fill_zero(container, "imagePullPolicy", policy);
    }
    fill_zero(container, "terminationMessagePath", "/dev/termination-log");
    fill_zero(container, "terminationMessagePolicy", "File");
    fill(container, "resources", Map::new());
    if let Some(all) = container.get_mut("resources") {
        resources::round(all, "limits");
        resources::round(all, "requests");
    }
    for port in items_mut(container, "ports") {
        fill_zero(port, "protocol", "TCP");
    }
    for variable in items_mut(container, "env") {
        let Some(source) = variable.get_mut("valueFrom") else { continue };
        if let Some(field) = source.get_mut("fieldRef") {
            fill_zero(field, "apiVersion", "v1");
        }
        if let Some(file) = source.get_mut("fileKeyRef") {
            fill(file, "optional", false);
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(given) = container.get_mut(name) {
            probe(given);
        }
    }
    for name in ["postStart", "preStop"] {
        if let Some(handler) = container.get_mut("lifecycle").and_then(|all| all.get_mut(name)) {
            http_get(handler);
        }
    }
}

fn probe(probe: &mut Value) {
    if probe.is_null() {
        return;
    }
    fill_zero(probe, "timeoutSeconds", 1);
    fill_zero(probe, "periodSeconds", 10);
    fill_zero(probe, "successThreshold", 1);
    fill_zero(probe, "failureThreshold", 3);
    http_get(probe);
    if let Some(grpc) = probe.get_mut("grpc") {
        fill(grpc, "service", "");
    }
}

fn http_get(handler: &mut Value) {
    if let Some(get) = handler.get_mut("httpGet") {
        fill_zero(get, "path", "/");
        fill_zero(get, "scheme", "HTTP");
    }
}

/// `Always` for what may change under the same name: the tag `latest`, or no tag and no digest.
pub(super) fn pull_policy(image: &str) -> &'static str {
    let (name, digest) = image.split_once('@').map_or((image, ""), |(name, digest)| (name, digest));
    let last = name.rsplit('/').next().unwrap_or_default();
    let path = name.strip_suffix(last).unwrap_or_default();
    let (last, tag) = last.split_once(':').map_or((last, ""), |(last, tag)| (last, tag));
    let repository = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-/:".contains(&byte))
    };
    let legal = !last.is_empty() && repository(last) && repository(&path.to_ascii_lowercase());
    let latest = tag == "latest" || (tag.is_empty() && digest.is_empty());
    if legal && latest { "Always" } else { "IfNotPresent" }
}

/// What all containers of a pod spec ask for together: side-cars and containers add up, and each init container must
/// fit beside the side-cars started before it.
pub(in crate::admit) fn total(spec: &Value, field: &str) -> BTreeMap<String, String> {
    let of = |container: &Value| {
        present(container, "resources").map(|all| resources::list(all, field)).unwrap_or_default()
    };
    let mut sum = BTreeMap::new();
    for container in items(spec, "containers") {
        quantities::add_all(&mut sum, &of(container));
    }
    let (mut sidecars, mut highest) = (BTreeMap::new(), BTreeMap::new());
    for container in items(spec, "initContainers") {
        let asked = of(container);
        if deep(container, &["restartPolicy"]).and_then(Value::as_str) == Some("Always") {
            quantities::add_all(&mut sum, &asked);
            quantities::add_all(&mut sidecars, &asked);
            quantities::raise_all(&mut highest, &sidecars);
        } else {
            let mut beside = sidecars.clone();
            quantities::add_all(&mut beside, &asked);
            quantities::raise_all(&mut highest, &beside);
        }
    }
    quantities::raise_all(&mut sum, &highest);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_decides_when_to_pull() {
        let cases = [
            ("nginx", "Always"),
            ("nginx:latest", "Always"),
            ("nginx:1.27", "IfNotPresent"),
            ("registry.example:5000/a/b", "Always"),
            ("registry.example:5000/a/b:v1", "IfNotPresent"),
            ("a/b@sha256:0123", "IfNotPresent"),
            ("a/b:latest@sha256:0123", "Always"),
            ("", "IfNotPresent"),
            ("Upper", "IfNotPresent"),
        ];
        for (image, policy) in cases {
            assert_eq!(pull_policy(image), policy, "{image}");
        }
    }
}
