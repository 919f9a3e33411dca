//! BO-01. Between the beginnings of two batches of orders for a pool, of which the first was refused for
//! good, lies the back-off: the initial one, twice that after the next failure in a row, and so on to the
//! maximum, less one loop. A restart of the subject forgets it.
//!
//! The subject is the pool, at each pair of batches. Excused is only another process. What a client of Kubernetes writes again
//! within five seconds after a 429 is one order, and one loop is granted, so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  POST /servers for pool small: 412
//! 20 s  POST /servers for pool small: 412
//! ```
//!
//! It does not catch failures that show only after the cloud took the order.

use mock_clock::Time;

use crate::check::backoff::batches::batches;
use crate::check::fit::fit;
use crate::check::scene::{TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Pod, Track};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("BO-01"),
    promise: "After an order of a pool has failed, the next one there waits for the back-off, which doubles up to its maximum",
    cite: &[
        faq!(
            "What happens in scale-up when I have no more quota in the cloud provider?",
            "what-happens-in-scale-up-when-i-have-no-more-quota-in-the-cloud-provider"
        ),
        flag!("--initial-node-group-backoff-duration"),
        flag!("--max-node-group-backoff-duration"),
    ],
    level: Level::Must,
    kind: Kind::Backoff,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(
        history,
        [Timer::BackoffInitial, Timer::BackoffMax, Timer::ScanInterval],
        |scene, [initial, most, scan]| {
            let mut tally = Tally::default();
            for pool in scene.pools() {
                let batches = batches(scene, &pool.name);
                let mut expected = initial;
                for pair in batches.windows(2) {
                    let (one, next) = (&pair[0], &pair[1]);
                    let same_process = scene.same(one.orders[0].replica, one.began, next.began)
                        && one.orders[0].replica == next.orders[0].replica;
                    if !one.failed() || !same_process {
                        expected = initial;
                        continue;
                    }
                    tally.exercised();
                    let waited = next.began - one.began;
                    if waited + scan + TIE < expected {
                        let says = format!(
                            "{} had something ordered again after {} s, in a back-off of {} s",
                            pool.name,
                            waited.as_secs(),
                            expected.as_secs()
                        );
                        tally.violated(says, [one.event(), next.event()]);
                    }
                    expected = (expected * 2).min(most);
                }
                let wanted = |track: &Track<Pod>, at: Time| {
                    let waits = track.always(at - TIE, at + scene.slack(), Pod::waits);
                    let pod = track.at(at).filter(|_| waits);
                    pod.is_some_and(|pod| !fit(scene, pod, pool).impossible())
                };
                if let Some(last) = batches.last().filter(|last| last.failed())
                    && scene.watched(last.began, last.began + initial)
                    && scene.pods.values().any(|track| wanted(track, last.ended))
                {
                    tally.exercised();
                }
            }
            tally.verdict("no order was refused")
        },
    )
}
