//! MM-03. Unless the minimum is to be enforced, an order convicts if no pod that its pool could take waited for two loops before it.
//! It is put to the test by a pool that stays below its minimum for as long as a removal takes while nothing
//! waits.
//!
//! The subject is the pool of each order, judged once. It is excused by a pod that this pool may take and that waited within four
//! loops before, so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pool small has 0 servers, minimum 2; no pod waits
//! 10 s  POST /servers for pool small
//! ```
//!
//! It does not catch orders that pods gave a reason for, nor one too many for them (SU-02).

use mock_clock::Time;

use crate::check::causes::{first_attempts, hopeless};
use crate::check::fit::fit;
use crate::check::scene::{Scene, TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Pod, Spell};
use crate::terms::{SubjectOption, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("MM-03"),
    promise: "Without the flag that enforces it, a pool below its minimum is not filled while no pod waits",
    cite: &[
        faq!(
            "My cluster is below minimum / above maximum number of nodes, but CA did not fix that! Why?",
            "my-cluster-is-below-minimum--above-maximum-number-of-nodes-but-ca-did-not-fix-that-why"
        ),
        thread!(6564),
    ],
    level: Level::Must,
    kind: Kind::MinMax,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime], |scene, [reaction]| {
        if scene.is_on(SubjectOption::EnforceMin) {
            return Tally::default().verdict("the minimum was to be enforced");
        }
        let mut tally = Tally::default();
        let waits = |pod: &Pod| pod.waits() && !hopeless(scene, pod);
        let waits = |from: Time, to: Time| scene.pods.values().any(|track| track.ever(from, to, waits));
        for order in first_attempts(scene) {
            let Some(pool) = order.pool.as_deref().and_then(|pool| scene.pool(pool)) else { continue };
            let (since, later) = (order.began - scene.slack() * 2, order.began + TIE);
            let meant = |pod: &Pod| pod.waits() && !fit(scene, pod, pool).impossible();
            if !scene.pods.values().any(|track| track.ever(since, later, meant)) && later <= scene.end {
                let says = format!("{} was ordered in {} though no pod waited for it", order.name, pool.name);
                tally.violated(says, [order.event]);
            }
        }
        for spell in below(scene) {
            let until = spell.from + reaction + scene.slack() * 2;
            if spell.spans(spell.from, until) && scene.watched(spell.from, until) && !waits(spell.from, until)
            {
                tally.exercised();
            }
        }
        tally.verdict("no pool stayed below its minimum while no pod waited")
    })
}

/// While a pool has fewer servers than its minimum, and the subject runs.
fn below(scene: &Scene<'_>) -> Vec<Spell> {
    let Some(awake) = scene.awake_from(scene.history.header.began, scene.end) else { return Vec::new() };
    let mut spells = Vec::new();
    for pool in scene.pools() {
        let mut moments: Vec<Time> =
            scene.servers.values().flat_map(|track| track.seen.iter().map(|seen| seen.at)).collect();
        moments.retain(|at| *at > awake);
        moments.insert(0, awake);
        moments.push(scene.end);
        for pair in moments.windows(2) {
            if scene.live(&pool.name, pair[0]).len() < pool.min as usize {
                spells.push(Spell { from: pair[0], to: Some(pair[1]), began: 0, ended: None });
            }
        }
    }
    spells
}
