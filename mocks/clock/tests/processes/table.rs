//! More processes than slots.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mock_clock::{Clock, VirtualClock};

/// Threads stand in for processes: they have ids of the same kind, and live as long as the test wants.
pub(crate) fn a_peer_without_a_slot_stops_the_jumping() {
    let clock = VirtualClock::idle_skip().unwrap();
    let (done, turned_away) = (std::sync::Barrier::new(66), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..65 {
            scope.spawn(|| {
                let tid = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
                if let Err(full) = clock.track(tid) {
                    assert!(full.to_string().contains("all 64 slots are taken"), "{full}");
                    turned_away.fetch_add(1, Ordering::Relaxed);
                }
                done.wait();
            });
        }
        let slept = clock.sleep(Duration::from_millis(200));
        done.wait();
        slept.wait();
    });
    assert_eq!(turned_away.into_inner(), 1);
    let told = clock.status().to_string();
    assert!(
        told.contains("the slot table is full: whoever came after that (1 so far) runs without a slot"),
        "{told}"
    );
    let jumps = clock.status().jumps();
    clock.sleep(Duration::from_millis(100)).wait();
    assert_eq!(clock.status().jumps(), jumps, "it still does not jump");
}
