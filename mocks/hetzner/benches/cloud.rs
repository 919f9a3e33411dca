//! What a cloud answers in a second, and what it weighs: `cargo bench -p mock-hetzner`.
//!
//! Everything goes over the wire from clients in the same process: the two share the processors that are named above
//! the table, and much of what is measured is the client. Nothing is asserted; the target stands beside the figure.
//! `taskset -c 0,1 cargo bench -p mock-hetzner --bench cloud` is what the target is about.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has nothing to measure")]
#![expect(clippy::cast_precision_loss, reason = "figures are rounded for the eye")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use mock_clock::Clock as _;
use mock_hetzner::{Catalogue, Cloud, Request};

/// How long each figure is taken for.
const SPAN: Duration = Duration::from_secs(3);

fn main() {
    // `cargo test --benches` only asks whether the benchmarks run.
    let span =
        if std::env::args().any(|argument| argument == "--bench") { SPAN } else { Duration::from_millis(50) };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    println!("\n{} processors, shared by server and clients", thread::available_parallelism().unwrap());
    println!("\n| what | figure | target on 2 processors |\n|---|--:|--:|");
    runtime.block_on(lists(span));
    runtime.block_on(memory());
}

/// One without limits.
async fn cloud() -> Cloud {
    let mut catalogue = Catalogue::builtin();
    catalogue.limits.servers = 1_000_000;
    catalogue.limits.cores = 1_000_000;
    catalogue.limits.primary_ips = 1_000_000;
    let cloud = Cloud::builder().token("token").catalogue(catalogue).requests_per_hour(1 << 40);
    cloud.start().await.unwrap()
}

/// Makes servers without going over the wire.
fn make(cloud: &Cloud, numbers: std::ops::Range<usize>) {
    for n in numbers {
        let body = format!(
            r#"{{"name": "server-{n}", "server_type": "cx23", "image": "ubuntu-24.04", "location": "fsn1",
                "labels": {{"hcloud/node-group": "pool-{}"}}}}"#,
            n % 7
        );
        let request = Request::new("POST", "/v1/servers").token("token").body(body);
        let reply = cloud.with(|engine, now| engine.answer(now, &request));
        assert_eq!(
            reply.status,
            201,
            "{:?}",
            reply.body.map(|body| String::from_utf8_lossy(&body).into_owned())
        );
    }
}

async fn lists(span: Duration) {
    let cloud = cloud().await;
    make(&cloud, 0..100);
    // Until all of them run.
    cloud.with(|engine, now| engine.advance(now + Duration::from_secs(600)));
    for (what, path, target) in [
        ("lists of 100 servers, 25 a page", "/v1/servers", "≥ 8,000/s"),
        ("lists of 100 servers, 50 a page", "/v1/servers?per_page=50", ""),
        ("one server", "/v1/servers/100000001", ""),
    ] {
        for clients in [1, 4, 16] {
            let (count, bytes) = ask(cloud.address(), path, clients, span);
            let rate = count as f64 / span.as_secs_f64();
            println!("| {what}, {clients} at a time ({} kB each) | {rate:.0}/s | {target} |", bytes / 1000);
        }
    }
    let lists = changing(&cloud, span);
    println!("| lists of 100 servers, 25 a page, each after a change, without the wire | {lists:.0}/s | |");
}

/// How many answers so many clients get within a span, and how long each is.
fn ask(address: SocketAddr, path: &str, clients: usize, span: Duration) -> (u64, usize) {
    let clock = mock_clock::VirtualClock::start(mock_clock::Mode::Real, None).unwrap();
    let (until, count) = (clock.now() + span, AtomicU64::new(0));
    let bytes = thread::scope(|scope| {
        let all: Vec<_> = (0..clients)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = Client::new(address, path);
                    let mut bytes = 0;
                    while clock.now() < until {
                        bytes = client.ask();
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    bytes
                })
            })
            .collect();
        all.into_iter().map(|client| client.join().unwrap()).max().unwrap()
    });
    (count.into_inner(), bytes)
}

/// How many lists can be made in a second if none is like the one before.
fn changing(cloud: &Cloud, span: Duration) -> f64 {
    let list = Request::new("GET", "/v1/servers").token("token");
    let begun = cloud.clock().now();
    let mut count = 0;
    while cloud.clock().now() - begun < span {
        let body = format!(r#"{{"labels": {{"n": "{count}"}}}}"#);
        let change = Request::new("PUT", "/v1/servers/100000001").token("token").body(body);
        cloud.with(|engine, now| {
            engine.answer(now, &change);
            assert_eq!(engine.answer(now, &list).status, 200);
        });
        count += 1;
    }
    f64::from(count) / span.as_secs_f64()
}

/// One connection that asks the same again and again.
struct Client {
    stream: BufReader<TcpStream>,
    request: String,
    buffer: Vec<u8>,
}

impl Client {
    fn new(address: SocketAddr, path: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: cloud\r\nAuthorization: Bearer token\r\n\r\n");
        Self { stream: BufReader::with_capacity(1 << 18, stream), request, buffer: Vec::new() }
    }

    /// The length of the answer's body.
    fn ask(&mut self) -> usize {
        self.stream.get_mut().write_all(self.request.as_bytes()).unwrap();
        let (mut line, mut length) = (String::new(), 0);
        loop {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        self.buffer.resize(length, 0);
        self.stream.read_exact(&mut self.buffer).unwrap();
        length
    }
}

async fn memory() {
    let cloud = cloud().await;
    make(&cloud, 0..10);
    let (before, begun) = (resident(), cloud.clock().now());
    let mut most = before;
    for thousand in 1..=10 {
        make(&cloud, thousand * 1_000..(thousand + 1) * 1_000);
        most = most.max(resident());
    }
    let took = cloud.clock().now() - begun;
    println!(
        "| memory of 10,000 servers with their addresses and actions | {:.0} MB | |",
        (most - before) / 1e6
    );
    println!("| time to create them | {:.1} s | |", took.as_secs_f64());
}

/// The memory of this process, in bytes.
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096.0
}
