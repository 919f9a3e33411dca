//! What a large cluster weighs.

use mock_clock::Clock as _;

use crate::client::{Client, JSON, builder, post_all};
use crate::objects::{NODES, PODS, node};
use crate::pod::pod;
use crate::report::{Row, resident};

const NODE_COUNT: usize = 5_000;
const POD_COUNT: usize = 100_000;

pub(crate) fn measure() -> Vec<Row> {
    crate::block_on(async {
        let control_plane = builder().bare().start().await.unwrap();
        let client = Client::of(&control_plane).await;
        post_all(&client, PODS, 1, 1, |_| pod(POD_COUNT)).await;
        client.get("/readyz", JSON).await;
        let (before, start) = (resident(), control_plane.clock().now());
        post_all(&client, NODES, NODE_COUNT, 64, node).await;
        post_all(&client, PODS, POD_COUNT, 64, pod).await;
        let took = control_plane.clock().now() - start;
        let grown = resident() - before;
        let bytes = client.get(NODES, JSON).await + client.get(PODS, JSON).await;
        let what = "5,000 nodes and 100,000 pods";
        vec![
            Row::megabytes(format!("memory of {what}"), grown, Some(600.0)),
            Row::megabytes(format!("the JSON of {what}"), bytes as f64, None),
            Row::ms(format!("time to create {what}, 64 in flight"), took, None),
        ]
    })
}
