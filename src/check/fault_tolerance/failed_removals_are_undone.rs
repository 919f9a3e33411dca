//! FT-16. Within a minute and two loops after the cloud refused to take a server back, its node is free of the taint of removal,
//! or the server has been asked for again. The subject of the promise is the single node; each refusal is judged once. Excused
//! is a subject that does not run so long, or whose writes of that node go wrong as well. The minute is more than the five
//! seconds for which conflicts are repeated.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  DELETE /servers/7: 423
//! 90 s  its node still carries ToBeDeletedByClusterAutoscaler
//! ```
//!
//! It does not catch the time to the next try.

use std::time::Duration;

use crate::check::scene::Scene;
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::REMOVAL_TAINT;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-16"),
    promise: "When a server cannot be given back, its node is freed of the taint, or it is given back after all",
    cite: &[faq!("What events are emitted by CA?", "what-events-are-emitted-by-ca"), thread!(6750)],
    level: Level::Should,
    kind: Kind::FaultTolerance,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

const MINUTE: Duration = Duration::from_secs(60);

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let mut tally = Tally::default();
    for back in scene.give_backs.iter().filter(|back| back.status >= 400 && back.status != 404) {
        let until = back.ended + MINUTE + scene.slack();
        let again = scene
            .give_backs
            .iter()
            .any(|other| other.server == back.server && other.began > back.began && other.began <= until);
        let kept = scene
            .nodes_on(back.server)
            .any(|(_, track)| track.always(back.ended, until, |node| node.has_taint(REMOVAL_TAINT)));
        let hindered =
            scene.nodes_on(back.server).any(|(name, _)| scene.hindered("nodes", name, back.ended, until));
        if hindered || !scene.watched(back.began, until) {
            continue;
        }
        tally.exercised();
        if kept && !again {
            tally.violated(
                format!("server {} was not taken back, and its node kept the taint", back.server),
                [back.event],
            );
        }
    }
    tally.verdict("the cloud took back whatever it was given")
}
