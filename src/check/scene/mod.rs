//! What happened, as the checks of cluster-autoscaler on servers look at it: tracks, calls, and who was able to act when.
//!
//! Built from a history by each check that needs it; it decides nothing. Liveness is asked only of a subject that was [`calm`]:
//! it ran, nobody refused it anything, and it was not standing in a call. Doubts favour the subject.
//!
//! [`calm`]: Scene::calm

mod calm;
mod fleet;
mod group;
mod occupancy;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mock_clock::Time;
use serde_json::Value;

use super::Verdict;
use crate::history::query::{
    self, Budget, Daemon, Eviction, FaultSpell, GiveBack, Group, Node, Order, Pod, ScaleWrite, Server, Set,
    Spell, Tracks,
};
use crate::history::{History, StepChange, StepEvent, What};
use crate::terms::{Pool, Room, SubjectOption, Timer};

pub(super) use crate::history::query::TIE;
pub(super) use calm::{Trouble, is_watch, went_wrong};

/// Two loops and five seconds for the calls within them, as the documents' windows are meant for a cluster that answers.
const CALLS: Duration = Duration::from_secs(5);
/// Where a profile names no scan interval, the documents' own.
const SCAN: Duration = Duration::from_secs(10);
/// A bought machine that never comes is looked for in a list that is refreshed every two minutes and taken from a cache of
/// one minute; no flag shortens either.
const LISTING: Duration = Duration::from_secs(180);

/// A history with all that checks share.
pub(super) struct Scene<'a> {
    pub(super) history: &'a History,
    pub(super) pods: Tracks<String, Pod>,
    pub(super) nodes: Tracks<String, Node>,
    pub(super) servers: Tracks<u64, Server>,
    pub(super) budgets: Tracks<String, Budget>,
    pub(super) daemons: Tracks<String, Daemon>,
    pub(super) orders: Vec<Order>,
    pub(super) give_backs: Vec<GiveBack>,
    pub(super) evictions: Vec<Eviction>,
    pub(super) faults: Vec<FaultSpell>,
    /// Pools that are machine deployments, by name.
    pub(super) groups: Tracks<String, Group>,
    /// Writes of their scale.
    pub(super) scalings: Vec<ScaleWrite>,
    /// When machines were marked to go before others, by their ids.
    pub(super) marks: BTreeMap<u64, Vec<Spell>>,
    sets: Tracks<String, Set>,
    /// Labels that a pool did not always give its nodes, by pool and key.
    pub(super) shifting: BTreeSet<(String, String)>,
    /// What goes with a node asks for so much of it, at most.
    pub(super) residents: Room,
    /// The last moment the history tells of.
    pub(super) end: Time,
    acting: Vec<(u32, Spell)>,
    troubled: Vec<Trouble>,
    busy: Vec<(Time, Time)>,
    pods_of_node: BTreeMap<String, Vec<String>>,
    nodes_of_server: BTreeMap<u64, Vec<String>>,
    order_of_server: BTreeMap<u64, usize>,
    given_back_at: BTreeMap<u64, Time>,
    /// How many nodes those need at least who wait for pools at a moment, as far as anybody has asked.
    pub(super) needed: RefCell<BTreeMap<(Time, Vec<String>), usize>>,
}

impl<'a> Scene<'a> {
    /// The scene of a history.
    pub(super) fn of(history: &'a History) -> Self {
        let mut scene = Self {
            history,
            pods: query::pods(history),
            nodes: query::nodes(history),
            servers: query::servers(history),
            budgets: query::budgets(history),
            daemons: query::daemons(history),
            orders: query::orders(history),
            give_backs: query::give_backs(history),
            evictions: query::evictions(history),
            faults: query::fault_spells(history),
            groups: query::groups(history),
            scalings: query::scale_writes(history.events.iter()),
            marks: query::marks(history),
            sets: query::sets(history),
            shifting: shifting(history),
            residents: Room::default(),
            end: history.events.last().map_or(history.header.began, |event| event.at),
            acting: calm::acting(history),
            troubled: Vec::new(),
            busy: Vec::new(),
            pods_of_node: BTreeMap::new(),
            nodes_of_server: BTreeMap::new(),
            order_of_server: BTreeMap::new(),
            given_back_at: BTreeMap::new(),
            needed: RefCell::default(),
        };
        scene.troubled = calm::troubled(history, scene.end);
        scene.residents = occupancy::residents(&scene.pods, &scene.daemons);
        scene.index();
        scene.busy = calm::busy(&scene);
        scene
    }

