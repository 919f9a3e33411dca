//! HY-08. In an hour in which no pod waits, nothing is ordered or given back, and nothing that was asked is
//! refused, no more than 120 calls go to the cloud; where its servers take several pages, so many times that. The subject of the
//! promise is the subject itself: each hour is judged, and any pod that waits, any deed and any trouble excuses it for that hour.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s to 3600 s  GET /servers every 10 s
//! ```
//!
//! It does not catch bursts within the hour.

use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::Scene;
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::query::Pod;
use crate::history::{History, What};
use crate::terms::Api;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("HY-08"),
    promise: "While nothing is to be done the cloud is asked at most 120 times an hour",
    cite: &[thread!(5055)],
    level: Level::Should,
    kind: Kind::Hygiene,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

const HOUR: Duration = Duration::from_secs(3600);
const DOCUMENTED: usize = 120;
/// So many servers the cloud shows at a time.
const PAGE: usize = 50;

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let calls: Vec<(Time, usize)> = history
        .events
        .iter()
        .enumerate()
        .filter_map(|(event, happened)| match &happened.what {
            What::Call(call) if call.to == Api::Cloud && !call.open => Some((call.began, event)),
            _ => None,
        })
        .collect();
    let mut tally = Tally::default();
    let mut from = scene.awake_from(history.header.began, scene.end).unwrap_or(scene.end);
    while from + HOUR <= scene.end {
        let until = from + HOUR;
        let within = |at: Time| from <= at && at < until;
        let busy = scene.orders.iter().any(|order| within(order.began))
            || scene.give_backs.iter().any(|back| within(back.began));
        if !busy
            && scene.calm(from, until)
            && !scene.pods.values().any(|track| track.ever(from, until, Pod::waits))
        {
            tally.exercised();
            let asked: Vec<usize> =
                calls.iter().filter(|(at, _)| within(*at)).map(|(_, event)| *event).collect();
            if asked.len() > DOCUMENTED * pages(&scene, from, until) {
                tally.violated(format!("the cloud was asked {} times in an idle hour", asked.len()), asked);
            }
            from = until;
        } else {
            from += HOUR / 12;
        }
    }
    tally.verdict("no hour was idle")
}

/// How many pages the list of servers had at most: each is a call.
fn pages(scene: &Scene<'_>, from: Time, until: Time) -> usize {
    let there = scene.servers.values().filter(|track| track.ever(from, until, |_| true)).count();
    there.div_ceil(PAGE).max(1)
}
