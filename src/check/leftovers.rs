//! What a process leaves behind when it ends, for the next one.

use std::time::Duration;

use mock_clock::Time;

use super::Tally;
use super::scene::{Scene, TIE};
use crate::history::query::{REMOVAL_TAINT, Spell};

const MINUTE: Duration = Duration::from_secs(60);

/// Judges that nodes which carry the taint of removal when a process begins to act are given back or free of the taint a minute
/// after it could act, and two loops. The subject of the promise is the node. If the process was excused (it was refused
/// something, or stood in an order) while the taint stays, the same is asked again.
pub(super) fn taints_go(scene: &Scene<'_>, tally: &mut Tally, started: Time, event: usize) {
    for (name, track) in &scene.nodes {
        let tainted = track.spells(|node| node.has_taint(REMOVAL_TAINT));
        let left = |spell: &Spell| spell.covers(started) && spell.from + TIE < started;
        let Some(spell) = tainted.into_iter().find(left) else { continue };
        let (mut awake, server) = (scene.awake_from(started, scene.end), scene.under(name, started));
        while let Some(from) = awake {
            let until = from + MINUTE + scene.slack();
            // What the process before was refused is not given back.
            let given = scene.give_backs.iter().any(|back| {
                let counts = back.began >= started || back.status < 300;
                Some(back.server) == server && back.began <= until && counts
            });
            if given || spell.to.is_some_and(|to| to <= until) {
                tally.exercised();
                break;
            }
            if !scene.watched(from, until) || scene.pool_of_node(name, started).is_none() {
                break;
            }
            if scene.free(from, until) {
                tally.violated(
                    format!("{name} kept a taint that the process before had left"),
                    [spell.began, event],
                );
                break;
            }
            awake = Some(until);
        }
    }
}
