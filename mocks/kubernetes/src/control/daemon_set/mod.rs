//! DaemonSets: one pod on every node that fits.

mod count;
mod daemon;
mod eligible;
mod rolling;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use k8s_openapi::api::apps::v1::{ControllerRevision, DaemonSet, DaemonSetSpec};
use k8s_openapi::api::core::v1::PodTemplateSpec;
use mock_clock::Time;

use self::daemon::{Daemon, HASH};
use self::eligible::{Fit, Place, fit};
use super::brief::{Brief, Phase};
use super::events::Recorder;
use super::family::{Family, writes};
use super::frame::{Controller, Next};
use super::history::{self, History};
use super::pod_maker::{BURST, PodMaker};
use super::queue::Queue;
use crate::api::{self, Api};
use crate::selector::Selector;
use crate::status::Status;
use crate::store::{Change, Key};

/// Failed daemons are replaced at once, then later each time.
const PATIENCE_MIN: Duration = Duration::from_secs(1);
const PATIENCE_MAX: Duration = Duration::from_secs(900);

#[derive(Debug)]
pub(super) struct DaemonSets {
    family: Family<Daemon>,
    nodes: BTreeMap<Box<str>, Place>,
    sets: BTreeSet<Key>,
    failures: Failures,
    recorder: Recorder,
}

/// When daemons failed on a node: by set, then by node.
type Failures = BTreeMap<Key, BTreeMap<Box<str>, (Time, Duration)>>;

/// One set at work.
struct Work<'a> {
    api: &'a Api,
    set: DaemonSet,
    hash: String,
    /// What its pods are made of.
    template: PodTemplateSpec,
    nodes: &'a BTreeMap<Box<str>, Place>,
    /// By the node they are on or meant for.
    daemons: BTreeMap<&'a str, Vec<&'a Brief>>,
    now: Time,
}

/// What is to be done about nodes.
#[derive(Debug, Default)]
struct Steps<'a> {
    make: Vec<&'a str>,
    delete: Vec<&'a Brief>,
    /// Failed ones that are left for a while.
    wait: Option<Duration>,
}

impl DaemonSets {
    pub(super) const SHELVES: &'static [&'static str] = &["daemonsets.apps", "nodes", "pods"];

    pub(super) fn new() -> Self {
        Self {
            family: Family::new("DaemonSet"),
            nodes: BTreeMap::new(),
            sets: BTreeSet::new(),
            failures: BTreeMap::new(),
            recorder: Recorder::new("daemonset-controller"),
        }
    }

    /// Heartbeats and statuses of nodes are no news to daemons.
    fn observe_node(&mut self, change: &Change, queue: &mut Queue<Key>) {
        let name = Box::<str>::from(&*change.object.key.name);
        let place = Place::of(&change.object).filter(|_| !change.deleted);
        let before = match &place {
            Some(place) => self.nodes.insert(name, place.clone()),
            None => self.nodes.remove(&name),
        };
        let same = before.as_ref().zip(place.as_ref()).is_some_and(|(before, place)| before.is_like(place));
        if !same {
            self.sets.iter().for_each(|set| queue.add(set.clone()));
        }
    }

    fn observe_set(&mut self, change: &Change, queue: &mut Queue<Key>) {
        let set = api::read::<DaemonSet>(&change.object);
        let selector = Selector::from_typed(set.and_then(|set| Some(set.spec?.selector)).as_ref());
        let selector = selector.unwrap_or_else(|_| Selector::nothing());
        self.family.parent(change, selector, |key| queue.add(key));
        let key = &change.object.key;
        if change.deleted {
            self.sets.remove(key);
            self.failures.remove(key);
        } else {
            self.sets.insert(key.clone());
        }
    }
}

