//! Rows of role bindings and signing requests.

use serde_json::Value;

use super::age;
use super::view::{Cells, View, or_none};

pub(super) fn printer(shelf: &str) -> Option<fn(View<'_>) -> Cells> {
    Some(match shelf {
        "rolebindings.rbac.authorization.k8s.io" | "clusterrolebindings.rbac.authorization.k8s.io" => binding,
        "certificatesigningrequests.certificates.k8s.io" => signing_request,
        _ => return None,
    })
}

fn binding(view: View<'_>) -> Cells {
    let subjects = |kind: &str| {
        let name = |subject: &Value| {
            let subject = view.part(subject);
            let name = subject.text("/name");
            if kind == "ServiceAccount" {
                format!("{}/{name}", subject.text("/namespace"))
            } else {
                name.to_owned()
            }
        };
        let found = view.list("/subjects").iter().filter(|subject| subject["kind"] == kind);
        Value::from(found.map(name).collect::<Vec<_>>().join(", "))
    };
    vec![
        view.name(),
        format!("{}/{}", view.text("/roleRef/kind"), view.text("/roleRef/name")).into(),
        view.age(),
        subjects("User"),
        subjects("Group"),
        subjects("ServiceAccount"),
    ]
}

fn signing_request(view: View<'_>) -> Cells {
    let has = |kind: &str| view.condition("/status/conditions", kind).is_some();
    let mut status = match () {
        () if has("Denied") => "Denied",
        () if has("Approved") => "Approved",
        () => "Pending",
    }
    .to_owned();
    if has("Failed") {
        status.push_str(",Failed");
    }
    if !view.text("/status/certificate").is_empty() {
        status.push_str(",Issued");
    }
    let seconds = view.at("/spec/expirationSeconds").and_then(Value::as_i64);
    let duration = seconds.map(|seconds| age::human(i128::from(seconds) * 1_000_000_000));
    vec![
        view.name(),
        view.age(),
        view.or("/spec/signerName", "<none>").into(),
        view.text("/spec/username").into(),
        or_none(duration.unwrap_or_default()).into(),
        status.into(),
    ]
}
