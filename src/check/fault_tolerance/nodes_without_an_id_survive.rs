//! FT-19. A server is not given back while a node of its name is ready, and has been for two loops, without any provider id. The
//! subject of the promise is the single node, with pods on it that count: an empty one may be unneeded. Each time without an id
//! is judged to its end. Nothing excuses it but two loops of being ready.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  node small-7 is ready, without a provider id
//! 900 s  DELETE /servers/7
//! ```
//!
//! It does not catch nodes that are not named after their servers.

use crate::check::scene::{TIE, timed};
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-19"),
    promise: "A ready node that has no provider id is not destroyed",
    cite: &[thread!(5185)],
    level: Level::Should,
    kind: Kind::Safety,
    providers: HETZNER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ProvisionTime], |scene, [provision]| {
        let mut tally = Tally::default();
        for id in scene.servers.keys() {
            for (name, track) in scene.nodes_on(*id) {
                for spell in track.spells(|node| node.ready && node.provider_id.is_none()) {
                    let hit = scene.give_backs.iter().find(|back| {
                        back.server == *id
                            && spell.spans(back.began - scene.slack(), back.began - TIE)
                            && scene
                                .occupants(name, back.began - TIE)
                                .iter()
                                .any(|pod| !scene.expendable(pod))
                    });
                    if let Some(back) = hit {
                        tally.violated(
                            format!("the server of {name} was given back as it had no provider id"),
                            [spell.began, back.event],
                        );
                    } else if spell.spans(spell.from, spell.from + provision)
                        && scene.watched(spell.from, spell.from + provision)
                    {
                        tally.exercised();
                    }
                }
            }
        }
        tally.verdict("no ready node was without a provider id for long enough")
    })
}