impl Controller for DaemonSets {
    type Item = Key;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Key>) {
        match shelf {
            "pods" => self.family.child(change, |key| queue.add(key)),
            "nodes" => self.observe_node(change, queue),
            _ => self.observe_set(change, queue),
        }
    }

    fn reconcile(&mut self, api: &Api, key: &Key) -> Result<Next, Status> {
        let Some(mut set) = api.read::<DaemonSet>(&key.namespace, &key.name) else { return Ok(Next::Done) };
        if set.metadata.deletion_timestamp.is_some() || self.family.claim(api, key, &set, &|_| {})? {
            return Ok(Next::Done);
        }
        let template = set.spec.as_ref().map(|spec| spec.template.clone()).unwrap_or_default();
        let collisions = set.status.as_ref().and_then(|status| status.collision_count);
        let kept = history::keep(api, &set, &template, HASH, collisions)?;
        set.status.get_or_insert_default().collision_count = kept.collisions;
        let hash = hash_of(&kept.latest).to_owned();
        let uid = set.metadata.uid.clone().unwrap_or_default();
        let mut daemons: BTreeMap<&str, Vec<&Brief>> = BTreeMap::new();
        for daemon in self.family.selected(key, &uid) {
            daemons.entry(&daemon.node).or_default().push(&daemon.pod);
        }
        let template = daemon::template(&set, &hash);
        let work = Work { api, set, hash, template, nodes: &self.nodes, daemons, now: api.now() };
        work.run(&mut self.recorder, self.failures.entry(key.clone()).or_default(), &kept)
    }
}

fn hash_of(revision: &ControllerRevision) -> &str {
    let labels = revision.metadata.labels.as_ref();
    labels.and_then(|labels| labels.get(HASH)).map(String::as_str).unwrap_or_default()
}

