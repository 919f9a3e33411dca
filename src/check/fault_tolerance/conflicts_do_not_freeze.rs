//! FT-05. When a fault is healed under which the cloud has answered for two minutes or longer with 409, the last answer
//! included, the same process publishes its status, orders or gives back within two minutes and two loops. The subject of the
//! promise is the process. Each healing is judged once, of the fault that made the conflicts only. Excused is a process that
//! ends before. Two minutes are more than any latency.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  GET /servers: 409, and so on, less and less often
//! 600 s  the fault is healed
//! 750 s  the status has not been published since
//! ```
//!
//! It does not catch a process whose health check ends it: that is FT-06.

use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::Scene;
use crate::check::{Citation, Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::query::{self, FaultSpell};
use crate::history::{CallEvent, History, What};
use crate::terms::Api;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-05"),
    promise: "However long the cloud answers that there is a conflict, two minutes after it ceases the subject goes on",
    cite: &[
        Citation {
            where_: "hcloud-go, ErrorCodeConflict (the resource has changed during the request, please retry)",
            url: "https://pkg.go.dev/github.com/hetznercloud/hcloud-go/v2/hcloud#ErrorCode",
        },
        flag!("--max-inactivity"),
    ],
    level: Level::Should,
    kind: Kind::FaultTolerance,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

const LONG: Duration = Duration::from_secs(120);

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let calls: Vec<(usize, Time, &CallEvent)> = history
        .events
        .iter()
        .enumerate()
        .filter_map(|(event, happened)| match &happened.what {
            What::Call(call) if call.to == Api::Cloud && !call.open => Some((event, happened.at, call)),
            _ => None,
        })
        .collect();
    let writes = query::status_writes(history);
    let mut tally = Tally::default();
    for fault in &scene.faults {
        let Some((healed, heals)) = fault.spell.to.zip(fault.spell.ended) else { continue };
        let until = healed + LONG + scene.slack();
        let before = calls.iter().rev().skip_while(|(_, ended, _)| *ended > healed);
        let Some((last, first)) = conflicts(before) else { continue };
        let (event, _, call) = last;
        if !makes(fault, call) {
            continue;
        }
        if healed < first + LONG || until > scene.end || !scene.same(call.replica, first, until) {
            continue;
        }
        let within = |at: Time| healed <= at && at <= until;
        let published = writes.iter().any(|(at, _, replica)| *replica == call.replica && within(*at));
        let acted = scene.orders.iter().map(|order| order.began);
        let acted = acted.chain(scene.give_backs.iter().map(|back| back.began)).any(within);
        tally.exercised();
        if !published && !acted {
            tally.violated("nothing went on after the conflicts had ceased", [*event, heals]);
        }
    }
    tally.verdict("no fault was healed under which the cloud had answered for long that there is a conflict")
}

/// Whether a fault is one by which a call meets a conflict; what else is healed at the time ends no conflict.
fn makes(fault: &FaultSpell, call: &CallEvent) -> bool {
    fault.field("code") == Some("conflict") || call.fate.as_ref() == Some(&fault.name)
}

/// Of calls from the last one back: the last, and when the first was answered of those at the end that all met a conflict.
fn conflicts<'c>(
    calls: impl Iterator<Item = &'c (usize, Time, &'c CallEvent)>,
) -> Option<(&'c (usize, Time, &'c CallEvent), Time)> {
    let mut met = calls.take_while(|(_, _, call)| call.status == 409);
    let last = met.next()?;
    Some((last, met.last().map_or(last.1, |(_, ended, _)| *ended)))
}
