//! The scheduler's hands: what it decides, written through the API, with the events clients look for.

use k8s_openapi::api::core::v1::{
    ObjectReference, PersistentVolume, PersistentVolumeClaim, Pod, PodCondition, PodStatus,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time as MetaTime;
use serde_json::json;

use crate::api::{Api, Delete, Target, Write};
use crate::control::events::{Recorder, about as reference};
use crate::status::Status;

use super::filter::ClaimStep;
use super::scheduler::{Action, Hands, PodRef};
use super::volume::SELECTED_NODE;

/// Event notes are cut there.
const LONGEST_NOTE: usize = 1024;

/// Writes through the API.
#[derive(Debug)]
pub(super) struct Pen<'a> {
    api: &'a Api,
    name: &'static str,
    recorder: Recorder,
}

impl<'a> Pen<'a> {
    pub(super) fn new(api: &'a Api, name: &'static str) -> Self {
        Self { api, name, recorder: Recorder::new(name) }
    }

    fn bind(&mut self, pod: &PodRef, node: &str) -> Result<(), Status> {
        let resource = self.api.resource::<Pod>();
        let target =
            Target { resource: &resource, namespace: pod.namespace(), name: pod.name(), subresource: "" };
        let binding = json!({
            "metadata": {"namespace": pod.namespace(), "name": pod.name(), "uid": pod.uid},
            "target": {"kind": "Node", "name": node},
        });
        self.api.bind(&target, &binding, &writer())?;
        let message = format!("Successfully assigned {pod} to {node}");
        self.recorder.normal(self.api, &about(pod), "Scheduled", &message);
        Ok(())
    }

    fn refuse(
        &mut self,
        pod: &PodRef,
        reason: &str,
        message: &str,
        nominated: Option<&str>,
    ) -> Result<(), Status> {
        self.recorder.warning(self.api, &about(pod), "FailedScheduling", &cut(message));
        self.edit_status(pod, |status, generation, now| {
            let condition = PodCondition {
                type_: "PodScheduled".to_owned(),
                status: "False".to_owned(),
                reason: Some(reason.to_owned()),
                message: Some(message.to_owned()),
                observed_generation: generation,
                ..PodCondition::default()
            };
            set_condition(status, condition, now);
            if let Some(nominated) = nominated {
                status.nominated_node_name = Some(nominated.to_owned()).filter(|name| !name.is_empty());
            }
        })
    }

    fn preempt(&mut self, victim: &PodRef, by: &PodRef, node: &str) -> Result<(), Status> {
        let message = format!("{}: preempting to accommodate a higher priority pod", self.name);
        self.edit_status(victim, |status, generation, now| {
            let condition = PodCondition {
                type_: "DisruptionTarget".to_owned(),
                status: "True".to_owned(),
                reason: Some("PreemptionByScheduler".to_owned()),
                message: Some(message.clone()),
                observed_generation: generation,
                ..PodCondition::default()
            };
            set_condition(status, condition, now);
        })?;
        let delete = Delete::default().only(&victim.uid);
        self.api.discard::<Pod>(victim.namespace(), victim.name(), &delete, &writer())?;
        let message = format!("Preempted by pod {} on node {node}", by.uid);
        self.recorder.normal(self.api, &about(victim), "Preempted", &message);
        Ok(())
    }

    fn claim(&self, step: &ClaimStep, node: &str) -> Result<(), Status> {
        let (ClaimStep::Provision { claim } | ClaimStep::Bind { claim, .. }) = step;
        let (namespace, name) = claim.split_once('/').unwrap_or(("", claim));
        let ClaimStep::Bind { volume, .. } = step else {
            let selected = |claim: &mut PersistentVolumeClaim| {
                let annotations = claim.metadata.annotations.get_or_insert_default();
                annotations.insert(SELECTED_NODE.to_owned(), node.to_owned());
                Ok(())
            };
            self.api.edit((namespace, name, ""), &writer(), selected)?;
            return Ok(());
        };
        let Some(claim) = self.api.read::<PersistentVolumeClaim>(namespace, name) else { return Ok(()) };
        let claimed = reference(&claim);
        let bound = |volume: &mut PersistentVolume| {
            let annotations = volume.metadata.annotations.get_or_insert_default();
            annotations.insert("pv.kubernetes.io/bound-by-controller".to_owned(), "yes".to_owned());
            volume.spec.get_or_insert_default().claim_ref = Some(claimed.clone());
            Ok(())
        };
        self.api.edit(("", volume, ""), &writer(), bound)?;
        Ok(())
    }

    /// Changes a pod's status; another pod of the same name is left alone.
    fn edit_status(
        &self,
        pod: &PodRef,
        edit: impl Fn(&mut PodStatus, Option<i64>, &MetaTime),
    ) -> Result<(), Status> {
        let now = self.api.now();
        let whole = now - std::time::Duration::from_nanos(now.unix_nanos() % 1_000_000_000);
        let now = MetaTime(whole.into());
        let place = (pod.namespace(), pod.name(), "status");
        let edited = self.api.edit::<Pod>(place, &writer(), |found| {
            if found.metadata.uid.as_deref() == Some(&*pod.uid) {
                let generation = found.metadata.generation;
                edit(found.status.get_or_insert_default(), generation, &now);
            }
            Ok(())
        });
        match edited {
            Err(status) if status.code == 404 => Ok(()),
            other => other.map(|_| ()),
        }
    }
}

impl Hands for Pen<'_> {
    fn act(&mut self, action: Action) -> Result<(), String> {
        let done = match &action {
            Action::Bind { pod, node } => self.bind(pod, node),
            Action::Refuse { pod, reason, message, nominated } => {
                self.refuse(pod, reason, message, nominated.as_deref())
            }
            Action::Preempt { victim, by, node } => self.preempt(victim, by, node),
            Action::Unnominate { pod } => {
                self.edit_status(pod, |status, _, _| status.nominated_node_name = None)
            }
            Action::Claim { step, node } => self.claim(step, node),
        };
        done.map_err(|status| {
            tracing::debug!(?action, %status, "the scheduler cannot write");
            status.message
        })
    }
}

fn writer() -> Write {
    Write::by("kube-scheduler")
}

/// Sets a condition. The time moves only with the status, and nothing moves if nothing is new.
fn set_condition(status: &mut PodStatus, mut condition: PodCondition, now: &MetaTime) {
    let conditions = status.conditions.get_or_insert_default();
    let Some(old) = conditions.iter_mut().find(|old| old.type_ == condition.type_) else {
        condition.last_transition_time = Some(now.clone());
        conditions.push(condition);
        return;
    };
    let told = |condition: &PodCondition| {
        (condition.status.clone(), condition.reason.clone(), condition.message.clone())
    };
    if told(old) == told(&condition) {
        return;
    }
    let same = old.status == condition.status;
    condition.last_transition_time = if same { old.last_transition_time.clone() } else { Some(now.clone()) };
    *old = condition;
}

/// What fits into an event.
fn cut(message: &str) -> String {
    if message.len() <= LONGEST_NOTE {
        return message.to_owned();
    }
    let end = (0..=LONGEST_NOTE - 4).rev().find(|end| message.is_char_boundary(*end)).unwrap_or_default();
    format!("{} ...", &message[..end])
}

fn about(pod: &PodRef) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".to_owned()),
        kind: Some("Pod".to_owned()),
        namespace: Some(pod.namespace().to_owned()),
        name: Some(pod.name().to_owned()),
        uid: Some(pod.uid.to_string()),
        ..ObjectReference::default()
    }
}
