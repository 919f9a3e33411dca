//! MM-04. If the minimum is to be enforced, a pool that is below it has something ordered within two loops
//! and the time for which the view of the cloud may be old.
//!
//! The subject is the pool, judged again as long as it is below its minimum. Each time is excused by calls that went wrong, an
//! order in progress, a limit that is reached, a pause, mostly unready nodes, or a back-off of this pool. The age of the view and
//! two loops are more than latency.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the subject starts; pool small has 0 servers, minimum 2
//! 145 s  nothing has been ordered
//! ```
//!
//! It does not catch whether the order comes true.

use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::{Scene, TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::query::Order;
use crate::history::{History, query};
use crate::terms::{Pool, SubjectOption, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("MM-04"),
    promise: "With the flag that enforces it, a pool below its minimum is filled by itself",
    cite: &[
        faq!(
            "My cluster is below minimum / above maximum number of nodes, but CA did not fix that! Why?",
            "my-cluster-is-below-minimum--above-maximum-number-of-nodes-but-ca-did-not-fix-that-why"
        ),
        flag!("--enforce-node-group-min-size"),
    ],
    level: Level::Must,
    kind: Kind::MinMax,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

/// Whoever has just been started may order before it counts as awake.
const FIRST: Duration = Duration::from_secs(120);

fn check(history: &History) -> Verdict {
    timed(history, [Timer::CloudCache], |scene, [cache]| {
        if !scene.is_on(SubjectOption::EnforceMin) {
            return Tally::default().verdict("the minimum was not to be enforced");
        }
        let mut tally = Tally::default();
        for pool in scene.pools() {
            for short in shortages(scene, pool) {
                fills(scene, &mut tally, pool, &short, cache);
            }
        }
        tally.verdict("no pool was below its minimum")
    })
}

/// The moments from which on a pool may be below its minimum, and the events that show them: the first start, and each loss of a
/// server of its own.
fn shortages(scene: &Scene<'_>, pool: &Pool) -> Vec<(Time, usize)> {
    let ours = scene.servers.iter().filter(|(id, _)| scene.pool_of(**id) == Some(&pool.name));
    let gone = ours.flat_map(|(_, track)| track.seen.iter().filter(|seen| seen.state.is_none()));
    let start = query::starts(scene.history).into_iter().next().map_or(0, |(_, event, _)| event);
    gone.map(|seen| (seen.at, seen.event)).chain([(scene.history.header.began, start)]).collect()
}

/// Judges that something is ordered, again and again while the pool is below its minimum.
fn fills(scene: &Scene<'_>, tally: &mut Tally, pool: &Pool, (lost, event): &(Time, usize), cache: Duration) {
    let short = |at| scene.live(&pool.name, at).len() < pool.min as usize;
    let begun = scene.history.header.began;
    let backoff = scene.longest_back_off();
    let mut next = scene.awake_from(*lost, scene.end);
    let mut since = next.map(|from| if from < begun + FIRST { begun } else { from - TIE });
    while let (Some(from), Some(asked)) = (next, since) {
        let deadline = from + cache + scene.slack();
        let ordered = |order: &Order| {
            order.pool.as_deref() == Some(&pool.name) && order.began >= asked && order.began <= deadline
        };
        if !short(asked) && !short(from) {
            return;
        }
        if scene.orders.iter().any(ordered) {
            tally.exercised();
        } else if short(from)
            && short(deadline)
            && scene.free(from, deadline)
            && !scene.limited(from)
            && !scene.limited(deadline)
            && !scene.mostly_unready(from)
            && !scene.hands_off(&pool.name, from, deadline)
            && !scene.may_back_off(&pool.name, from - backoff, deadline)
        {
            let says =
                format!("{} stayed below its minimum of {}, and nothing was ordered", pool.name, pool.min);
            tally.violated(says, [*event]);
            return;
        }
        next = scene.awake_from(deadline, scene.end);
        since = next;
    }
}
