//! From nothing to the first answer.

use mock_clock::{Clock as _, Mode, VirtualClock};

use crate::client::{Client, JSON, builder};
use crate::report::Row;

/// How many more control planes the process starts: their tables are there already.
const AGAIN: usize = 10;

pub(crate) fn measure() -> Vec<Row> {
    crate::block_on(async {
        let first = once().await;
        let mut others = Vec::new();
        for _ in 0..AGAIN {
            others.push(once().await);
        }
        let again = others.into_iter().min().unwrap_or_default();
        vec![
            Row::ms("start to first GET /readyz, first in its process", first, Some(20.0)),
            Row::ms("start to first GET /readyz, one more", again, Some(20.0)),
        ]
    })
}

async fn once() -> std::time::Duration {
    let clock = VirtualClock::start(Mode::Real, None).unwrap();
    let start = clock.now();
    let control_plane = builder().start().await.unwrap();
    assert_eq!(Client::of(&control_plane).await.get("/readyz", JSON).await, 2);
    clock.now() - start
}
