//! KT-13. A claim that was told to go, by whomever, is gone within a minute and a half after the last pod that may keep it has left
//! its node and the last volume was detached; so is its node. Excused is a subject that does not run or is refused something.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  claim a is told to go; nothing runs on its node
//!  90 s  claim a is still there
//! ```
//!
//! It does not catch pods that never leave (KT-09).

use std::time::Duration;

use mock_clock::Time;

use super::claims::Claims;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{self, Track, Tracks};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KT-13"),
    promise: "A claim that was told to go is gone, with its node, once nothing keeps it",
    cite: &[
        Citation {
            where_: "Karpenter, Disruption, Termination Controller",
            url: "https://karpenter.sh/docs/concepts/disruption/",
        },
        Citation {
            where_: "kubernetes-sigs/karpenter #1578",
            url: "https://github.com/kubernetes-sigs/karpenter/issues/1578",
        },
    ],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: true,
    check,
};

/// How long that may take when nothing keeps it.
const GONE: Duration = Duration::from_secs(90);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let attachments = query::attachments(history);
    let mut tally = Tally::default();
    for (name, track) in &claims.all {
        for spell in track.spells(|claim| claim.ending) {
            let node = track.last().and_then(|claim| claim.node.as_deref());
            let free = node.map_or(spell.from, |node| kept(&claims, &attachments, node, spell.from));
            let Some(from) = claims.scene.awake_from(free.max(spell.from), claims.scene.end) else {
                continue;
            };
            let due = from + GONE + claims.scene.slack();
            if spell.to.is_some_and(|to| to <= due) {
                tally.exercised();
            } else if due <= claims.scene.end && claims.scene.calm(from, due) {
                let says = format!(
                    "claim {name} was told to go, and was still there {} s later",
                    (due - spell.from).as_secs()
                );
                tally.violated(says, [spell.began]);
            }
        }
    }
    tally.verdict("no claim was told to go")
}

/// Until when something kept a node from a moment on: a pod, or a volume.
fn kept(claims: &Claims<'_>, attachments: &Tracks<String, String>, node: &str, from: Time) -> Time {
    fn last<T>(track: &Track<T>, keeps: impl Fn(&T) -> bool, from: Time, end: Time) -> Time {
        let spells = track.spells(keeps).into_iter().filter(|spell| spell.touches(from, end));
        spells.map(|spell| spell.to.unwrap_or(end)).max().unwrap_or(from)
    }
    let end = claims.scene.end;
    let pods = claims.scene.pods_on(node).map(|(_, track)| {
        last(track, |pod| pod.node.as_deref() == Some(node) && !pod.finished() && !pod.resident(), from, end)
    });
    let volumes = attachments.values().map(|track| last(track, |on| on == node, from, end));
    pods.chain(volumes).fold(from, Time::max)
}
