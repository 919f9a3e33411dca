//! Deployments: a ReplicaSet for each template, and pods moved from the old ones to the new one.

mod progress;
mod revision;
mod rollout;
mod scale;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec, DeploymentStatus, ReplicaSet};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::events::{Recorder, about};
use super::family::{Child, Family, writes};
use super::frame::{Controller, Next};
use super::moment::time;
use super::portion::portion;
use super::queue::Queue;
use crate::api::{self, Api};
use crate::selector::Selector;
use crate::status::Status;
use crate::store::{Change, Key, Object};

#[derive(Debug)]
pub(super) struct Deployments {
    family: Family<Arc<Object>>,
    recorder: Recorder,
}

/// ReplicaSets are few: they are read when they are needed.
impl Child for Arc<Object> {
    type Kind = ReplicaSet;

    fn of(object: &Arc<Object>) -> Option<Self> {
        Some(object.clone())
    }

    fn object(&self) -> &Arc<Object> {
        self
    }

    fn is_adoptable(&self) -> bool {
        true
    }
}

/// One deployment at work.
struct Work<'a> {
    api: &'a Api,
    recorder: &'a mut Recorder,
    /// As it was, but for its conditions and its revision.
    deployment: Deployment,
    /// The ReplicaSet of the template, if there is one.
    new: Option<ReplicaSet>,
    /// The others, the oldest first.
    old: Vec<ReplicaSet>,
}

impl Deployments {
    pub(super) const SHELVES: &'static [&'static str] = &["deployments.apps", "replicasets.apps"];

    pub(super) fn new() -> Self {
        Self { family: Family::new("Deployment"), recorder: Recorder::new("deployment-controller") }
    }
}

impl Controller for Deployments {
    type Item = Key;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Key>) {
        if shelf == "replicasets.apps" {
            self.family.child(change, |key| queue.add(key));
            return;
        }
        let deployment = api::read::<Deployment>(&change.object);
        let selector = deployment.as_ref().and_then(|deployment| Some(&deployment.spec.as_ref()?.selector));
        let selector = Selector::from_typed(selector).unwrap_or_else(|_| Selector::nothing());
        self.family.parent(change, selector, |key| queue.add(key));
    }

    fn reconcile(&mut self, api: &Api, key: &Key) -> Result<Next, Status> {
        let Some(deployment) = api.read::<Deployment>(&key.namespace, &key.name) else {
            return Ok(Next::Done);
        };
        if self.family.claim(api, key, &deployment, &|_| {})? {
            return Ok(Next::Done);
        }
        let uid = deployment.metadata.uid.clone().unwrap_or_default();
        let sets = self.family.selected(key, &uid).filter_map(|object| api::read::<ReplicaSet>(object));
        let mut work = Work::new(api, &mut self.recorder, deployment, sets.collect());
        work.run()
    }
}

impl<'a> Work<'a> {
    fn new(
        api: &'a Api,
        recorder: &'a mut Recorder,
        deployment: Deployment,
        mut sets: Vec<ReplicaSet>,
    ) -> Self {
        sets.sort_by(|left, right| age(left).cmp(&age(right)));
        let template = deployment.spec.as_ref().map(|spec| &spec.template);
        let found = sets.iter().position(|set| {
            let own = set.spec.as_ref().and_then(|spec| spec.template.as_ref());
            own.zip(template).is_some_and(|(own, template)| revision::same_template(own, template))
        });
        let new = found.map(|place| sets.remove(place));
        Self { api, recorder, deployment, new, old: sets }
    }

    fn run(&mut self) -> Result<Next, Status> {
        if self.spec().selector == Default::default() {
            let why = "This deployment is selecting all pods. A non-empty selector is required.";
            self.recorder.warning(self.api, &about(&self.deployment), "SelectingAll", why);
            return Ok(Next::Done);
        }
        if self.deployment.metadata.deletion_timestamp.is_some() {
            return self.report();
        }
        self.note_pause()?;
        let paused = self.spec().paused == Some(true);
        if paused || self.is_scaled() {
            self.adopt_revision()?;
            self.scale()?;
            if paused {
                self.clean_up()?;
            }
            return self.report();
        }
        self.roll_out()?;
        self.report_progress()
    }

    fn spec(&self) -> &DeploymentSpec {
        static NONE: std::sync::LazyLock<DeploymentSpec> = std::sync::LazyLock::new(DeploymentSpec::default);
        self.deployment.spec.as_ref().unwrap_or(&NONE)
    }

    fn status(&self) -> DeploymentStatus {
        self.deployment.status.clone().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.deployment.metadata.name.as_deref().unwrap_or_default()
    }

    fn namespace(&self) -> &str {
        self.deployment.metadata.namespace.as_deref().unwrap_or_default()
    }

    fn wanted(&self) -> i32 {
        self.spec().replicas.unwrap_or(1)
    }

    fn is_rolling(&self) -> bool {
        let strategy = self.spec().strategy.as_ref();
        strategy.and_then(|strategy| strategy.type_.as_deref()) != Some("Recreate")
    }

    /// How many pods there may be beyond those wanted, and how many may be missing: never neither.
    fn bounds(&self) -> (i32, i32) {
        if !self.is_rolling() {
            return (0, 0);
        }
        let wanted = self.wanted();
        let rolling = self.spec().strategy.as_ref().and_then(|strategy| strategy.rolling_update.as_ref());
        let quarter = IntOrString::String("25%".to_owned());
        let surge = rolling.and_then(|rolling| rolling.max_surge.as_ref()).unwrap_or(&quarter);
        let missing = rolling.and_then(|rolling| rolling.max_unavailable.as_ref()).unwrap_or(&quarter);
        let (surge, missing) = (portion(surge, wanted, true), portion(missing, wanted, false));
        let missing = if surge == 0 && missing == 0 { 1 } else { missing };
        (surge, missing.min(wanted))
    }

    fn sets(&self) -> impl Iterator<Item = &ReplicaSet> {
        self.old.iter().chain(&self.new)
    }

    /// Seconds without progress after which the deployment has failed, unless that is never.
    fn deadline(&self) -> Option<Duration> {
        let seconds = self.spec().progress_deadline_seconds.unwrap_or(600);
        (seconds != i32::MAX).then(|| super::brief::seconds(seconds.into()))
    }

    /// Writes status and revision.
    fn write_status(&mut self) -> Result<(), Status> {
        let (status, revision) = (self.deployment.status.clone(), revision::of(&self.deployment.metadata));
        let place = (self.namespace(), self.name(), "status");
        let written = self.api.edit::<Deployment>(place, &writes(), |found| {
            found.status.clone_from(&status);
            if let Some(revision) = &revision {
                let annotations = found.metadata.annotations.get_or_insert_default();
                annotations.insert(revision::REVISION.to_owned(), revision.clone());
            }
            Ok(())
        })?;
        self.deployment.status = written.status;
        Ok(())
    }
}

fn age(set: &ReplicaSet) -> (Option<mock_clock::Time>, Option<&str>) {
    (set.metadata.creation_timestamp.as_ref().map(time), set.metadata.name.as_deref())
}

fn replicas(set: &ReplicaSet) -> i32 {
    set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1)
}

fn available(set: &ReplicaSet) -> i32 {
    set.status.as_ref().and_then(|status| status.available_replicas).unwrap_or_default()
}

/// The pods that a set has, whatever it should have.
fn actual(set: &ReplicaSet) -> i32 {
    set.status.as_ref().map(|status| status.replicas).unwrap_or_default()
}
