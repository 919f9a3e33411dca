//! FT-01. In a minute that begins with an answer of 429 from the cloud, no more than sixty calls go there: a spent limit is
//! refilled by one call a second, so a subject that asks no oftener lets it recover. The subject of the promise is the subject
//! itself, all replicas together, as the limit is one. Each answer of 429 begins a minute of its own. Nothing excuses it;
//! latency does not make calls more.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  GET /servers: 429, and sixty times more within the minute
//! ```
//!
//! It does not catch how soon it recovers: that is SU-01.

use std::time::Duration;

use mock_clock::Time;

use crate::check::{Citation, Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::{History, What};
use crate::terms::Api;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-01"),
    promise: "While the cloud answers 429 it is asked no oftener than the limit is refilled",
    cite: &[
        thread!(5055),
        Citation {
            where_: "Hetzner Cloud API, \"Rate Limiting\"",
            url: "https://docs.hetzner.cloud/reference/cloud#rate-limiting",
        },
    ],
    level: Level::Should,
    kind: Kind::FaultTolerance,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

const MINUTE: Duration = Duration::from_secs(60);
/// One a second.
const MOST: usize = 60;

fn check(history: &History) -> Verdict {
    let calls: Vec<(Time, usize, u16)> = history
        .events
        .iter()
        .enumerate()
        .filter_map(|(event, happened)| match &happened.what {
            What::Call(call) if call.to == Api::Cloud && !call.open => Some((call.began, event, call.status)),
            _ => None,
        })
        .collect();
    let mut tally = Tally::default();
    let (mut counted, mut convicted) = (None, None);
    for (at, _, _) in calls.iter().filter(|(_, _, status)| *status == 429) {
        let within = |until: Option<Time>| until.is_some_and(|until| *at < until);
        if within(convicted) {
            continue;
        }
        if !within(counted) {
            counted = Some(*at + MINUTE);
            tally.exercised();
        }
        let asked: Vec<usize> = calls
            .iter()
            .filter(|(other, _, _)| at <= other && *other < *at + MINUTE)
            .map(|(_, event, _)| *event)
            .collect();
        if asked.len() > MOST {
            convicted = Some(*at + MINUTE);
            tally.violated(
                format!("the cloud was asked {} times in a minute in which it said 429", asked.len()),
                asked,
            );
        }
    }
    tally.verdict("the cloud never answered 429")
}
