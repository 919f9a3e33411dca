//! KL-08. Half a minute after a claim is gone, no server that was made for it is there. Which claim that was, the server says
//! in its labels.
//!
//! The smallest history that violates it:
//!
//! ```text
//!    0 s  server 7 is made for claim a; the answer is lost
//!  300 s  claim a is given up, and goes
//!  330 s  server 7 is still there
//! ```
//!
//! Its subject is the server, by the claim in its own labels; each is judged once, when its time is over, and one that came
//! later five minutes after that. Nothing excuses it: that the server is gone comes before the claim. What is there when the
//! run ends too early is doubtful. Latency is none of half a minute.
//!
//! It does not catch servers whose claim stays for ever, and there is nothing to catch where a node is all that a claim stands
//! for.

use std::time::Duration;

use super::claims::Claims;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KL-08"),
    promise: "When a claim is gone, the server that was made for it is gone",
    cite: &[Citation {
        where_: "Karpenter, Disruption, Termination Controller",
        url: "https://karpenter.sh/docs/concepts/disruption/",
    }],
    level: Level::Must,
    kind: Kind::Hygiene,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: true,
    check,
};

/// How long a server may still be seen: it should have been gone before.
const SOON: Duration = Duration::from_secs(30);

/// How long it takes to find a server that came when its claim was gone.
const FOUND: Duration = Duration::from_secs(300);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for (id, track) in &claims.scene.servers {
        let Some(name) = track.last().and_then(|server| server.claim.as_deref()) else { continue };
        let Some(claim) = claims.all.get(name) else { continue };
        let Some(gone) = claim.seen.last().filter(|seen| seen.state.is_none()) else { continue };
        let Some(came) = track.first().map(|seen| seen.at) else { continue };
        // Who ordered it may know of it only when it looks for what is nobody's.
        let due = if came > gone.at { came + FOUND } else { gone.at + SOON };
        let Some(left) = track.sight(due).filter(|seen| seen.state.is_some()) else {
            tally.exercised();
            continue;
        };
        if due > claims.scene.end {
            tally.doubtful(format!(
                "claim {name} had just gone when the run ended, and server {id} was there"
            ));
        } else {
            tally.violated(
                format!("server {id} was left when claim {name} was gone"),
                [left.event, gone.event],
            );
        }
    }
    tally.verdict("no claim went for which a server had been made")
}
