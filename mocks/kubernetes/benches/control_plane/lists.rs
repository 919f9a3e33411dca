//! A long list, from the request to the last byte of the answer.

use mock_clock::Clock as _;

use crate::client::{Client, JSON, builder, post_all};
use crate::objects::PODS;
use crate::pod::pod;
use crate::report::Row;

const OBJECTS: usize = 15_000;
const TIMES: usize = 5;
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

pub(crate) fn measure() -> Vec<Row> {
    crate::block_on(async {
        let control_plane = builder().bare().start().await.unwrap();
        let client = Client::of(&control_plane).await;
        post_all(&client, PODS, OBJECTS, 64, pod).await;
        let mut rows = Vec::new();
        for (name, accept) in [("JSON", JSON), ("protobuf", PROTOBUF)] {
            for which in ["first", "best"] {
                let (mut best, mut length) = (None, 0);
                for _ in 0..if which == "first" { 1 } else { TIMES } {
                    let start = control_plane.clock().now();
                    length = client.get(PODS, accept).await;
                    let took = control_plane.clock().now() - start;
                    best = Some(best.map_or(took, |best| took.min(best)));
                }
                let what =
                    format!("list of 15,000 pods as {name} ({} MB), {which}", (length + 500_000) / 1_000_000);
                rows.push(Row::ms(what, best.unwrap_or_default(), None));
            }
        }
        rows
    })
}
