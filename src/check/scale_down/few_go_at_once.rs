//! SD-05. Nodes that carry the taint of removal at the same time, and whose servers have not been given back
//! yet, are counted; the flag that allows another number is read.
//!
//! The subject is the whole cluster, judged again at each taint. Nothing excuses it. Who is counted together is so a second
//! later, too, so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  eleven nodes carry the taint ToBeDeletedByClusterAutoscaler
//! ```
//!
//! It does not catch removals without a taint: that is SF-10.

use crate::check::scene::{Scene, TIE};
use crate::check::{CLUSTER_AUTOSCALER, Citation, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Node, REMOVAL_TAINT, Spell, Track};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-05"),
    promise: "Not more than ten nodes are removed together",
    cite: &[
        faq!("How does scale-down work?", "how-does-scale-down-work"),
        Citation {
            where_: "cluster-autoscaler, help of --max-scale-down-parallelism",
            url: "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md#what-are-the-parameters-to-ca",
        },
    ],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

const DOCUMENTED: usize = 10;

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let most =
        scene.flag("max-scale-down-parallelism").and_then(|most| most.parse().ok()).unwrap_or(DOCUMENTED);
    let mut tally = Tally::default();
    let removals = |(name, track): (&String, &Track<Node>)| {
        let spells = track.spells(|node| node.has_taint(REMOVAL_TAINT)).into_iter();
        spells.map(|spell| until_given_back(&scene, name, spell)).collect::<Vec<_>>()
    };
    let spells: Vec<Spell> = scene.nodes.iter().flat_map(removals).collect();
    for spell in &spells {
        let at = spell.from + TIE;
        let together: Vec<usize> = spells
            .iter()
            .filter(|other| other.from <= spell.from && other.covers(at))
            .map(|other| other.began)
            .collect();
        tally.exercised();
        if together.len() > most {
            let says = format!("{} nodes were being removed at once, of at most {most}", together.len());
            tally.violated(says, together);
        }
    }
    tally.verdict("no node was removed")
}

/// A removal is over when the cloud has taken the server back, however long its node may stay.
fn until_given_back(scene: &Scene<'_>, node: &str, spell: Spell) -> Spell {
    let server = scene.under(node, spell.from);
    let mut backs = scene.give_backs.iter().filter(|back| Some(back.server) == server && back.taken());
    let taken = backs.find(|back| back.began >= spell.from).map(|back| back.ended);
    Spell { to: [spell.to, taken].into_iter().flatten().min(), ..spell }
}