impl Work<'_> {
    fn run(
        &self,
        recorder: &mut Recorder,
        failures: &mut BTreeMap<Box<str>, (Time, Duration)>,
        kept: &History,
    ) -> Result<Next, Status> {
        let steps = self.manage(recorder, failures);
        let mut wait = steps.wait;
        let done = if steps.make.is_empty() && steps.delete.is_empty() {
            // An update goes on only from where everything else is as it should be.
            let steps = if self.is_rolling() { self.roll() } else { Steps::default() };
            self.take(&steps, recorder)
        } else {
            self.take(&steps, recorder)
        };
        if done.is_ok() {
            let used = history::values(self.daemons.values().flatten().copied(), HASH);
            let limit = self.spec().revision_history_limit;
            history::trim(self.api, &kept.older, |revision| used.contains(hash_of(revision)), limit)?;
        }
        wait = [wait, self.report()?].into_iter().flatten().min();
        done?;
        Ok(wait.map_or(Next::Done, Next::After))
    }

    fn spec(&self) -> &DaemonSetSpec {
        static NONE: std::sync::LazyLock<DaemonSetSpec> = std::sync::LazyLock::new(DaemonSetSpec::default);
        self.set.spec.as_ref().unwrap_or(&NONE)
    }

    fn min_ready(&self) -> i32 {
        self.spec().min_ready_seconds.unwrap_or_default()
    }

    fn is_rolling(&self) -> bool {
        let strategy = self.spec().update_strategy.as_ref();
        strategy.and_then(|strategy| strategy.type_.as_deref()) != Some("OnDelete")
    }

    fn is_new(&self, pod: &Brief) -> bool {
        pod.object.label(HASH) == Some(&self.hash)
    }

    fn is_available(&self, pod: &Brief) -> bool {
        pod.is_available(self.min_ready(), self.now)
    }

    fn fit(&self, place: &Place) -> Fit {
        self.template.spec.as_ref().map_or(Fit::No, |spec| fit(spec, place))
    }

    fn take(&self, steps: &Steps<'_>, recorder: &mut Recorder) -> Result<(), Status> {
        let mut maker = PodMaker::new(self.api, recorder, &self.set);
        let mut delete = steps.delete.iter().take(BURST);
        delete.try_for_each(|pod| maker.delete(pod))?;
        let mut make = steps.make.iter().take(BURST);
        make.try_for_each(|node| maker.make(&daemon::pod_for(&self.template, &self.set, node)))
    }

    /// One pod on each node that fits, none elsewhere, and none that has ended.
    fn manage(
        &self,
        recorder: &mut Recorder,
        failures: &mut BTreeMap<Box<str>, (Time, Duration)>,
    ) -> Steps<'_> {
        let mut steps = Steps::default();
        for (name, place) in self.nodes {
            let daemons = self.daemons.get(&**name).map(Vec::as_slice).unwrap_or_default();
            let fit = self.fit(place);
            match fit {
                Fit::Runs if daemons.is_empty() => steps.make.push(name),
                Fit::No => steps.delete.extend(daemons.iter().filter(|pod| !pod.object.deleting)),
                Fit::Runs | Fit::Stays => {
                    let mut ended = self.ended(name, daemons, failures, recorder, &mut steps);
                    steps.delete.append(&mut ended);
                    self.prune(name, daemons, fit, &mut steps);
                }
            }
        }
        // Those that were meant for a node that is gone will never run.
        let lost = self.daemons.iter().filter(|(node, _)| !self.nodes.contains_key(**node));
        let lost = lost.flat_map(|(_, pods)| pods.iter().copied());
        steps.delete.extend(lost.filter(|pod| pod.node.is_empty() && !pod.object.deleting));
        steps
    }

    /// Daemons that have ended, to make room for others.
    fn ended<'p>(
        &self,
        node: &str,
        daemons: &[&'p Brief],
        failures: &mut BTreeMap<Box<str>, (Time, Duration)>,
        recorder: &mut Recorder,
        steps: &mut Steps<'_>,
    ) -> Vec<&'p Brief> {
        let about = super::events::about(&self.set);
        let mut ended = Vec::new();
        for pod in daemons.iter().filter(|pod| !pod.object.deleting) {
            let who = format!("daemon pod {} on node {node}", pod.object.key);
            if pod.phase == Phase::Failed {
                if let Some(left) = patience(failures, node, self.now) {
                    steps.wait = Some(steps.wait.map_or(left, |wait| wait.min(left)));
                    continue;
                }
                let message = format!("Found failed {who}, will try to kill it");
                recorder.warning(self.api, &about, "FailedDaemonPod", &message);
                ended.push(*pod);
            } else if pod.phase == Phase::Succeeded {
                let message = format!("Found succeeded {who}, will try to delete it");
                recorder.normal(self.api, &about, "SucceededDaemonPod", &message);
                ended.push(*pod);
            }
        }
        ended
    }

    /// Of several daemons on a node the oldest stays; during a surging update, the oldest of each template.
    fn prune<'s>(&'s self, node: &'s str, daemons: &[&'s Brief], fit: Fit, steps: &mut Steps<'s>) {
        let mut running: Vec<&Brief> = daemons.iter().copied().filter(|pod| pod.is_active()).collect();
        running.sort_by_key(|pod| (pod.node.is_empty(), pod.born, pod.name()));
        if self.bounds().0 == 0 {
            steps.delete.extend(running.iter().skip(1));
            return;
        }
        let has_ended = daemons.iter().any(|pod| pod.is_finished() && !pod.object.deleting);
        if running.is_empty() && fit == Fit::Runs && !has_ended {
            steps.make.push(node);
        }
        if running.len() <= 1 {
            return;
        }
        let (new, old): (Vec<&Brief>, Vec<&Brief>) = running.into_iter().partition(|pod| self.is_new(pod));
        steps.delete.extend(new.iter().skip(1).chain(old.iter().skip(1)));
        if let (Some(new), Some(old)) = (new.first(), old.first())
            && (!old.is_ready() || self.is_available(new))
        {
            steps.delete.push(old);
        }
    }
}

/// How long a failed daemon is still left; if no longer, the next one is left twice as long.
fn patience(failures: &mut BTreeMap<Box<str>, (Time, Duration)>, node: &str, now: Time) -> Option<Duration> {
    let next = match failures.get(node) {
        Some((since, wait)) if now < *since + *wait => return Some((*since + *wait) - now),
        Some((since, wait)) if now < *since + PATIENCE_MAX * 2 => (*wait * 2).min(PATIENCE_MAX),
        _ => PATIENCE_MIN,
    };
    failures.insert(node.into(), (now, next));
    None
}
