//! Two processes read the clock in turn while its rate toggles: what one has seen, the other is not behind.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use mock_clock::{Clock, Mode, Rate, Time, VirtualClock};

use crate::peer::Peer;

const ROUNDS: usize = 3_000;

pub(crate) fn no_process_is_behind_another() {
    let fast = Rate::new(60.0).unwrap();
    let clock = VirtualClock::start(Mode::Constant(fast), None).unwrap();
    let mut peer = Peer::joining(&clock, "read");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                clock.set_rate(Rate::ONE).unwrap();
                clock.set_rate(fast).unwrap();
            }
        });
        for _ in 0..ROUNDS {
            let here = clock.now();
            peer.tell(&here.unix_nanos().to_string());
            let there = Time::from_unix_nanos(peer.line().parse().unwrap());
            let again = clock.now();
            assert!(here <= there && there <= again, "{here} here, then {there} there, then {again} here");
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// Answers every moment it is told with its own, until nobody asks any more.
pub(crate) fn read_as_peer() {
    let clock = VirtualClock::join().unwrap();
    for line in std::io::stdin().lines() {
        let told = Time::from_unix_nanos(line.unwrap().parse().unwrap());
        let now = clock.now();
        assert!(now >= told, "{told} there, then {now} here");
        println!("{}", now.unix_nanos());
        std::io::stdout().flush().unwrap();
    }
}
