//! What becomes of a server that was bought and has no node: it is given back. Several promises are this one, for different
//! servers.
//!
//! The subject of the promise is the single server. It is judged when the provision time and the listing of machines have
//! passed, and as long as it is there again. Excused is a subject that does not run, whose view was refused or that stands in
//! an order when it is due, a pool at its minimum, paused or rolled out: each for the time that it lasts, and where time is
//! counted anew, for the provision time after it. Orders that are refused excuse nothing: what is unregistered is looked at
//! before.

use std::time::Duration;

use mock_clock::Time;

use super::scene::{Scene, TIE};
use crate::history::query::GiveBack;

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// A node has come.
    Node,
    /// The subject gave it back.
    GivenBack,
    /// Somebody else took it away.
    Gone,
    /// It was left.
    Left,
    /// Nobody can tell.
    Untold,
}

/// What became of a server that is waited for from a moment on.
pub(super) fn fate(scene: &Scene<'_>, server: u64, since: Time, provision: Duration) -> Fate {
    let Some(track) = scene.servers.get(&server) else { return Fate::Untold };
    let Some(pool) = scene.pool_of(server).and_then(|pool| scene.pool(pool)) else { return Fate::Untold };
    // What was refused echoes, and who lists again begins to count then.
    let settle = scene.slack() * 6;
    let (mut from, mut ripe) = (since, since + provision);
    loop {
        let until = ripe + scene.listing();
        let asked = |back: &&GiveBack| back.server == server && back.began <= until;
        let asked: Vec<&GiveBack> = scene.give_backs.iter().filter(asked).collect();
        let taken = asked.iter().find(|back| back.taken()).map(|back| back.began);
        let came = |at: Time| at <= taken.unwrap_or(until);
        if scene.nodes_on(server).any(|(_, node)| node.first().is_some_and(|seen| came(seen.at))) {
            return Fate::Node;
        }
        if taken.is_some() {
            return Fate::GivenBack;
        }
        if until > scene.end {
            return Fate::Untold;
        }
        if track.at(until).is_none() {
            return if asked.is_empty() { Fate::Gone } else { Fate::GivenBack };
        }
        let refused = asked.iter().map(|back| back.ended + settle).max();
        if let Some(again) = refused.filter(|again| *again > ripe) {
            (from, ripe) = (again - settle, again);
        } else if !scene.watched(from, until) {
            let Some(started) = scene.next_start(from) else { return Fate::Untold };
            (from, ripe) = (started, started + provision);
        } else if let Some(ended) = scene.last_trouble_but_orders(from + settle, until) {
            (from, ripe) = (ended, ripe.max(ended + provision));
        } else if let Some(ended) = scene.busy_until(ripe, until) {
            ripe = ended + TIE;
        } else if scene.live(&pool.name, until).len() <= pool.min as usize
            || scene.hands_off(&pool.name, ripe, until)
        {
            ripe = until;
        } else {
            return Fate::Left;
        }
    }
}
