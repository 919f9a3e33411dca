//! SF-01. While a disruption budget says that none of its pods may go, as it said for two loops and a few
//! calls, no removal is decided of a node with such a pod, and its server is not given back under it.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  web-1 runs on small-a; its disruption budget allows none to go
//! 700 s  DELETE of the server of small-a
//! ```
//!
//! It does not catch evictions that were tried and refused: the API refuses them, and SF-02 is about that.

use mock_clock::Time;

use crate::check::blocked::must_stay;
use crate::check::scene::{Scene, TIE};
use crate::check::{Expectation, HETZNER, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Budget, Pod};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-01"),
    promise: "A pod whose disruption budget allows none is neither evicted nor does it lose its server",
    cite: &[faq!(
        "Does CA work with PodDisruptionBudget in scale-down?",
        "does-ca-work-with-poddisruptionbudget-in-scale-down"
    )],
    level: Level::Must,
    kind: Kind::Safety,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    must_stay(
        history,
        blocks,
        "whose disruption budget allowed none to go",
        "no pod whose disruption budget allows none to go was on a node that could otherwise go",
    )
}

fn blocks(scene: &Scene<'_>, pod: &Pod, at: Time) -> bool {
    let none = |budget: &Budget| budget.covers(pod) && budget.allowed == Some(0);
    scene.budgets.values().any(|track| track.always(at - scene.slack(), at + TIE, none))
}
