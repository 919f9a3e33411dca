//! Requests that nobody should send: whatever comes, it is answered, and no answer is the server's own failure.
//!
//! Paths, parameters, types and bodies are drawn apart from each other, from words the server knows and from noise, so
//! that each reader of the wire meets what another one was meant to read.

use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::Request;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use mock_clock::{Clock as _, VirtualClock};
use mock_kubernetes::ControlPlane;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config as Cases, TestCaseError, TestRunner};
use serde_json::{Value, json};

/// As many as fit into about two seconds.
const CASES: u32 = 1200;

const METHODS: &[&str] =
    &["GET", "POST", "PUT", "PATCH", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW"];

const PLACES: &[&str] = &[
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/services",
    "/api/v1/nodes",
    "/api/v1/namespaces",
    "/apis/apps/v1/namespaces/default/deployments",
    "/apis/batch/v1/namespaces/default/jobs",
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/api/v1/namespaces/default/serviceaccounts/default/token",
    "/api/v1/namespaces/default/bindings",
];

const ENDS: &[&str] =
    &["", "", "/a", "/a", "/a/status", "/a/scale", "/a/eviction", "/a/binding", "/a/log", "/a/b/c"];

const PARTS: &[&str] = &[
    "api",
    "apis",
    "v1",
    "apps",
    "namespaces",
    "pods",
    "watch",
    "proxy",
    "openapi",
    "v2",
    "v3",
    "version",
    "a",
    "",
    "..",
    "%2e%2e",
    "%2F",
    "%00",
    "%ff",
    "readyz",
    "A B",
];

const PARAMETERS: &[&str] = &[
    "watch",
    "limit",
    "continue",
    "resourceVersion",
    "resourceVersionMatch",
    "labelSelector",
    "fieldSelector",
    "allowWatchBookmarks",
    "sendInitialEvents",
    "timeoutSeconds",
    "dryRun",
    "fieldManager",
    "force",
    "fieldValidation",
    "propagationPolicy",
    "gracePeriodSeconds",
    "pretty",
    "includeObject",
];

const VALUES: &[&str] = &[
    "",
    "true",
    "0",
    "1",
    "-1",
    "18446744073709551616",
    "All",
    "a=b",
    "a in (b",
    "metadata.name=a",
    "spec.nodeName!=",
    "NotOlderThan",
    "Exact",
    "eyJ2IjoxfQ",
    "Strict",
    "%ff%fe",
    "!!",
    "Orphan",
    "None",
];

const TYPES: &[&str] = &[
    "application/json",
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/json-patch+json",
    "application/apply-patch+yaml",
    "application/cbor",
    "text/html",
    ";;;",
    "",
];

const ACCEPTED: &[&str] = &[
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "*/*",
    "",
    "a/b;q=",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/json;as=Nothing;v=v9;g=x",
];

const KEYS: &[&str] = &[
    "metadata",
    "name",
    "namespace",
    "labels",
    "finalizers",
    "ownerReferences",
    "spec",
    "status",
    "containers",
    "replicas",
    "selector",
    "matchLabels",
    "template",
    "kind",
    "apiVersion",
    "data",
    "$patch",
    "$setElementOrder/a",
    "op",
    "path",
    "value",
    "deleteOptions",
    "target",
    "versions",
    "schema",
    "resources",
    "requests",
];

/// What a real server, too, calls its own failure.
const UPSTREAM: &[&str] = &["strconv.ParseUint", "target.name: Required value"];

#[derive(Debug)]
struct Noise {
    method: String,
    path: String,
    content: &'static str,
    accept: &'static str,
    body: Vec<u8>,
}

fn path() -> impl Strategy<Value = String> {
    let known = (select(PLACES), select(ENDS)).prop_map(|(place, end)| format!("{place}{end}"));
    let wild = vec(prop_oneof![4 => select(PARTS).prop_map(str::to_owned), 1 => any::<String>()], 0..8);
    let wild = wild.prop_map(|parts| format!("/{}", parts.join("/")));
    let value = prop_oneof![3 => select(VALUES).prop_map(str::to_owned), 1 => any::<String>()];
    let query = vec((select(PARAMETERS), value), 0..4);
    (prop_oneof![3 => known, 1 => wild], query).prop_map(|(path, query)| {
        let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        escaped(&format!("{path}?{}", query.join("&")))
    })
}

/// What a client may put on the wire, percent signs as they are.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/?&=%.,!-_~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(VALUES).prop_map(Value::from),
        select(&["a", "Pod", "v1", "100m", "replace", "/spec/a~1", "delete"][..]).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let object = vec((select(KEYS), inner.clone()), 0..4);
        let object = object
            .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
        prop_oneof![vec(inner, 0..4).prop_map(Value::Array), object.prop_map(Value::Object)]
    })
}

