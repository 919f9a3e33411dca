//! What a deployment says of itself: numbers, whether enough pods are available, whether it gets anywhere.

use std::time::Duration;

use k8s_openapi::api::apps::v1::{DeploymentCondition, DeploymentStatus, ReplicaSetStatus};

use super::{Work, actual, available, replicas};
use crate::control::frame::Next;
use crate::control::moment::{moment, time};
use crate::status::Status;

const AVAILABLE: &str = "Available";
const PROGRESSING: &str = "Progressing";
const FAILURE: &str = "ReplicaFailure";
const ROLLED_OUT: &str = "NewReplicaSetAvailable";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";

impl Work<'_> {
    /// Says when a deployment was paused or resumed: a pause is not lack of progress.
    pub(super) fn note_pause(&mut self) -> Result<(), Status> {
        let known = self.progressing().and_then(|condition| condition.reason);
        if self.deadline().is_none() || known.as_deref() == Some(TIMED_OUT) {
            return Ok(());
        }
        let noted = known.as_deref() == Some("DeploymentPaused");
        let (reason, message) = match (self.spec().paused == Some(true), noted) {
            (true, false) => ("DeploymentPaused", "Deployment is paused"),
            (false, true) => ("DeploymentResumed", "Deployment is resumed"),
            _ => return Ok(()),
        };
        self.set_condition(PROGRESSING, "Unknown", reason, message);
        self.write_status()
    }

    /// Writes the numbers.
    pub(super) fn report(&mut self) -> Result<Next, Status> {
        let before = self.status();
        self.count();
        if self.status() != before {
            self.write_status()?;
        }
        Ok(Next::Done)
    }

    /// Writes the numbers, and how far the rollout is.
    pub(super) fn report_progress(&mut self) -> Result<Next, Status> {
        let before = self.status();
        self.count();
        let status = self.status();
        let known = self.progressing();
        let done = known.as_ref().is_some_and(|known| known.reason.as_deref() == Some(ROLLED_OUT))
            && status.replicas == status.updated_replicas;
        match self.deadline() {
            None => self.drop_condition(PROGRESSING),
            Some(deadline) if !done => self.judge(&before, &status, deadline),
            Some(_) => {}
        }
        self.pass_failure_on();
        if self.status() != before {
            self.write_status()?;
        }
        Ok(self.next_look())
    }

    /// Whether all pods are new and available.
    pub(super) fn is_complete(&self, status: &DeploymentStatus) -> bool {
        let all = |number: Option<i32>| number.unwrap_or_default() == self.wanted();
        all(status.updated_replicas)
            && all(status.replicas)
            && all(status.available_replicas)
            && status.observed_generation >= self.deployment.metadata.generation
    }

    fn judge(&mut self, before: &DeploymentStatus, status: &DeploymentStatus, deadline: Duration) {
        let who = match &self.new {
            Some(set) => format!("ReplicaSet {:?}", set.metadata.name.as_deref().unwrap_or_default()),
            None => format!("Deployment {:?}", self.name()),
        };
        if self.is_complete(status) {
            let message = format!("{who} has successfully progressed.");
            self.set_condition(PROGRESSING, "True", ROLLED_OUT, &message);
        } else if has_progressed(before, status) {
            let known = self.progressing().filter(|known| known.status == "True");
            self.drop_condition(PROGRESSING);
            self.set_condition(PROGRESSING, "True", "ReplicaSetUpdated", &format!("{who} is progressing."));
            // The moment of the last progress moves, that of the last turn does not.
            if let (Some(known), Some(condition)) = (known, self.conditions().last_mut()) {
                condition.last_transition_time = known.last_transition_time;
            }
        } else if self.has_timed_out(deadline) {
            let message = format!("{who} has timed out progressing.");
            self.set_condition(PROGRESSING, "False", TIMED_OUT, &message);
        }
    }

    fn has_timed_out(&self, deadline: Duration) -> bool {
        let Some(condition) = self.progressing() else { return false };
        match condition.reason.as_deref() {
            Some(ROLLED_OUT) => false,
            Some(TIMED_OUT) => true,
            _ => condition.last_update_time.is_some_and(|last| time(&last) + deadline < self.api.now()),
        }
    }

    /// When lack of progress is to be noticed.
    fn next_look(&self) -> Next {
        let (Some(deadline), Some(condition)) = (self.deadline(), self.progressing()) else {
            return Next::Done;
        };
        // A rollout that is over, well or not, cannot run out of time.
        if self.is_complete(&self.status())
            || matches!(condition.reason.as_deref(), Some(TIMED_OUT | ROLLED_OUT))
        {
            return Next::Done;
        }
        let Some(last) = condition.last_update_time else { return Next::Done };
        // A second more: times are written in whole seconds.
        Next::After((time(&last) + deadline).since(self.api.now()) + Duration::from_secs(1))
    }

    fn count(&mut self) {
        let total: i32 = self.sets().map(replicas).sum();
        let available: i32 = self.sets().map(available).sum();
        let statuses = || self.sets().filter_map(|set| set.status.as_ref());
        let ready: i32 = statuses().filter_map(|status| status.ready_replicas).sum();
        let enough = available >= self.wanted() - self.bounds().1;
        let number = |number: i32| (number != 0).then_some(number);
        let counted = DeploymentStatus {
            available_replicas: number(available),
            collision_count: self.status().collision_count,
            conditions: self.status().conditions,
            observed_generation: self.deployment.metadata.generation,
            ready_replicas: number(ready),
            replicas: number(self.sets().map(actual).sum()),
            terminating_replicas: terminating(statuses()),
            unavailable_replicas: number((total - available).max(0)),
            updated_replicas: number(self.new.as_ref().map(actual).unwrap_or_default()),
        };
        self.deployment.status = Some(counted);
        let (status, reason, message) = if enough {
            ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
        } else {
            ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
        };
        self.set_condition(AVAILABLE, status, reason, message);
    }

    /// A set that cannot make its pods is a deployment that cannot.
    fn pass_failure_on(&mut self) {
        let failures = self.new.iter().chain(&self.old).filter_map(|set| set.status.as_ref());
        let mut failures = failures.flat_map(|status| status.conditions.iter().flatten());
        let Some(failure) = failures.find(|condition| condition.type_ == FAILURE).cloned() else {
            return self.drop_condition(FAILURE);
        };
        self.put_condition(DeploymentCondition {
            last_transition_time: failure.last_transition_time.clone(),
            last_update_time: failure.last_transition_time,
            message: failure.message,
            reason: failure.reason,
            status: failure.status,
            type_: failure.type_,
        });
    }

    pub(super) fn progressing(&self) -> Option<DeploymentCondition> {
        let conditions = self.deployment.status.as_ref()?.conditions.as_ref()?;
        conditions.iter().find(|condition| condition.type_ == PROGRESSING).cloned()
    }

    pub(super) fn set_condition(&mut self, kind: &str, status: &str, reason: &str, message: &str) {
        let now = moment(self.api.now());
        self.put_condition(DeploymentCondition {
            last_transition_time: Some(now.clone()),
            last_update_time: Some(now),
            message: Some(message.to_owned()),
            reason: Some(reason.to_owned()),
            status: status.to_owned(),
            type_: kind.to_owned(),
        });
    }

    /// The same status for the same reason is no news.
    fn put_condition(&mut self, mut condition: DeploymentCondition) {
        let conditions = self.conditions();
        if let Some(place) = conditions.iter().position(|known| known.type_ == condition.type_) {
            let known = &conditions[place];
            if known.status == condition.status && known.reason == condition.reason {
                return;
            }
            let known = conditions.remove(place);
            if known.status == condition.status {
                condition.last_transition_time = known.last_transition_time;
            }
        }
        conditions.push(condition);
    }

    fn drop_condition(&mut self, kind: &str) {
        self.conditions().retain(|condition| condition.type_ != kind);
    }

    fn conditions(&mut self) -> &mut Vec<DeploymentCondition> {
        self.deployment.status.get_or_insert_default().conditions.get_or_insert_default()
    }
}

/// More new pods, fewer old ones, or more that are ready or available.
fn has_progressed(before: &DeploymentStatus, after: &DeploymentStatus) -> bool {
    let number = Option::unwrap_or_default;
    let old = |status: &DeploymentStatus| number(status.replicas) - number(status.updated_replicas);
    number(after.updated_replicas) > number(before.updated_replicas)
        || old(after) < old(before)
        || number(after.ready_replicas) > number(before.ready_replicas)
        || number(after.available_replicas) > number(before.available_replicas)
}

/// Sets that nobody has looked at yet do not count; one that does not say leaves the sum unknown.
fn terminating<'a>(statuses: impl Iterator<Item = &'a ReplicaSetStatus>) -> Option<i32> {
    let looked_at = statuses.filter(|status| {
        status.terminating_replicas.is_some() || status.observed_generation.unwrap_or_default() != 0
    });
    looked_at.map(|status| status.terminating_replicas).sum()
}
