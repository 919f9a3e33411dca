//! From an empty cluster to one whose pods all have their nodes.

use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use mock_clock::Clock as _;

use crate::client::{Client, builder, post_all};
use crate::objects::{NODES, PODS, node};
use crate::pod::pod;
use crate::report::Row;

const NODE_COUNT: usize = 1_000;
const POD_COUNT: usize = 10_000;
/// Longer than this is no figure any more.
const PATIENCE: Duration = Duration::from_secs(60);
/// What the scheduler has bound, and nothing else; metadata alone costs the reader least.
const BOUND: &str = "/api/v1/pods?watch=true&fieldSelector=spec.nodeName!%3D";
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

pub(crate) fn measure() -> Vec<Row> {
    crate::block_on(async {
        let control_plane = builder().controllers(false).start().await.unwrap();
        let client = Client::of(&control_plane).await;
        let clock = control_plane.clock();
        let start = clock.now();
        let bound = tokio::spawn(count(client.open(BOUND, METADATA).await));
        post_all(&client, NODES, NODE_COUNT, 64, node).await;
        make_ready(&client).await;
        let created = clock.now();
        post_all(&client, PODS, POD_COUNT, 64, pod).await;
        let written = clock.now() - created;
        clock.timeout(PATIENCE, bound).await.unwrap().unwrap();
        let took = clock.now() - start;
        vec![
            Row::ms("from empty to 10,000 pods bound on 1,000 nodes", took, Some(5_000.0)),
            Row::ms("of that, until all pods were created", written, None),
        ]
    })
}

/// The taint of a new node is taken off by the node controller, which is not measured here.
async fn make_ready(client: &Client) {
    let untainted = bytes::Bytes::from_static(br#"{"spec":{"taints":null}}"#);
    for number in 0..NODE_COUNT {
        let path = format!("{NODES}/node-{number}");
        client.patch(&path, "application/merge-patch+json", untainted.clone()).await;
    }
}

/// Reads until as many pods came to be bound as there are.
async fn count(mut events: Incoming) {
    let mut added = 0;
    let mut rest = Vec::new();
    while added < POD_COUNT {
        let Some(Ok(frame)) = events.frame().await else { return };
        let Some(data) = frame.data_ref() else { continue };
        rest.extend_from_slice(data);
        let mut told = 0;
        for line in rest.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            told += line.len();
            added += usize::from(line.starts_with(br#"{"type":"ADDED""#));
        }
        rest.drain(..told);
    }
}
