//! HY-07. Where events are recorded, there is one that tells of each deed: `ScaledUpGroup` when a server was ordered and made,
//! and `TriggeredScaleUp` at a pod that waited and fits its pool; `ScaleDown` at a node that was removed; `NotTriggerScaleUp` at
//! a pod that no pool could ever host. Each within half a minute and two loops; like ones are told once in five minutes, so
//! earlier ones count as well, and those of an order may wait until it is over. The subject of the promise is the single order,
//! removal or pod; of the pods for which an order may have been placed one must be told. A pod that waits on is judged until it
//! was judged once; excused is a subject that did not run, was refused something or stood in an order, for that window. Which
//! pool an event names is not looked at: that of another order five minutes before counts.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  POST /servers for pool small, for pod web-1: it is made
//! 400 s  no event of web-1 says TriggeredScaleUp
//! ```
//!
//! It does not catch what events say beside their reason, nor events that are told of what never happened.

use std::time::Duration;

use mock_clock::Time;

use crate::check::causes::{candidates, fills_minimum, first_attempts, hopeless};
use crate::check::fit::{Fit, Misfit, fit};
use crate::check::reaction::ripe;
use crate::check::scene::{Scene, TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::query::{Order, Pod};
use crate::history::{Change, Event, History, What};
use crate::terms::{Pool, Timer};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("HY-07"),
    promise: "Events tell of scale-ups, of pods that cause none, and of nodes that are removed",
    cite: &[faq!("What events are emitted by CA?", "what-events-are-emitted-by-ca")],
    level: Level::Must,
    kind: Kind::Hygiene,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

const HALF_A_MINUTE: Duration = Duration::from_secs(30);
/// Events like one that was told so shortly before are not told again.
const ONCE_IN: Duration = Duration::from_secs(300);

/// An event: when it was seen, its reason, and what it is about.
struct Told<'h> {
    at: Time,
    reason: &'h str,
    kind: &'h str,
    name: &'h str,
    namespace: Option<&'h str>,
}

impl Told<'_> {
    /// Whether it is about a pod.
    fn of(&self, pod: &Pod) -> bool {
        let there = self.namespace.is_none_or(|namespace| namespace == pod.namespace);
        self.kind == "Pod" && self.name == pod.name && there
    }
}

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime], |scene, [reaction]| {
        // Who does not wait for machines has told at once.
        let creation = scene.timer(Timer::CreationTimeout);
        let told = told(history);
        let mut tally = Tally::default();
        if told.is_empty() {
            return tally.verdict("no events were recorded");
        }
        let window = HALF_A_MINUTE + scene.slack();
        let said = |reason: &str, from: Time, to: Time, about: &dyn Fn(&Told<'_>) -> bool| {
            told.iter().any(|one| {
                one.reason == reason && about(one) && from - ONCE_IN - TIE <= one.at && one.at <= to
            })
        };
        let mut judge = |good: bool, until: Time, from: Time, says: String, event: usize| {
            if good {
                tally.exercised();
            } else if scene.calm(from, until) {
                tally.violated(says, [event]);
            }
        };
        for (order, pool) in made(scene, creation) {
            let until = order.began + creation.unwrap_or_default() + window;
            let good = said("ScaledUpGroup", order.began, until, &|told| told.kind == "ConfigMap");
            judge(
                good,
                until,
                order.began,
                format!("no event told that {} was ordered", order.name),
                order.event,
            );
            let pods = candidates(scene, order, pool);
            let about = |told: &Told<'_>| pods.iter().any(|(pod, _)| told.of(pod));
            let good = said("TriggeredScaleUp", order.began, until, &about);
            if !pods.is_empty() && !fills_minimum(scene, order, pool) {
                let says = format!("no event told a pod that {} was ordered for it", order.name);
                judge(good, until, order.began, says, order.event);
            }
        }
        for (back, node, _) in scene.removals() {
            let (from, until) = (scene.decided(back), back.began + window);
            let good = said("ScaleDown", from, until, &|told| told.kind == "Node" && told.name == node);
            judge(good, until, from, format!("no event told that {node} was removed"), back.event);
        }
        for track in scene.pods.values() {
            for spell in track.spells(Pod::waits) {
                let Some(pod) = track.at(spell.from).filter(|pod| unhostable(scene, pod)) else { continue };
                let since = ripe(scene, pod).map_or(spell.from, |ripe| ripe.max(spell.from));
                let says = format!("no event told that nothing is ordered for {}", pod.key());
                let mut from = since;
                loop {
                    let until = from + reaction + window;
                    if !spell.spans(spell.from, until) || until > scene.end {
                        break;
                    }
                    if scene.free(from, until) && !scene.mostly_unready(from) {
                        let good = said("NotTriggerScaleUp", since, until, &|told| told.of(pod));
                        judge(good, until, from, says, spell.began);
                        break;
                    }
                    from = until;
                }
            }
        }
        tally.verdict("nothing happened of which events would tell")
    })
}

/// Orders whose servers were made in time and not thrown away all the same, with their pools.
fn made<'s>(scene: &'s Scene<'_>, creation: Option<Duration>) -> impl Iterator<Item = (&'s Order, &'s Pool)> {
    first_attempts(scene).filter(|order| order.taken()).filter_map(move |order| {
        let pool = scene.pool(order.pool.as_deref()?)?;
        let Some(creation) = creation else { return Some((order, pool)) };
        let track = scene.servers.get(&scene.server_of(order)?)?;
        let made = track.ever(order.began, order.began + creation - TIE, |server| server.status == "running");
        let kept = track.at(order.began + creation + scene.slack()).is_some();
        (made && kept).then_some((order, pool))
    })
}

/// Whether no pool could ever host a pod, and nothing else speaks against buying for it.
fn unhostable(scene: &Scene<'_>, pod: &Pod) -> bool {
    let ignored = |fit: &Fit| fit.fails_by(Misfit::Priority) || fit.fails_by(Misfit::Nominated);
    hopeless(scene, pod)
        && !pod.resident()
        && !scene.pools().iter().any(|pool| ignored(&fit(scene, pod, pool)))
}

fn told(history: &History) -> Vec<Told<'_>> {
    fn event(happened: &Event) -> Option<Told<'_>> {
        let What::Object(object) = &happened.what else { return None };
        let (event, about) = (&object.object, &object.object["involvedObject"]);
        let (reason, kind) = (event["reason"].as_str()?, about["kind"].as_str()?);
        let there = object.kind == "Event" && object.change != Change::Deleted;
        let (name, namespace) = (about["name"].as_str()?, about["namespace"].as_str());
        there.then_some(Told { at: happened.at, reason, kind, name, namespace })
    }
    history.events.iter().filter_map(event).collect()
}
