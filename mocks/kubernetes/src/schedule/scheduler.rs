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
    /// The claims whose volumes are being made.
    provisioned: Vec<Box<str>>,
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
        let Some(place) = self.cluster.node_id(&node) else {
            self.queue.retry(id, now);
            return;
        };
        self.cluster.assume(id, place);
        if claims.is_empty() {
            self.bind(id, node, now, hands);
            return;
        }
        let mut provisioned = Vec::new();
        for step in claims {
            if let Err(why) = hands.act(Action::Claim { step: step.clone(), node: node.clone() }) {
                self.fail(id, why, now, hands);
                return;
            }
            self.cluster.storage.promise(&step, &node);
            if let ClaimStep::Provision { claim } = step {
                provisioned.push(claim);
            }
        }
        self.pending.insert(id, Pending { node, provisioned, until: now + VOLUMES_PATIENCE });
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
        // What could not be written here is written at the next try of the pod.
        let _ = hands.act(Action::Refuse { pod: pod.clone(), reason: "Unschedulable", message, nominated });
        let Nomination::On { node, victims, yielding } = refusal.nomination else { return };
        let yielding: Vec<PodId> = yielding.iter().filter_map(|key| self.cluster.pod_id(key)).collect();
        for other in yielding {
            self.cluster.nominate(other, None);
            if let Some(pod) = self.reference(other) {
                let _ = hands.act(Action::Unnominate { pod });
            }
            self.queue.wake_all(now, |id, _| id == other);
        }
        let mut all_told = true;
        for victim in victims.iter().filter_map(|key| self.reference(self.cluster.pod_id(key)?)) {
            all_told &= hands.act(Action::Preempt { victim, by: pod.clone(), node: node.clone() }).is_ok();
        }
        if !all_told {
            // Nobody may leave, so nothing would wake the pod.
            self.queue.retry(id, now);
        }
    }

    /// Binds pods whose volumes have come; those that waited too long begin again.
    fn bind_those_with_volumes(&mut self, now: Time, hands: &mut impl Hands) {
        if self.pending.is_empty() {
            return;
        }
        let cluster = &self.cluster;
        let outcome = |(id, pending): (&PodId, &Pending)| {
            let claims = &cluster.storage.claims;
            let given_up = |claim: &str| {
                let claim = claims.get(claim);
                claim.is_none_or(|claim| !claim.bound && claim.selected_node.as_ref() != Some(&pending.node))
            };
            if cluster.pod(*id).is_some_and(|pod| cluster.claims_are_bound(cluster.shape(pod.shape))) {
                return Some((*id, None));
            }
            let why = if let Some(claim) = pending.provisioned.iter().find(|claim| given_up(claim)) {
                let name = claim.split_once('/').map_or(&**claim, |(_, name)| name);
                format!("binding volumes: provisioning failed for PVC {name:?}")
            } else if pending.until <= now {
                "binding volumes: context deadline exceeded".to_owned()
            } else {
                return None;
            };
            Some((*id, Some(why)))
        };
        let done: Vec<(PodId, Option<String>)> = self.pending.iter().filter_map(outcome).collect();
        for (id, failure) in done {
            let Some(pending) = self.pending.remove(&id) else { continue };
            match failure {
                None => self.bind(id, pending.node, now, hands),
                Some(why) => self.fail(id, why, now, hands),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::score::Packing;
    use super::*;

    const START: Time = Time::from_unix_nanos(1_000_000_000_000);

    fn after(seconds: u64) -> Time {
        START + Duration::from_secs(seconds)
    }

    struct Bench {
        scheduler: Scheduler,
        done: Vec<Action>,
    }

    impl Bench {
        fn new() -> Self {
            let decider = Decider::new(1, Packing::LeastAllocated, 0);
            Self { scheduler: Scheduler::new("default-scheduler", decider), done: Vec::new() }
        }

        fn see(&mut self, plural: &str, object: &Value, now: Time) {
            self.scheduler.see(&Seen::parse(plural, object.to_string().as_bytes()).unwrap(), now);
        }

        fn node(&mut self, name: &str, cpu: &str, now: Time) {
            let has = json!({"cpu": cpu, "memory": "8Gi", "pods": "9"});
            self.see("nodes", &json!({"metadata": {"name": name}, "status": {"allocatable": has}}), now);
        }

        /// All turns there are, with a hand that may refuse.
        fn turns(&mut self, now: Time, works: impl Fn(&Action) -> bool) -> usize {
            let Self { scheduler, done } = self;
            let mut hands = |action: Action| {
                let result = if works(&action) { Ok(()) } else { Err("no".to_owned()) };
                done.push(action);
                result
            };
            let mut turns = 0;
            while scheduler.turn(now, &mut hands) {
                turns += 1;
            }
            turns
        }
    }

    fn pod(name: &str, cpu: &str) -> Value {
        json!({"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": {
            "schedulerName": "default-scheduler",
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}})
    }

    #[test]
    fn a_binding_that_fails_gives_the_room_back_and_is_tried_again() {
        let mut bench = Bench::new();
        bench.node("n", "1", START);
        bench.see("pods", &pod("a", "1"), START);
        assert_eq!(bench.turns(START, |action| !matches!(action, Action::Bind { .. })), 1);
        let reasons = bench.done.iter().filter_map(|action| match action {
            Action::Refuse { reason, message, .. } => Some((*reason, message.as_str())),
            _ => None,
        });
        assert_eq!(reasons.collect::<Vec<_>>(), [("SchedulerError", "no")]);
        assert_eq!(bench.scheduler.next_due(), Some(after(1)));
        assert_eq!(bench.turns(after(1), |_| true), 1);
        assert!(matches!(bench.done.last(), Some(Action::Bind { .. })));
    }

    #[test]
    fn only_events_that_help_give_another_try() {
        let mut bench = Bench::new();
        bench.node("n", "1", START);
        bench.see("pods", &pod("a", "2"), START);
        assert_eq!(bench.turns(START, |_| true), 1);
        bench.node("n", "1", after(20));
        bench.node("m", "1", after(20));
        assert_eq!(bench.turns(after(20), |_| true), 0, "neither has room for it");
        bench.node("m", "2", after(20));
        assert_eq!(bench.turns(after(20), |_| true), 1);
    }

    #[test]
    fn gated_foreign_and_leaving_pods_are_left_alone() {
        let mut bench = Bench::new();
        bench.node("n", "1", START);
        let mut gated = pod("a", "1");
        gated["spec"]["schedulingGates"] = json!([{"name": "g"}]);
        bench.see("pods", &gated, START);
        let mut foreign = pod("b", "1");
        foreign["spec"]["schedulerName"] = "other".into();
        bench.see("pods", &foreign, START);
        let mut leaving = pod("c", "1");
        leaving["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z".into();
        bench.see("pods", &leaving, START);
        assert_eq!(bench.turns(START, |_| true), 0);
        bench.see("pods", &pod("a", "1"), START);
        assert_eq!(bench.turns(START, |_| true), 1, "the gate is open");
    }

    #[test]
    fn a_volume_that_cannot_be_made_sends_the_pod_back() {
        let mut bench = Bench::new();
        bench.node("n", "1", START);
        let class = json!({"metadata": {"name": "w"}, "provisioner": "csi.x",
            "volumeBindingMode": "WaitForFirstConsumer"});
        bench.see("storageclasses", &class, START);
        let claim =
            json!({"metadata": {"name": "c", "namespace": "default"}, "spec": {"storageClassName": "w"}});
        bench.see("persistentvolumeclaims", &claim, START);
        let mut user = pod("a", "1");
        user["spec"]["volumes"] = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]);
        bench.see("pods", &user, START);
        assert_eq!(bench.turns(START, |_| true), 1);
        assert!(matches!(bench.done[..], [Action::Claim { .. }]));
        assert_eq!(bench.scheduler.next_due(), Some(after(600)));
        bench.see("persistentvolumeclaims", &claim, after(5));
        assert_eq!(bench.turns(after(5), |_| true), 0);
        let Some(Action::Refuse { message, .. }) = bench.done.last() else { panic!("it was not told") };
        assert_eq!(message, "binding volumes: provisioning failed for PVC \"c\"");
    }
}
