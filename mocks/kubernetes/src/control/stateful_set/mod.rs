//! StatefulSets: pods with numbers, each with its own claims, made and replaced in order.

mod claims;
mod count;
mod order;
mod replica;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::{ControllerRevision, StatefulSet, StatefulSetSpec};
use mock_clock::Time;

use self::replica::Replica;
use super::brief::until_available;
use super::events::Recorder;
use super::family::Family;
use super::frame::{Controller, Next};
use super::history::{self, History};
use super::queue::Queue;
use crate::api::{self, Api};
use crate::selector::Selector;
use crate::status::Status;
use crate::store::{Change, Key};

/// The label of a revision's hash.
const HASH: &str = "controller.kubernetes.io/hash";

#[derive(Debug)]
pub(super) struct StatefulSets {
    family: Family<Replica>,
    sets: BTreeSet<Key>,
    recorder: Recorder,
}

/// One set at work.
struct Work<'a> {
    api: &'a Api,
    recorder: &'a mut Recorder,
    set: StatefulSet,
    history: History,
    /// The revision that all pods had before the template changed.
    current: ControllerRevision,
    /// By number.
    replicas: Vec<&'a Replica>,
    now: Time,
}

impl StatefulSets {
    pub(super) const SHELVES: &'static [&'static str] =
        &["statefulsets.apps", "pods", "persistentvolumeclaims"];

    pub(super) fn new() -> Self {
        Self {
            family: Family::new("StatefulSet"),
            sets: BTreeSet::new(),
            recorder: Recorder::new("statefulset-controller"),
        }
    }

    fn observe_set(&mut self, change: &Change, queue: &mut Queue<Key>) {
        let set = api::read::<StatefulSet>(&change.object);
        let selector = Selector::from_typed(set.and_then(|set| Some(set.spec?.selector)).as_ref());
        self.family.parent(change, selector.unwrap_or_else(|_| Selector::nothing()), |key| queue.add(key));
        if change.deleted {
            self.sets.remove(&change.object.key);
        } else {
            self.sets.insert(change.object.key.clone());
        }
    }

    /// A claim that is gone may be what a pod waits for.
    fn observe_claim(&self, change: &Change, queue: &mut Queue<Key>) {
        if !change.deleted {
            return;
        }
        let key = &change.object.key;
        let Some((name, _)) = key.name.rsplit_once('-') else { return };
        let from = Key::new(&key.namespace, "");
        let here = self.sets.range(from..).take_while(|set| set.namespace == key.namespace);
        here.filter(|set| name.ends_with(&*set.name)).for_each(|set| queue.add(set.clone()));
    }
}

impl Controller for StatefulSets {
    type Item = Key;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Key>) {
        match shelf {
            "pods" => self.family.child(change, |key| queue.add(key)),
            "persistentvolumeclaims" => self.observe_claim(change, queue),
            _ => self.observe_set(change, queue),
        }
    }

    fn reconcile(&mut self, api: &Api, key: &Key) -> Result<Next, Status> {
        let Some(set) = api.read::<StatefulSet>(&key.namespace, &key.name) else { return Ok(Next::Done) };
        if self.family.claim(api, key, &set, &|_| {})? {
            return Ok(Next::Done);
        }
        let template = set.spec.as_ref().map(|spec| spec.template.clone()).unwrap_or_default();
        let status = set.status.clone().unwrap_or_default();
        let history =
            history::keep(api, &set, &template, HASH, status.collision_count.filter(|count| *count > 0))?;
        let known = status.current_revision.unwrap_or_default();
        let current = history.older.iter().find(|revision| history::name(revision) == known);
        let current = current.unwrap_or(&history.latest).clone();
        let uid = set.metadata.uid.clone().unwrap_or_default();
        let mut replicas: Vec<&Replica> =
            self.family.selected(key, &uid).filter(|replica| replica.number.is_some()).collect();
        replicas.sort_by_key(|replica| replica.number);
        let recorder = &mut self.recorder;
        Work { api, recorder, set, history, current, replicas, now: api.now() }.run()
    }
}

impl Work<'_> {
    fn run(&mut self) -> Result<Next, Status> {
        let done = if self.set.metadata.deletion_timestamp.is_some() { Ok(()) } else { self.put_in_order() };
        self.report()?;
        done?;
        let used = history::values(self.replicas.iter().map(|replica| &replica.pod), replica::REVISION);
        let limit = self.spec().revision_history_limit;
        let current = history::name(&self.current);
        let is_used = |revision: &ControllerRevision| {
            let name = history::name(revision);
            name == current || used.contains(name)
        };
        history::trim(self.api, &self.history.older, is_used, limit)?;
        let wait =
            until_available(self.replicas.iter().map(|replica| &replica.pod), self.min_ready(), self.now);
        Ok(wait.map_or(Next::Done, Next::After))
    }

    fn spec(&self) -> &StatefulSetSpec {
        static NONE: std::sync::LazyLock<StatefulSetSpec> =
            std::sync::LazyLock::new(StatefulSetSpec::default);
        self.set.spec.as_ref().unwrap_or(&NONE)
    }

    fn name(&self) -> &str {
        self.set.metadata.name.as_deref().unwrap_or_default()
    }

    fn namespace(&self) -> &str {
        self.set.metadata.namespace.as_deref().unwrap_or_default()
    }

    fn min_ready(&self) -> i32 {
        self.spec().min_ready_seconds.unwrap_or_default()
    }

    fn wanted(&self) -> i32 {
        self.spec().replicas.unwrap_or(1).max(0)
    }

    /// The first number.
    fn start(&self) -> i32 {
        self.spec().ordinals.as_ref().and_then(|ordinals| ordinals.start).unwrap_or_default()
    }

    fn is_in_range(&self, number: i32) -> bool {
        number >= self.start() && i64::from(number) < i64::from(self.start()) + i64::from(self.wanted())
    }

    fn is_rolling(&self) -> bool {
        let strategy = self.spec().update_strategy.as_ref();
        strategy.and_then(|strategy| strategy.type_.as_deref()) != Some("OnDelete")
    }

    /// Pods below this distance from the first number keep their revision.
    fn partition(&self) -> i32 {
        let strategy = self.spec().update_strategy.as_ref();
        let rolling = strategy.and_then(|strategy| strategy.rolling_update.as_ref());
        rolling.and_then(|rolling| rolling.partition).unwrap_or_default()
    }

    fn is_available(&self, replica: &Replica) -> bool {
        !replica.pod.object.deleting && replica.pod.is_available(self.min_ready(), self.now)
    }
}
