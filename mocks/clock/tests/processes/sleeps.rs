//! Thousands of sleeps at once: none ends early, on either side, and all end.

use std::time::Duration;

use mock_clock::{Clock, IdleSkip, Mode, Rate, VirtualClock};

use crate::peer::Peer;

/// In each process: sleepers on a runtime, sleepers that block a thread each, and how often each sleeps.
const ON_RUNTIME: u64 = 496;
const ON_THREADS: u64 = 4;
const TIMES: u64 = 20;

pub(crate) fn none_ends_early_in_two_processes() {
    let settings = IdleSkip { round_up_to: Some(Duration::from_millis(100)), ..IdleSkip::default() };
    both_processes_sleep(&VirtualClock::start(Mode::IdleSkip(settings), None).unwrap(), 5_000);
}

pub(crate) fn none_ends_early_at_a_constant_rate() {
    let rate = Rate::new(60.0).unwrap();
    both_processes_sleep(&VirtualClock::start(Mode::Constant(rate), None).unwrap(), 3_000);
}

fn both_processes_sleep(clock: &VirtualClock, longest_ms: u64) {
    let mut peer = Peer::joining(clock, "sleep");
    peer.tell(&longest_ms.to_string());
    let here = sleep_a_lot(clock, longest_ms);
    let there: u64 = peer.line().parse().unwrap();
    assert_eq!(here + there, 2 * (ON_RUNTIME + ON_THREADS) * TIMES);
    println!("{}", clock.status());
}

pub(crate) fn sleep_as_peer() {
    let clock = VirtualClock::join().unwrap();
    let mut longest = String::new();
    std::io::stdin().read_line(&mut longest).unwrap();
    println!("{}", sleep_a_lot(&clock, longest.trim().parse().unwrap()));
}

/// Sleeps on a runtime of two threads and on plain threads; gives how many sleeps have ended, none early.
fn sleep_a_lot(clock: &VirtualClock, longest_ms: u64) -> u64 {
    let span = move |sleeper: u64, time: u64| {
        // Spread over the range without a generator: multiples of a large odd number.
        let spread = (sleeper * TIMES + time).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        Duration::from_millis(1 + spread % longest_ms)
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let tasks: Vec<_> = (0..ON_RUNTIME)
        .map(|sleeper| {
            let clock = clock.clone();
            runtime.spawn(async move {
                for time in 0..TIMES {
                    let (before, span) = (clock.now(), span(sleeper, time));
                    let woken = clock.sleep(span).await;
                    assert!(woken >= before + span && clock.now() >= before + span, "a sleep ended early");
                }
                TIMES
            })
        })
        .collect();
    let threads: Vec<_> = (ON_RUNTIME..ON_RUNTIME + ON_THREADS)
        .map(|sleeper| {
            let clock = clock.clone();
            std::thread::spawn(move || {
                for time in 0..TIMES {
                    let (before, span) = (clock.now(), span(sleeper, time));
                    clock.sleep(span).wait();
                    assert!(clock.now() >= before + span, "a sleep ended early");
                }
                TIMES
            })
        })
        .collect();
    let on_runtime: u64 = tasks.into_iter().map(|task| runtime.block_on(task).unwrap()).sum();
    let on_threads: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    on_runtime + on_threads
}
