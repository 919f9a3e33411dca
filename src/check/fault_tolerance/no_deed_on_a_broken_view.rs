//! FT-02. If listing the servers failed, and has not succeeded since with all its pages, nothing is ordered, and no removal
//! decided, later than five seconds after the failure. The subject of the promise is the subject itself; each failed page is
//! judged to the next good one. Not counted are deeds that were decided before, by the taint or the first try, and the clearing
//! away of orders of its own. Five seconds are granted to what is on its way.
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
use crate::history::query::GiveBack;
use crate::history::{Event, History, What};
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

/// Clients repeat for so long what was refused.
const AGAIN: Duration = Duration::from_secs(60);

/// A page of the list of servers, as it was answered.
struct Page {
    at: Time,
    event: usize,
    number: u32,
    good: bool,
}

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let pages = pages(history);
    let deeds: Vec<(Time, usize)> = deeds(&scene).collect();
    let mut tally = Tally::default();
    for (index, failed) in pages.iter().enumerate().filter(|(_, page)| !page.good) {
        // Pages before the one that failed show again what was known.
        let whole = |page: &&Page| page.good && page.number >= failed.number;
        let until = pages[index + 1..].iter().find(whole).map_or(scene.end, |page| page.at);
        let from = failed.at + ON_ITS_WAY;
        if !scene.watched(failed.at, from) {
            continue;
        }
        tally.exercised();
        let within = |decided: Time| from < decided && decided + TIE < until;
        if let Some((_, deed)) = deeds.iter().find(|(decided, _)| within(*decided)) {
            tally.violated(
                "something was ordered or given back though the servers could not be listed",
                [failed.event, *deed],
            );
        }
    }
    tally.verdict("listing the servers never failed")
}

fn pages(history: &History) -> Vec<Page> {
    let page = |(event, happened): (usize, &Event)| {
        let What::Call(call) = &happened.what else { return None };
        let lists = call.method == "GET" && call.path.ends_with("/servers") && !call.open;
        let number = call.query.split('&').find_map(|part| part.strip_prefix("page=")?.parse().ok());
        let good = call.status == 200 && call.fate.is_none();
        (lists && call.to == Api::Cloud).then(|| Page {
            at: happened.at,
            event,
            number: number.unwrap_or(1),
            good,
        })
    };
    history.events.iter().enumerate().filter_map(page).collect()
}

/// What was ordered and given back, and when that was decided. What clears away an order of its own needs no list, nor does who
/// asks again for what was refused.
fn deeds(scene: &Scene<'_>) -> impl Iterator<Item = (Time, usize)> {
    let again = |back: &GiveBack| {
        let same =
            |other: &GiveBack| other.server == back.server && other.event < back.event && !other.taken();
        scene.give_backs.iter().find(|other| same(other)).map(|other| other.began)
    };
    let backs = scene.give_backs.iter().filter(|back| !scene.clears(back)).map(move |back| {
        let first = again(back).filter(|first| back.began < *first + AGAIN).unwrap_or(back.began);
        (scene.decided(back).min(first), back.event)
    });
    first_attempts(scene).map(|order| (order.began, order.event)).chain(backs)
}
