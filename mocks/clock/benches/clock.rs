//! What the clock costs, and what it saves: `cargo bench --benches -p mock-clock`.
//!
//! Criterion prints the costs. The table after them says how much virtual time a second of real time bought, how
//! late the ticks were, and what watching for idleness has cost; all of a row from one and the same run.

#![expect(clippy::disallowed_methods, reason = "what is measured here is real time")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot start has nothing to measure")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group};
use mock_clock::{Clock, IdleSkip, Mode, Time, VirtualClock};

const HOUR: Duration = Duration::from_secs(3_600);

fn reads(c: &mut Criterion) {
    let clock = VirtualClock::start(Mode::Real, None).unwrap();
    let joined = VirtualClock::join_at(&clock.environment().unwrap().1).unwrap();
    let mut group = c.benchmark_group("read");
    group.bench_function("machine", |b| b.iter(Instant::now));
    group.bench_function("own clock", |b| b.iter(|| clock.now()));
    group.bench_function("joined clock", |b| b.iter(|| joined.now()));
    group.finish();
}

/// Setting a timer and taking it back, and firing many, with so many others waiting.
fn timers(c: &mut Criterion) {
    let mut group = c.benchmark_group("timer");
    for waiting in [0, 1_000, 100_000_u32] {
        let (clock, _hand) = VirtualClock::manual(Time::EPOCH);
        let mut others: Vec<_> = (1..=waiting).map(|n| clock.sleep(HOUR / waiting * n)).collect();
        others.iter_mut().for_each(poll);
        group.bench_function(BenchmarkId::new("set and drop among", waiting), |b| {
            b.iter(|| poll(&mut clock.sleep(black_box(HOUR / 2))));
        });
    }
    for fired in [1_000, 100_000_u32] {
        group.bench_function(BenchmarkId::new("fire, each of", fired), |b| {
            b.iter_custom(|rounds| {
                let one_round = || {
                    let (clock, hand) = VirtualClock::manual(Time::EPOCH);
                    let mut sleeps: Vec<_> = (0..fired).map(|_| clock.sleep(HOUR)).collect();
                    sleeps.iter_mut().for_each(poll);
                    let start = Instant::now();
                    hand.advance(2 * HOUR);
                    start.elapsed() / fired
                };
                (0..rounds).map(|_| one_round()).sum()
            });
        });
    }
    group.finish();
}

fn poll(sleep: &mut mock_clock::Sleep) {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(std::pin::Pin::new(sleep).poll(&mut context).is_pending());
}

/// From falling asleep to being woken ten virtual seconds later.
fn jumps(c: &mut Criterion) {
    let clock = VirtualClock::idle_skip().unwrap();
    let mut group = c.benchmark_group("jump");
    group.bench_function("sleep of 10 s", |b| b.iter(|| clock.sleep(Duration::from_secs(10)).wait()));
    group.finish();
}

/// How much virtual time a ticker gets for its real time.
fn ratios() {
    println!(
        "\n| ticker | jumps end on | virtual | real | ratio | late p50 | late p99 | watching, of a processor |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|");
    let default = IdleSkip::default();
    let rounded = IdleSkip { round_up_to: Some(Duration::from_millis(500)), ..default };
    let eager = IdleSkip { watch_percent: 50, ..default };
    let cases =
        [(10_000, 3_600, default), (10_000, 3_600, eager), (100, 6_000, default), (100, 6_000, rounded)];
    for (period_ms, ticks, settings) in cases {
        let clock = VirtualClock::start(Mode::IdleSkip(settings), None).unwrap();
        let (start, real) = (clock.now(), Instant::now());
        let mut interval = clock.interval(Duration::from_millis(period_ms));
        for _ in 0..ticks {
            interval.wait();
        }
        let (passed, real) = (clock.now() - start, real.elapsed());
        let (lag, watching) = (clock.lag(), clock.status().watching());
        println!(
            "| {:?} | {} | {passed:.0?} | {real:.2?} | {:.0} | {:.2?} | {:.2?} | {:.1} % |",
            Duration::from_millis(period_ms),
            settings.round_up_to.map_or("the deadline".to_owned(), |grid| format!("multiples of {grid:?}")),
            passed.as_secs_f64() / real.as_secs_f64(),
            lag.late_p50,
            lag.late_p99,
            100.0 * watching.as_secs_f64() / real.as_secs_f64(),
        );
    }
}

criterion_group! {
    name = costs;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20);
    targets = reads, timers, jumps
}

fn main() {
    costs();
    // `cargo test --benches` only asks whether the benchmarks run.
    if std::env::args().any(|argument| argument == "--bench") {
        ratios();
    }
}
