//! What a process leaves behind when it ends, for the next one.

use std::time::Duration;

use mock_clock::Time;

use super::Tally;
use super::scene::{Scene, TIE};
use crate::history::query::REMOVAL_TAINT;

const MINUTE: Duration = Duration::from_secs(60);

/// Judges that nodes which carry the taint of removal when a process is started are given back or free of the taint a minute
/// after it could act, and two loops.
pub(super) fn taints_go(scene: &Scene<'_>, tally: &mut Tally, started: Time, event: usize) {
    for (name, track) in &scene.nodes {
        let tainted = track.spells(|node| node.has_taint(REMOVAL_TAINT));
        let Some(spell) =
            tainted.into_iter().find(|spell| spell.covers(started) && spell.from + TIE < started)
        else {
            continue;
        };
        let Some(awake) = scene.awake_from(started, scene.end) else { continue };
        let (until, server) = (awake + MINUTE + scene.slack(), scene.under(name, started));
        let given = scene.give_backs.iter().any(|back| Some(back.server) == server && back.began <= until);
        if given || spell.to.is_some_and(|to| to <= until) {
            tally.exercised();
        } else if scene.free(started, until) && scene.pool_of_node(name, started).is_some() {
            tally.violated(
                format!("{name} kept a taint that the process before had left"),
                [spell.began, event],
            );
        }
    }
}
