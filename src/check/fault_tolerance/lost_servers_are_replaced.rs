//! FT-07. As SU-01, for pods that begin to wait within a quarter of an hour after a server of a pool was deleted without the
//! subject, and that are of the same controller as one that ran there; as long as its view of the cloud may be old is granted
//! besides. Each wait is judged once: SU-01 judges on.
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
use crate::history::query::{Pod, Spell};
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
        let lost: Vec<(Time, u64)> = lost(scene).collect();
        let after_loss = |pod: &Pod, spell: &Spell| {
            lost.iter().any(|(at, server)| {
                *at <= spell.from && spell.from <= *at + AFTERMATH && replaces(scene, pod, *server)
            })
        };
        reactions(scene, reaction + cache, after_loss)
            .verdict("no pod waited after a server had been deleted by somebody else")
    })
}

/// The servers that went without the subject, and when.
fn lost(scene: &Scene<'_>) -> impl Iterator<Item = (Time, u64)> {
    scene.servers.iter().filter_map(|(id, track)| {
        let gone = track.seen.iter().find(|seen| seen.state.is_none())?;
        let ours = scene.pool_of(*id).is_some_and(|pool| scene.pool(pool).is_some());
        let refused = |status: u16| status >= 300;
        let asked = scene
            .give_backs
            .iter()
            .any(|back| back.server == *id && back.began <= gone.at && !refused(back.status));
        (ours && !asked).then_some((gone.at, *id))
    })
}

/// Whether a pod is of the same controller as one that ran on a server.
fn replaces(scene: &Scene<'_>, pod: &Pod, server: u64) -> bool {
    let same = |other: &Pod| other.owner == pod.owner && other.namespace == pod.namespace;
    pod.owner.is_some()
        && scene.nodes_on(server).any(|(node, _)| {
            scene.pods_on(node).any(|(_, track)| {
                track
                    .seen
                    .iter()
                    .filter_map(|seen| seen.state.as_ref())
                    .any(|it| it.occupies(node) && same(it))
            })
        })
}
