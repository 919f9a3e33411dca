//! FT-07. As SU-01, for pods that begin to wait after a server of a pool was deleted without the subject; as
//! long as its view of the cloud may be old is granted besides.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  server 7 of pool small is deleted by hand; its node goes
//!  10 s  pod web-1 is unschedulable
//! 125 s  nothing has been ordered
//! ```
//!
//! It does not catch a loss after which no pod waits.

use std::time::Duration;

use mock_clock::Time;

use crate::check::reaction::reactions;
use crate::check::scene::{Scene, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Spell;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-07"),
    promise: "When a server is deleted by somebody else, room is ordered for its pods once that can be seen",
    cite: &[faq!(
        "My cluster is below minimum / above maximum number of nodes, but CA did not fix that! Why?",
        "my-cluster-is-below-minimum--above-maximum-number-of-nodes-but-ca-did-not-fix-that-why"
    )],
    level: Level::Must,
    kind: Kind::FaultTolerance,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

/// Pods whose server went away wait until their old pods are given up.
const AFTERMATH: Duration = Duration::from_secs(900);

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime, Timer::CloudCache], |scene, [reaction, cache]| {
        let lost: Vec<Time> = lost(scene).collect();
        let after_loss =
            |spell: &Spell| lost.iter().any(|at| *at <= spell.from && spell.from <= *at + AFTERMATH);
        reactions(scene, reaction + cache, |_, spell| after_loss(spell))
            .verdict("no pod waited after a server had been deleted by somebody else")
    })
}

fn lost(scene: &Scene<'_>) -> impl Iterator<Item = Time> {
    scene.servers.iter().filter_map(|(id, track)| {
        let gone = track.seen.iter().find(|seen| seen.state.is_none())?;
        let ours = scene.pool_of(*id).is_some_and(|pool| scene.pool(pool).is_some());
        let asked = scene.give_backs.iter().any(|back| back.server == *id && back.began <= gone.at);
        (ours && !asked).then_some(gone.at)
    })
}
