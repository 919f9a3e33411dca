//! ReplicaSets and ReplicationControllers: as many pods as are asked for, no more and no fewer.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use k8s_openapi::api::apps::v1::{ReplicaSet, ReplicaSetCondition, ReplicaSetStatus};
use mock_clock::Time;

use super::brief::{Brief, until_available};
use super::events::Recorder;
use super::family::{Family, writes};
use super::frame::{Controller, Next};
use super::moment::moment;
use super::pod_maker::{BURST, PodMaker, pod_of};
use super::queue::Queue;
use super::ranking::expendable;
use super::replicate::Replicates;
use crate::api::{self, Api};
use crate::selector::{Labels as _, Selector};
use crate::status::Status;
use crate::store::{Change, Key};

const FAILURE: &str = "ReplicaFailure";

#[derive(Debug)]
pub(super) struct ReplicaSets<K> {
    family: Family<Brief>,
    recorder: Recorder,
    sort: PhantomData<fn() -> K>,
}

impl<K: Replicates> ReplicaSets<K> {
    pub(super) const SHELVES: &'static [&'static str] = &[K::SHELF, "pods"];

    pub(super) fn new() -> Self {
        Self { family: Family::new(K::KIND), recorder: Recorder::new(K::COMPONENT), sort: PhantomData }
    }

    /// Makes or deletes pods until there are as many as there should be.
    fn scale(&mut self, api: &Api, set: &K, key: &Key, active: usize) -> Result<(), Status> {
        let wanted = usize::try_from(set.replicas()).unwrap_or_default();
        let mut maker = PodMaker::new(api, &mut self.recorder, set);
        if active < wanted {
            let Some(template) = set.template() else { return Ok(()) };
            let pod = pod_of(template, set);
            return (active..wanted).take(BURST).try_for_each(|_| maker.make(&pod));
        }
        if active == wanted {
            return Ok(());
        }
        let uid = set.metadata().uid.as_deref().unwrap_or_default();
        let own: Vec<&Brief> = self.family.selected(key, uid).filter(|pod| pod.is_active()).collect();
        let neighbours = neighbours(api, &self.family, set);
        let count = (active - wanted).min(BURST);
        expendable(own, &neighbours, api.now(), count).into_iter().try_for_each(|pod| maker.delete(pod))
    }
}

/// The active pods on each node, of all sets that have the same owner.
fn neighbours<'a, K: Replicates>(api: &Api, family: &'a Family<Brief>, set: &K) -> BTreeMap<&'a str, usize> {
    let owners = set.metadata().owner_references.iter().flatten();
    let mut uids: Vec<String> = set.metadata().uid.iter().cloned().collect();
    for owner in owners.filter(|owner| owner.controller == Some(true)) {
        uids.extend(api.owned::<ReplicaSet>(&owner.uid).iter().map(|object| object.uid.to_string()));
    }
    uids.sort();
    uids.dedup();
    let mut count = BTreeMap::new();
    for pod in uids.iter().flat_map(|uid| family.of(uid)).filter(|pod| pod.is_active()) {
        *count.entry(&*pod.node).or_default() += 1;
    }
    count
}

impl<K: Replicates> Controller for ReplicaSets<K> {
    type Item = Key;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Key>) {
        if shelf == "pods" {
            self.family.child(change, |key| queue.add(key));
        } else {
            let set = api::read::<K>(&change.object);
            self.family.parent(change, set.map_or_else(Selector::nothing, |set| set.selector()), |key| {
                queue.add(key)
            });
        }
    }

    fn reconcile(&mut self, api: &Api, key: &Key) -> Result<Next, Status> {
        let Some(set) = api.read::<K>(&key.namespace, &key.name) else { return Ok(Next::Done) };
        if self.family.claim(api, key, &set, &|_| {})? {
            return Ok(Next::Done);
        }
        let uid = set.metadata().uid.as_deref().unwrap_or_default();
        let (now, mut status) = (api.now(), set.count());
        let active = count(&set, self.family.selected(key, uid), now, &mut status);
        let wait = until_available(
            self.family.selected(key, uid).filter(|pod| pod.is_active()),
            set.min_ready_seconds(),
            now,
        );
        let deleting = set.metadata().deletion_timestamp.is_some();
        let scaled = if deleting { Ok(()) } else { self.scale(api, &set, key, active) };
        note_failure(&mut status, &scaled, set.replicas(), now);
        status.observed_generation = set.metadata().generation;
        if status != set.count() {
            api.edit::<K>((&key.namespace, &key.name, "status"), &writes(), |set| {
                set.set_count(status.clone());
                Ok(())
            })?;
        }
        scaled?;
        Ok(wait.map_or(Next::Done, Next::After))
    }
}

/// Fills in the numbers; gives how many pods are active.
fn count<'a, K: Replicates>(
    set: &K,
    pods: impl Iterator<Item = &'a Brief>,
    now: Time,
    status: &mut ReplicaSetStatus,
) -> usize {
    let labels = set.template().and_then(|template| template.metadata.as_ref()?.labels.as_ref());
    let (mut active, mut labelled, mut ready, mut available, mut terminating) = (0, 0, 0, 0, 0);
    for pod in pods {
        if pod.is_terminating() {
            terminating += 1;
        }
        if !pod.is_active() {
            continue;
        }
        active += 1;
        let own = &pod.object.labels[..];
        let complete = labels.into_iter().flatten().all(|(key, value)| own.label(key) == Some(value));
        labelled += i32::from(complete);
        ready += i32::from(pod.is_ready());
        available += i32::from(pod.is_available(set.min_ready_seconds(), now));
    }
    status.replicas = active;
    // Zeroes are left out on the wire.
    let number = |number: i32| (number > 0).then_some(number);
    status.fully_labeled_replicas = number(labelled);
    status.ready_replicas = number(ready);
    status.available_replicas = number(available);
    if K::KIND == "ReplicaSet" {
        status.terminating_replicas = Some(terminating);
    }
    usize::try_from(active).unwrap_or_default()
}

/// The condition that tells of pods that could not be made or deleted.
fn note_failure(status: &mut ReplicaSetStatus, scaled: &Result<(), Status>, wanted: i32, now: Time) {
    let mut conditions = status.conditions.take().unwrap_or_default();
    let known = conditions.iter().any(|condition| condition.type_ == FAILURE);
    match scaled {
        Ok(()) => conditions.retain(|condition| condition.type_ != FAILURE),
        Err(error) if !known => conditions.push(ReplicaSetCondition {
            last_transition_time: Some(moment(now)),
            message: Some(error.message.clone()),
            reason: Some(if status.replicas < wanted { "FailedCreate" } else { "FailedDelete" }.to_owned()),
            status: "True".to_owned(),
            type_: FAILURE.to_owned(),
        }),
        Err(_) => {}
    }
    status.conditions = (!conditions.is_empty()).then_some(conditions);
}

#[cfg(test)]
mod tests;
