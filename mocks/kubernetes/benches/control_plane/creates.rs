//! Creates a second, on one connection.

use bytes::Bytes;
use mock_clock::Clock as _;

use crate::client::{Client, builder, post_all};
use crate::objects::{CONFIG_MAPS, PODS, config_map};
use crate::pod::pod;
use crate::report::Row;

pub(crate) fn measure() -> Vec<Row> {
    let serial = Some(4_000.0);
    let many = Some(15_000.0);
    vec![
        row(
            "creates of a ConfigMap of 1 kB, one after the other",
            (CONFIG_MAPS, config_map),
            (4_000, 1),
            serial,
        ),
        row("creates of a ConfigMap of 1 kB, 64 in flight", (CONFIG_MAPS, config_map), (20_000, 64), many),
        row("creates of a pod, one after the other", (PODS, pod), (4_000, 1), serial),
        row("creates of a pod, 64 in flight", (PODS, pod), (20_000, 64), many),
    ]
}

fn row(
    what: &str,
    (path, body): (&'static str, fn(usize) -> Bytes),
    (count, in_flight): (usize, usize),
    target: Option<f64>,
) -> Row {
    crate::block_on(async {
        let control_plane = builder().bare().start().await.unwrap();
        let client = Client::of(&control_plane).await;
        let clock = control_plane.clock();
        let start = clock.now();
        post_all(&client, path, count, in_flight, body).await;
        Row::per_second(what, count, clock.now() - start, target)
    })
}