/// A pod as it should be, with a part of it replaced.
fn nearly(replacement: Value, at: &str) -> Vec<u8> {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "a", "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "a", "image": "a:1", "resources": {"requests": {"cpu": "1"}}}]},
    });
    if let Some(part) = pod.pointer_mut(at) {
        *part = replacement;
    }
    pod.to_string().into_bytes()
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let parts =
        &["/metadata", "/metadata/labels", "/spec", "/spec/containers", "/spec/containers/0/resources", ""];
    prop_oneof![
        3 => tree().prop_map(|tree| tree.to_string().into_bytes()),
        3 => (tree(), select(&parts[..])).prop_map(|(tree, at)| nearly(tree, at)),
        1 => vec(tree(), 0..3).prop_map(|trees| Value::Array(trees).to_string().into_bytes()),
        2 => vec(any::<u8>(), 0..200),
        2 => vec(any::<u8>(), 0..200).prop_map(|noise| [b"k8s\0".to_vec(), noise].concat()),
        1 => "[a-z: \\n\\-&*!|>{}\\[\\]#'\"]{0,80}".prop_map(String::into_bytes),
        1 => (select(&[b'[', b'{', b'"', b'\n'][..]), 0..20_000_usize).prop_map(|(byte, count)| vec![byte; count]),
    ]
}

fn noise() -> impl Strategy<Value = Noise> {
    (select(METHODS), path(), select(TYPES), select(ACCEPTED), body()).prop_map(
        |(method, path, content, accept, body)| Noise {
            method: method.to_owned(),
            path,
            content,
            accept,
            body,
        },
    )
}

async fn answered(client: &Client, clock: &VirtualClock, noise: Noise) -> Result<(), TestCaseError> {
    let told = format!("{noise:?}");
    let request = Request::builder()
        .method(noise.method.as_str())
        .uri(&noise.path)
        .header("content-type", noise.content)
        .header("accept", noise.accept)
        .body(Body::from(noise.body));
    let Ok(request) = request else { return Err(TestCaseError::reject("no request")) };
    let answer = clock.timeout(Duration::from_secs(10), client.send(request)).await;
    let answer = answer.map_err(|_| TestCaseError::fail(format!("no answer to {told}")))?;
    let answer =
        answer.map_err(|error| TestCaseError::fail(format!("{error} instead of an answer to {told}")))?;
    let code = answer.status().as_u16();
    if code >= 500 && code != 501 && code != 504 {
        let text =
            answer.into_body().collect().await.map(|body| body.to_bytes().to_vec()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let known = UPSTREAM.iter().any(|sentence| text.contains(sentence));
        return if known { Ok(()) } else { Err(TestCaseError::fail(format!("{code} {text:?} to {told}"))) };
    }
    // A body that goes on for ever is left; any other is read, so that the connection is used again.
    if noise.path.contains("watch") {
        return Ok(());
    }
    let read = clock.timeout(Duration::from_secs(10), answer.into_body().collect()).await;
    let read = read.map_err(|_| TestCaseError::fail(format!("no end of the answer to {told}")))?;
    read.map(|_| ()).map_err(|error| TestCaseError::fail(format!("{error} in the answer to {told}")))
}

#[test]
fn noise_is_answered() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (plane, client) = runtime.block_on(async {
        let plane = ControlPlane::builder().bare().start().await.unwrap();
        let parsed = Kubeconfig::from_yaml(&plane.kubeconfig()).unwrap();
        let mut config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await.unwrap();
        config.default_retry = false;
        (plane, Client::try_from(config).unwrap())
    });
    let mut runner = TestRunner::new(Cases { cases: CASES, failure_persistence: None, ..Cases::default() });
    let ran = runner.run(&noise(), |noise| runtime.block_on(answered(&client, plane.clock(), noise)));
    ran.unwrap_or_else(|failure| panic!("{failure}"));
    runtime.block_on(async {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "after-"}});
        let create =
            Request::post("/api/v1/namespaces/default/configmaps").body(map.to_string().into_bytes());
        let made: Value = client.request(create.unwrap()).await.expect("it still works");
        assert_eq!(made["kind"], "ConfigMap");
    });
}
