//! FT-02. If listing the servers failed, and has not succeeded since, nothing is ordered or given back later
//! than five seconds after the failure.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  GET /servers: 503
//! 60 s  DELETE /servers/7
//! ```
//!
//! It does not catch lists that succeed and are wrong.

use std::time::Duration;

use mock_clock::Time;

use crate::check::causes::first_attempts;
use crate::check::scene::{Scene, TIE};
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::{History, What};
use crate::terms::Api;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-02"),
    promise: "While the servers cannot be listed nothing is ordered or given back",
    cite: &[faq!(
        "Is Cluster Autoscaler an Alpha, Beta or GA product?",
        "is-cluster-autoscaler-an-alpha-beta-or-ga-product"
    )],
    level: Level::Should,
    kind: Kind::FaultTolerance,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

/// Deeds that were decided before the list failed may still be on their way.
const ON_ITS_WAY: Duration = Duration::from_secs(5);

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let lists: Vec<(Time, usize, bool)> = history
        .events
        .iter()
        .enumerate()
        .filter_map(|(event, happened)| match &happened.what {
            What::Call(call)
                if call.to == Api::Cloud
                    && call.method == "GET"
                    && call.path.ends_with("/servers")
                    && !call.open =>
            {
                Some((happened.at, event, call.status == 200 && call.fate.is_none()))
            }
            _ => None,
        })
        .collect();
    let mut tally = Tally::default();
    for (index, (at, event, good)) in lists.iter().enumerate().filter(|(_, (_, _, good))| !good) {
        let until = lists[index + 1..].iter().find(|(_, _, good)| *good).map_or(scene.end, |(at, _, _)| *at);
        let from = *at + ON_ITS_WAY;
        if *good || !scene.watched(*at, from) {
            continue;
        }
        tally.exercised();
        let within = |began: Time| from < began && began + TIE < until;
        let orders = first_attempts(&scene).map(|order| (order.began, order.event));
        let mut deeds = orders.chain(scene.give_backs.iter().map(|back| (back.began, back.event)));
        if let Some((_, deed)) = deeds.find(|(began, _)| within(*began)) {
            tally.violated(
                "something was ordered or given back though the servers could not be listed",
                [*event, deed],
            );
        }
    }
    tally.verdict("listing the servers never failed")
}
