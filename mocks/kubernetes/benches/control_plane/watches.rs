//! How long after a write was sent its watchers have it, at a steady rate of writes.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use mock_clock::{Clock as _, Time, VirtualClock};
use mock_kubernetes::ControlPlane;

use crate::client::{Client, JSON, builder, tls};
use crate::objects::{CONFIG_MAPS, config_map};
use crate::report::{Row, percentile};

const WRITES: usize = 3_000;
const PERIOD: Duration = Duration::from_millis(1);
/// Watchers share connections, as those of one client do.
const CONNECTIONS: usize = 10;
const WATCH: &str = "/api/v1/namespaces/default/configmaps?watch=true";

/// When each write was sent.
type Sent = Arc<[OnceLock<Time>]>;

pub(crate) fn measure() -> Vec<Row> {
    [1, 10, 100].into_iter().flat_map(with).collect()
}

fn with(watchers: usize) -> [Row; 2] {
    let mut late = crate::block_on(async {
        let control_plane = builder().bare().start().await.unwrap();
        let sent: Sent = (0..WRITES).map(|_| OnceLock::new()).collect();
        let watches = open(&control_plane, watchers, &sent).await;
        write(&control_plane, &sent).await;
        let mut late = Vec::new();
        for watch in watches {
            late.extend(watch.await.unwrap());
        }
        late
    });
    late.sort();
    let what = |percent| format!("watch latency p{percent}, {watchers} watchers, 1,000 writes/s");
    [Row::ms(what(50), percentile(&late, 50), None), Row::ms(what(99), percentile(&late, 99), Some(5.0))]
}

async fn open(
    control_plane: &ControlPlane,
    watchers: usize,
    sent: &Sent,
) -> Vec<tokio::task::JoinHandle<Vec<Duration>>> {
    let (tls, mut clients, mut watches) = (tls(control_plane), Vec::new(), Vec::new());
    for _ in 0..watchers.min(CONNECTIONS) {
        clients.push(Client::connect(control_plane.address(), &tls).await);
    }
    for number in 0..watchers {
        let events = clients[number % clients.len()].open(WATCH, JSON).await;
        watches.push(tokio::spawn(follow(events, control_plane.clock().clone(), sent.clone())));
    }
    watches
}

async fn write(control_plane: &ControlPlane, sent: &Sent) {
    let client = Client::of(control_plane).await;
    let clock = control_plane.clock();
    let mut due = clock.now();
    for number in 0..WRITES {
        due += PERIOD;
        clock.sleep_until(due).await;
        let (client, body) = (client.clone(), config_map(number));
        let _ = sent[number].set(clock.now());
        tokio::spawn(async move { client.post(CONFIG_MAPS, body).await });
    }
}

/// Reads until the last write was told.
async fn follow(mut events: Incoming, clock: VirtualClock, sent: Sent) -> Vec<Duration> {
    let mut late = Vec::with_capacity(WRITES);
    let mut rest = Vec::new();
    while late.len() < WRITES {
        let Some(Ok(frame)) = events.frame().await else { break };
        let Some(data) = frame.data_ref() else { continue };
        let now = clock.now();
        rest.extend_from_slice(data);
        let mut told = 0;
        for line in rest.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            told += line.len();
            if let Some(sent) = number(line).and_then(|number| sent.get(number)?.get()) {
                late.push(now - *sent);
            }
        }
        rest.drain(..told);
    }
    late
}

/// Which write an event tells of. The name stands at the end of an event, and reading all of it would cost more
/// than the server's part.
fn number(line: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"\"name\":\"config-";
    let at = line.windows(NAME.len()).rposition(|window| window == NAME)? + NAME.len();
    let digits = line[at..].iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}
