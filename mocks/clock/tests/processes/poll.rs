//! A server in this process, polled by another one: time must not jump while a request or its answer is on its way.

use std::time::Duration;

use mock_clock::{Clock, Mode, Rate, Time, VirtualClock};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::peer::Peer;

const POLLS: u64 = 360;
const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn a_polled_server_never_times_out() {
    poll(&VirtualClock::idle_skip().unwrap(), &Case { polls: POLLS, timeout_ms: 30_000, ..Case::default() });
}

pub(crate) fn nor_beside_spinning_processes() {
    beside_spinning_processes(2);
}

pub(crate) fn nor_in_twenty_runs_beside_spinning_processes() {
    beside_spinning_processes(20);
}

fn beside_spinning_processes(runs: usize) {
    let spinners = 2 * std::thread::available_parallelism().unwrap().get();
    let _spinning: Vec<Peer> = (0..spinners).map(|_| Peer::apart("spin")).collect();
    for _ in 0..runs {
        a_polled_server_never_times_out();
    }
}

/// Nagle's algorithm holds the second write back, and both ends sleep 40 ms long.
pub(crate) fn two_small_writes_never_time_out() {
    let case = Case { polls: 40, timeout_ms: 30_000, writes: 2, ..Case::default() };
    poll(&VirtualClock::idle_skip().unwrap(), &case);
}

/// The same without a pause, so that bytes are held back whenever somebody looks, and always as many.
pub(crate) fn nor_do_they_in_a_row() {
    let case =
        Case { polls: 30, timeout_ms: 30_000, writes: 2, period: Duration::from_nanos(1), ..Case::default() };
    poll(&VirtualClock::idle_skip().unwrap(), &case);
}

pub(crate) fn a_slow_server_is_waited_for() {
    let case = Case { polls: 20, timeout_ms: 1_000, server: Duration::from_millis(50), ..Case::default() };
    poll(&VirtualClock::idle_skip().unwrap(), &case);
}

/// At five times real time 300 ms are one and a half seconds, unless the server's guard holds the rate down. No faster: who
/// has not read the request yet holds no guard, and on a busy machine that takes a while.
pub(crate) fn a_slow_server_is_waited_for_at_a_constant_rate() {
    let (server, period) = (Duration::from_millis(300), SECOND);
    let case = Case { polls: 5, server, period, ..Case::default() };
    poll(&VirtualClock::start(Mode::Constant(Rate::new(5.0).unwrap()), None).unwrap(), &case);
}

struct Case {
    polls: u64,
    timeout_ms: u64,
    /// In how many writes the client sends a request.
    writes: usize,
    /// How long the server takes, in real time.
    server: Duration,
    /// How often the client asks; it asks at once if it is late.
    period: Duration,
}

impl Default for Case {
    fn default() -> Self {
        Self { polls: POLLS, timeout_ms: 1_000, writes: 1, server: Duration::ZERO, period: 10 * SECOND }
    }
}

fn poll(clock: &VirtualClock, case: &Case) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_io().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(serve(clock.clone(), listener, case.server));
    let Case { polls, timeout_ms, writes, period, .. } = case;
    let period_ns = period.as_nanos();
    let mut peer = Peer::joining(clock, &format!("poll {address} {polls} {timeout_ms} {writes} {period_ns}"));
    let told = peer.line();
    println!("{told}\n{}", clock.status());
    assert!(told.starts_with(&format!("{polls} answers")), "{told}\n{}", clock.status());
    if clock.status().holding().is_some() {
        assert!(told.ends_with("jumped over 0ns"), "{told}\n{}", clock.status());
    }
}

/// Answers each line with the virtual time at which it was read.
async fn serve(clock: VirtualClock, listener: TcpListener, takes: Duration) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let clock = clock.clone();
        tokio::spawn(async move {
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            while stream.read_line(&mut line).await.is_ok_and(|length| length > 0) {
                // An answer that takes no time needs no guard: what is on its way is seen.
                let _busy = (!takes.is_zero()).then(|| clock.busy());
                #[expect(clippy::disallowed_methods, reason = "a server that is slow in real time")]
                tokio::task::block_in_place(|| std::thread::sleep(takes));
                let answer = format!("{}\n", clock.now().unix_nanos());
                stream.write_all(answer.as_bytes()).await.unwrap();
                line.clear();
            }
        });
    }
}

pub(crate) fn poll_as_peer<'a>(mut words: impl Iterator<Item = &'a str>) {
    let mut word = || words.next().expect("poll ADDRESS POLLS TIMEOUT_MS WRITES PERIOD_NS");
    let address = word().to_owned();
    let [polls, timeout_ms, writes, period_ns] =
        [word(), word(), word(), word()].map(|word| word.parse::<u64>().unwrap());
    let clock = VirtualClock::join().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    runtime.block_on(async {
        let mut stream = BufReader::new(TcpStream::connect(address).await.unwrap());
        let mut ticks = clock.interval(Duration::from_nanos(period_ns));
        let (mut slowest, mut jumped_over) = (Duration::ZERO, Duration::ZERO);
        for poll in 0..polls {
            ticks.tick().await;
            // Real time is read first and last: without a jump no more virtual time than that can pass between.
            let real = clock.real_elapsed();
            let asked = clock.now();
            let answer = clock.timeout(Duration::from_millis(timeout_ms), ask(&mut stream, writes)).await;
            let Ok(server) = answer else {
                println!("{poll} answers, then a timeout after {:?}", clock.now() - asked);
                return;
            };
            let answered = clock.now();
            assert!((asked..=answered).contains(&server), "{asked} {server} {answered}");
            slowest = slowest.max(answered - asked);
            jumped_over += (answered - asked).saturating_sub(clock.real_elapsed().saturating_sub(real));
        }
        println!("{polls} answers, the slowest after {slowest:?}, jumped over {jumped_over:?}");
    });
}

async fn ask(stream: &mut BufReader<TcpStream>, writes: u64) -> Time {
    for _ in 1..writes {
        stream.write_all(b"time ").await.unwrap();
    }
    stream.write_all(b"please\n").await.unwrap();
    let mut answer = String::new();
    stream.read_line(&mut answer).await.unwrap();
    Time::from_unix_nanos(answer.trim().parse().unwrap())
}
