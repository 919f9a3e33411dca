//! HY-09. When the size of a machine deployment could not be reduced, the machine that was marked for it loses its mark:
//! otherwise it goes at the next occasion, though it may be needed by then. The subject of the promise is the single machine;
//! each refusal is judged once. Excused is whoever asks again within half a minute and two loops, or cannot write the machine
//! meanwhile, and a subject that does not run so long.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  machine small-a is marked
//!  1 s  PATCH machinedeployments/small/scale with one less: 500
//! 60 s  small-a is still marked, and its pool as large as before
//! ```
//!
//! It does not catch marks of others.

use std::time::Duration;

use crate::check::scene::{Scene, TIE};
use crate::check::{CLUSTERAPI, Citation, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("HY-09"),
    promise: "If a machine deployment could not be made smaller, the mark of the machine that was to go is taken back",
    cite: &[Citation {
        where_: "cluster-autoscaler, provider clusterapi, DeleteNodes",
        url: "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/clusterapi/clusterapi_nodegroup.go",
    }],
    level: Level::Should,
    kind: Kind::Hygiene,
    providers: CLUSTERAPI,
    versions: Versions::ALL,
    always: true,
    check,
};

/// How long it may take.
const SOON: Duration = Duration::from_secs(30);

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let mut tally = Tally::default();
    for back in scene.give_backs.iter().filter(|back| back.status >= 400) {
        let until = back.ended + SOON + scene.slack();
        let again = scene
            .give_backs
            .iter()
            .any(|other| other.server == back.server && other.event > back.event && other.began <= until);
        let name = scene.servers.get(&back.server).and_then(|track| track.last()).map(|server| &server.name);
        let hindered = name.is_some_and(|name| scene.hindered("machines", name, back.ended, until));
        if again || hindered || !scene.watched(back.began, until) {
            continue;
        }
        tally.exercised();
        let kept = scene.marks.get(&back.server).is_some_and(|spells| {
            spells.iter().any(|spell| spell.touches(back.ended + TIE, until) && spell.spans(until, until))
        });
        if kept {
            let says =
                format!("machine {} was still marked though its pool stayed as large as it was", back.server);
            tally.violated(says, [back.event]);
        }
    }
    tally.verdict("no machine deployment refused to be made smaller")
}
