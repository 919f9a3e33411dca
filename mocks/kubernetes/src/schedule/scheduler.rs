//! The scheduler without its hands: told what happens, it says what is to be written.
//!
//! One turn tries one pod. Time comes in as an argument; writing is somebody else's, and may fail.

use std::collections::BTreeMap;
use std::time::Duration;

use mock_clock::Time;

use super::cluster::Cluster;
use super::decide::{Decider, Decision, Nomination, Refusal};
use super::filter::ClaimStep;
use super::hint::helps;
use super::observe::{Change, Seen};
use super::pod::{PodId, PodKey};
use super::queue::Queue;

/// So long a pod waits for its volumes once it has a node in mind.
const VOLUMES_PATIENCE: Duration = Duration::from_secs(600);

/// A pod by name, and which one of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PodRef {
    key: PodKey,
    pub(crate) uid: Box<str>,
}

impl PodRef {
    pub(crate) fn namespace(&self) -> &str {
        self.key.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    pub(crate) fn name(&self) -> &str {
        self.key.split_once('/').map_or(&*self.key, |(_, name)| name)
    }
}

impl std::fmt::Display for PodRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.key)
    }
}

/// What is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// The pod gets its node.
    Bind { pod: PodRef, node: Box<str> },
    /// The pod has no node: condition and event. `nominated` if that changes; empty for none.
    Refuse { pod: PodRef, reason: &'static str, message: String, nominated: Option<Box<str>> },
    /// A pod has to leave its node for another.
    Preempt { victim: PodRef, by: PodRef, node: Box<str> },
    /// A pod hopes for a node no more.
    Unnominate { pod: PodRef },
    /// A claim is to be bound, or provisioned, for a node.
    Claim { step: ClaimStep, node: Box<str> },
}

/// Does what is to be done. What cannot be done is said in a sentence.
pub(crate) trait Hands {
    fn act(&mut self, action: Action) -> Result<(), String>;
}

impl<F: FnMut(Action) -> Result<(), String>> Hands for F {
    fn act(&mut self, action: Action) -> Result<(), String> {
        self(action)
    }
}

/// A pod with a node in mind that waits for its volumes.
#[derive(Debug)]
struct Pending {
    node: Box<str>,
    until: Time,
}

/// The scheduler.
#[derive(Debug)]
pub(crate) struct Scheduler {
    name: Box<str>,
    cluster: Cluster,
    queue: Queue,
    decider: Decider,
    pending: BTreeMap<PodId, Pending>,
}

impl Scheduler {
    /// A scheduler for pods that name it.
    pub(crate) fn new(name: &str, decider: Decider) -> Self {
        Self {
            name: name.into(),
            cluster: Cluster::default(),
            queue: Queue::default(),
            decider,
            pending: BTreeMap::new(),
        }
    }

    /// An object came, or changed.
    pub(crate) fn see(&mut self, seen: &Seen, now: Time) {
        let change = self.cluster.see(seen);
        self.consider(&change, now);
    }

    /// An object went.
    pub(crate) fn miss(&mut self, resource: &str, namespace: &str, name: &str, now: Time) {
        let change = self.cluster.miss(resource, namespace, name);
        self.consider(&change, now);
    }

    fn consider(&mut self, change: &Change, now: Time) {
        match change {
            Change::Nothing => return,
            Change::Pending { id, facts, same } => {
                let ours = facts.scheduler == self.name && facts.gates.is_empty() && !facts.deleting;
                match (ours, self.queue.contains(*id)) {
                    (false, _) => self.queue.remove(*id),
                    (true, false) => self.queue.add(*id, facts.priority, now),
                    (true, true) if !same => self.queue.wake(*id, facts.priority, now),
                    (true, true) => {}
                }
                return;
            }
            Change::Placed { id, .. } | Change::Left { id, .. } | Change::Gone { id } => {
                self.queue.remove(*id);
                self.pending.remove(id);
            }
            _ => {}
        }
        let cluster = &self.cluster;
        self.queue.wake_all(now, |id, rejected| {
            cluster.pod(id).is_some_and(|pod| helps(cluster, change, cluster.shape(pod.shape), rejected))
        });
    }

    /// When there is something to do though nothing happens.
    pub(crate) fn next_due(&self) -> Option<Time> {
        let patience = self.pending.values().map(|pending| pending.until).min();
        self.queue.next_due().into_iter().chain(patience).min()
    }