    /// A timer of the subject.
    pub(super) fn timer(&self, timer: Timer) -> Option<Duration> {
        self.history.header.subject.timers.get(&timer).map(|period| period.0)
    }

    /// What is granted over any window: two loops and a few calls.
    pub(super) fn slack(&self) -> Duration {
        self.timer(Timer::ScanInterval).unwrap_or(SCAN) * 2 + CALLS
    }

    /// What is granted to whoever looks for a machine that never became a node.
    pub(super) fn listing(&self) -> Duration {
        LISTING + self.slack()
    }

    /// What the scenario asked of the subject.
    pub(super) fn option(&self, option: SubjectOption) -> Option<&'a str> {
        let name = serde_json::to_value(option).ok()?;
        self.history.header.subject.options.get(name.as_str()?).map(String::as_str)
    }

    /// Whether the scenario asked for this to be on.
    pub(super) fn is_on(&self, option: SubjectOption) -> bool {
        self.option(option) == Some("true")
    }

    /// Whether the scenario asked for this to be off.
    pub(super) fn is_off(&self, option: SubjectOption) -> bool {
        self.option(option) == Some("false")
    }

    /// The value of a flag on the subject's command line.
    pub(super) fn flag(&self, flag: &str) -> Option<&'a str> {
        let value =
            |argument: &'a String| argument.trim_start_matches('-').strip_prefix(flag)?.strip_prefix('=');
        self.history.header.subject.command.iter().find_map(value)
    }

    /// The pools it was given.
    pub(super) fn pools(&self) -> &'a [Pool] {
        &self.history.header.pools
    }

    /// A pool by its name.
    pub(super) fn pool(&self, name: &str) -> Option<&'a Pool> {
        self.pools().iter().find(|pool| pool.name == name)
    }

    /// Whether the plan changed anything between two moments, or a fault came or went. Who waits or looks changes nothing.
    pub(super) fn disturbed(&self, from: Time, to: Time) -> bool {
        let within = |at: Time| from <= at && at <= to;
        let acts = |step: &StepEvent| {
            let act = &self.history.header.plan["steps"][step.step]["act"];
            !["wait", "until", "expect"].iter().any(|passive| act.get(passive).is_some())
        };
        self.history.events.iter().any(|event| match &event.what {
            What::Step(step) => step.change == StepChange::Begun && within(event.at) && acts(step),
            What::Fault(_) => within(event.at),
            _ => false,
        })
    }
}

/// Labels of templates that were changed while the history went on.
fn shifting(history: &History) -> BTreeSet<(String, String)> {
    let mut shifting = BTreeSet::new();
    for (pool, track) in query::node_pools(history) {
        let templates = || track.seen.iter().filter_map(|seen| seen.state.as_ref()).map(|it| &it.template);
        let labels =
            |template: &Value| template["metadata"]["labels"].as_object().cloned().unwrap_or_default();
        let keys: BTreeSet<String> =
            templates().flat_map(|it| labels(it).into_iter().map(|(key, _)| key)).collect();
        for key in keys {
            let values: BTreeSet<_> =
                templates().map(|it| labels(it).get(&key).map(Value::to_string)).collect();
            if values.len() > 1 {
                shifting.insert((pool.clone(), key));
            }
        }
    }
    shifting
}

/// Decides with timers of the subject; what has no such timer cannot be decided.
pub(super) fn timed<const N: usize>(
    history: &History,
    timers: [Timer; N],
    decide: impl FnOnce(&Scene<'_>, [Duration; N]) -> Verdict,
) -> Verdict {
    let told = |timer: &Timer| history.header.subject.timers.get(timer).map(|period| period.0);
    if let Some(missing) = timers.iter().find(|timer| told(timer).is_none()) {
        let name = serde_json::to_value(missing).unwrap_or_default();
        return Verdict::Unknown { why: format!("the profile does not say what the subject's {name} is") };
    }
    decide(&Scene::of(history), timers.map(|timer| told(&timer).unwrap_or_default()))
}