    /// Tries one pod. False if there was none to try.
    pub(crate) fn turn(&mut self, now: Time, hands: &mut impl Hands) -> bool {
        self.bind_those_with_volumes(now, hands);
        self.queue.flush(now);
        let Some(id) = self.queue.pop(now) else { return false };
        match self.decider.decide(&mut self.cluster, id) {
            None => self.queue.remove(id),
            Some(Decision::Bind { node, claims }) => self.place(id, node, claims, now, hands),
            Some(Decision::Unschedulable(refusal)) => self.refuse(id, refusal, now, hands),
        }
        true
    }

    fn reference(&self, id: PodId) -> Option<PodRef> {
        self.cluster.pod(id).map(|pod| PodRef { key: pod.key.clone(), uid: pod.uid.clone() })
    }

    fn place(
        &mut self,
        id: PodId,
        node: Box<str>,
        claims: Vec<ClaimStep>,
        now: Time,
        hands: &mut impl Hands,
    ) {
        let Some(place) = self.cluster.node_id(&node) else { return };
        self.cluster.assume(id, place);
        if claims.is_empty() {
            self.bind(id, node, now, hands);
            return;
        }
        for step in claims {
            self.cluster.storage.promise(&step, &node);
            if let Err(why) = hands.act(Action::Claim { step, node: node.clone() }) {
                self.fail(id, why, now, hands);
                return;
            }
        }
        self.pending.insert(id, Pending { node, until: now + VOLUMES_PATIENCE });
    }

    fn bind(&mut self, id: PodId, node: Box<str>, now: Time, hands: &mut impl Hands) {
        let Some(pod) = self.reference(id) else { return };
        match hands.act(Action::Bind { pod, node }) {
            Ok(()) => self.queue.remove(id),
            Err(why) => self.fail(id, why, now, hands),
        }
    }

    /// Takes the node back and tries again later.
    fn fail(&mut self, id: PodId, message: String, now: Time, hands: &mut impl Hands) {
        self.cluster.forget(id);
        self.queue.retry(id, now);
        if let Some(pod) = self.reference(id) {
            let nominated = Some(Box::default());
            // If this cannot be written either, the next try tells.
            let _ = hands.act(Action::Refuse { pod, reason: "SchedulerError", message, nominated });
        }
    }

    fn refuse(&mut self, id: PodId, refusal: Refusal, now: Time, hands: &mut impl Hands) {
        self.queue.refuse(id, refusal.rejected_by, now);
        let Some(pod) = self.reference(id) else { return };
        let nominated = match &refusal.nomination {
            Nomination::Keep => None,
            Nomination::Clear => Some(Box::default()),
            Nomination::On { node, .. } => Some(node.clone()),
        };
        if let Some(name) = &nominated {
            let node = self.cluster.node_id(name);
            self.cluster.nominate(id, node);
        }
        let message = refusal.message;
        let mut act = |action| {
            // Whatever could not be written is found again at the next try of the pod.
            let _ = hands.act(action);
        };
        act(Action::Refuse { pod: pod.clone(), reason: "Unschedulable", message, nominated });
        let Nomination::On { node, victims, yielding } = refusal.nomination else { return };
        let yielding: Vec<PodId> = yielding.iter().filter_map(|key| self.cluster.pod_id(key)).collect();
        for other in yielding {
            self.cluster.nominate(other, None);
            if let Some(pod) = self.reference(other) {
                act(Action::Unnominate { pod });
            }
            self.queue.wake_all(now, |id, _| id == other);
        }
        for victim in victims.iter().filter_map(|key| self.reference(self.cluster.pod_id(key)?)) {
            act(Action::Preempt { victim, by: pod.clone(), node: node.clone() });
        }
    }

    /// Binds pods whose volumes have come; those that waited too long begin again.
    fn bind_those_with_volumes(&mut self, now: Time, hands: &mut impl Hands) {
        if self.pending.is_empty() {
            return;
        }
        let ready = |id: &PodId| {
            self.cluster
                .pod(*id)
                .is_some_and(|pod| self.cluster.claims_are_bound(self.cluster.shape(pod.shape)))
        };
        let (ready, late): (Vec<PodId>, Vec<PodId>) = self
            .pending
            .iter()
            .filter(|(id, pending)| ready(id) || pending.until <= now)
            .map(|(id, _)| *id)
            .partition(|id| ready(id));
        for id in ready {
            if let Some(pending) = self.pending.remove(&id) {
                self.bind(id, pending.node, now, hands);
            }
        }
        for id in late {
            self.pending.remove(&id);
            self.fail(id, "binding volumes: context deadline exceeded".to_owned(), now, hands);
        }
    }
}
