//! Jobs: pods that are to succeed so many times, and are counted one by one.
//!
//! A finalizer holds each pod until it is counted. Not simulated: back-off limits for each index, success policies.

mod backoff;
mod failure_policy;
mod indexes;
mod judge;
mod pods;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::api::batch::v1::{Job, JobSpec, JobStatus};
use k8s_openapi::api::core::v1::Pod;
use mock_clock::Time;

use self::backoff::Backoff;
use super::brief::{Brief, Phase, TRACKING};
use super::events::Recorder;
use super::family::{Child as _, Family, edit, writes};
use super::frame::{Controller, Next};
use super::moment::{moment, time};
use super::pod_maker::{BURST, PodMaker};
use super::queue::Queue;
use crate::api::{self, Api};
use crate::selector::Selector;
use crate::status::Status;
use crate::store::{Change, Key};

#[derive(Debug)]
pub(super) struct Jobs {
    family: Family<Brief>,
    recorder: Recorder,
    backoffs: BTreeMap<Key, Backoff>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    Job(Key),
    /// A pod that no Job will count.
    Stray(Key),
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(key) => write!(f, "{key}"),
            Self::Stray(key) => write!(f, "pod {key}"),
        }
    }
}

/// One job at work.
struct Work<'a> {
    api: &'a Api,
    job: Job,
    status: JobStatus,
    pods: Vec<&'a Brief>,
    recorder: &'a mut Recorder,
    backoff: Backoff,
    now: Time,
}

impl Jobs {
    pub(super) const SHELVES: &'static [&'static str] = &["jobs.batch", "pods"];

    pub(super) fn new() -> Self {
        Self {
            family: Family::new("Job"),
            recorder: Recorder::new("job-controller"),
            backoffs: BTreeMap::new(),
        }
    }

    fn observe_pod(&mut self, change: &Change, queue: &mut Queue<Item>) {
        self.family.child(change, |key| queue.add(Item::Job(key)));
        let object = &change.object;
        if change.deleted || !object.finalizers {
            return;
        }
        let lost = match self.family.parent_of(object) {
            Some((job, uid)) => !self.family.knows(&job, &uid),
            None => object.controller().is_none(),
        };
        if lost && Brief::of(object).is_some_and(|pod| pod.tracked) {
            queue.add(Item::Stray(object.key.clone()));
        }
    }

    fn observe_job(&mut self, change: &Change, queue: &mut Queue<Item>) {
        let object = &change.object;
        let selector = api::read::<Job>(object).and_then(|job| job.spec?.selector);
        let selector = Selector::from_typed(selector.as_ref()).unwrap_or_else(|_| Selector::nothing());
        self.family.parent(change, selector, |key| queue.add(Item::Job(key)));
        if change.deleted {
            self.backoffs.remove(&object.key);
            for pod in self.family.of(&object.uid).filter(|pod| pod.tracked) {
                queue.add(Item::Stray(pod.object.key.clone()));
            }
        }
    }

    /// Lets a pod go that nobody counts.
    fn free(&self, api: &Api, key: &Key) -> Result<(), Status> {
        let Some(object) = api.find(&api.resource::<Pod>(), &key.namespace, &key.name) else { return Ok(()) };
        match self.family.parent_of(&object) {
            Some((job, uid)) if self.family.knows(&job, &uid) => Ok(()),
            _ => edit::<Pod>(api, &object, untrack),
        }
    }
}

fn untrack(pod: &mut Pod) {
    if let Some(finalizers) = &mut pod.metadata.finalizers {
        finalizers.retain(|finalizer| finalizer != TRACKING);
    }
}

fn track(pod: &mut Pod) {
    let finalizers = pod.metadata.finalizers.get_or_insert_default();
    if !finalizers.iter().any(|finalizer| finalizer == TRACKING) {
        finalizers.push(TRACKING.to_owned());
    }
}

impl Controller for Jobs {
    type Item = Item;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Item>) {
        if shelf == "pods" { self.observe_pod(change, queue) } else { self.observe_job(change, queue) }
    }

    fn reconcile(&mut self, api: &Api, item: &Item) -> Result<Next, Status> {
        let key = match item {
            Item::Job(key) => key,
            Item::Stray(key) => return self.free(api, key).map(|()| Next::Done),
        };
        let Some(job) = api.read::<Job>(&key.namespace, &key.name) else { return Ok(Next::Done) };
        let managed_by = job.spec.as_ref().and_then(|spec| spec.managed_by.as_deref());
        if managed_by.is_some_and(|manager| manager != "kubernetes.io/job-controller") {
            return Ok(Next::Done);
        }
        if judge::is_finished(&job) {
            self.backoffs.remove(key);
            return Ok(Next::Done);
        }
        if self.family.claim(api, key, &job, &track)? {
            return Ok(Next::Done);
        }
        let uid = job.metadata.uid.clone().unwrap_or_default();
        let pods = self.family.selected(key, &uid).collect();
        let status = job.status.clone().unwrap_or_default();
        let backoff = self.backoffs.get(key).copied().unwrap_or_default();
        let recorder = &mut self.recorder;
        let mut work = Work { api, job, status, pods, recorder, backoff, now: api.now() };
        let next = work.run();
        self.backoffs.insert(key.clone(), work.backoff);
        next
    }
}

impl Work<'_> {
    fn run(&mut self) -> Result<Next, Status> {
        self.status.uncounted_terminated_pods.get_or_insert_default();
        if self.status.start_time.is_none() && !self.is_suspended() {
            self.status.start_time = Some(moment(self.now));
        }
        let ended = self.ended();
        self.backoff = self.backoff.after(&ended.iter().map(|pod| pod.end).collect::<Vec<_>>());
        let failed = self.status.failed.unwrap_or_default() + count(&ended, |pod| pod.counts_as_failed());
        let succeeded = self.succeeded(&ended);
        let mut active: Vec<&Brief> = self.pods.iter().copied().filter(|pod| pod.is_active()).collect();
        let mut next = self.until_deadline();
        let mut verdict = self.verdict(failed, &ended);
        let mut managed = Ok(());
        if verdict.is_some() {
            managed = self.delete_all(&active);
            active.clear();
        } else {
            if self.job.metadata.deletion_timestamp.is_none() {
                managed = self.manage(&mut active, succeeded, &mut next);
            }
            if self.is_complete(succeeded, active.len()) {
                verdict = Some(judge::Verdict::success());
            } else if self.job.metadata.deletion_timestamp.is_none() {
                self.note_suspension();
            }
        }
        self.count_pods(&active);
        self.settle(verdict, ended)?;
        managed?;
        Ok(next)
    }

    fn spec(&self) -> &JobSpec {
        static NONE: std::sync::LazyLock<JobSpec> = std::sync::LazyLock::new(JobSpec::default);
        self.job.spec.as_ref().unwrap_or(&NONE)
    }

    fn is_suspended(&self) -> bool {
        self.spec().suspend == Some(true)
    }

    fn is_indexed(&self) -> bool {
        self.spec().completion_mode.as_deref() == Some("Indexed")
    }

    /// Whether a pod is replaced only once it has failed, not as soon as it is asked to stop.
    fn replaces_failed_only(&self) -> bool {
        match self.spec().pod_replacement_policy.as_deref() {
            Some(policy) => policy == "Failed",
            None => self.spec().pod_failure_policy.is_some(),
        }
    }

    fn has_failed(&self, pod: &Brief) -> bool {
        pod.phase == Phase::Failed || (!self.replaces_failed_only() && pod.is_terminating())
    }

    /// The pods that have come to an end and are not counted yet.
    fn ended(&self) -> Vec<Ended> {
        let tracked = self.pods.iter().copied().filter(|pod| pod.tracked);
        tracked.filter_map(|pod| self.end_of(pod)).take(BURST).collect()
    }

    fn end_of(&self, pod: &Brief) -> Option<Ended> {
        let succeeded = pod.phase == Phase::Succeeded;
        if !succeeded && !self.has_failed(pod) {
            return None;
        }
        let read = pod.read()?;
        let policy = self.spec().pod_failure_policy.as_ref();
        let rule = policy.filter(|_| !succeeded).and_then(|policy| failure_policy::matched(policy, &read));
        let at = backoff::finished_at(&read).unwrap_or(self.now);
        Some(Ended { pod: pod.clone(), end: backoff::End { at, succeeded }, rule })
    }

    /// The numbers of the moment.
    fn count_pods(&mut self, active: &[&Brief]) {
        let number = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
        let terminating = self.pods.iter().filter(|pod| pod.is_terminating()).count();
        let stopped = self.pods.iter().filter(|pod| pod.is_active()).count();
        self.status.active = Some(number(active.len())).filter(|number| *number > 0);
        self.status.ready = Some(number(active.iter().filter(|pod| pod.is_ready()).count()));
        self.status.terminating = Some(number(terminating + stopped));
    }

    /// Counts what has ended, lets it go, and says how things stand.
    fn settle(&mut self, verdict: Option<judge::Verdict>, ended: Vec<Ended>) -> Result<(), Status> {
        let mut released = ended;
        if verdict.is_some() || self.job.metadata.deletion_timestamp.is_some() {
            released =
                self.pods.iter().filter(|pod| pod.tracked).take(BURST).map(|pod| self.last_of(pod)).collect();
        }
        let all = released.len() < BURST;
        self.count_ended(&released, verdict.as_ref());
        if let Some(verdict) = &verdict {
            self.note(verdict.interim(), &verdict.reason, &verdict.message);
        }
        self.write_status()?;
        for ended in &released {
            edit::<Pod>(self.api, &ended.pod.object, untrack)?;
        }
        let Some(verdict) = verdict.filter(|_| all && self.status.terminating == Some(0)) else {
            return Ok(());
        };
        self.note(verdict.last(), &verdict.reason, &verdict.message);
        if verdict.is_success {
            self.status.completion_time = Some(moment(self.now));
        }
        self.write_status()?;
        self.tell_end(&verdict);
        Ok(())
    }

    /// A pod of a job that is over: what has not ended has nothing to say.
    fn last_of(&self, pod: &Brief) -> Ended {
        let end = backoff::End { at: self.now, succeeded: false };
        self.end_of(pod).unwrap_or_else(|| Ended { pod: pod.clone(), end, rule: None })
    }

    fn count_ended(&mut self, released: &[Ended], verdict: Option<&judge::Verdict>) {
        let over = verdict.is_some_and(|verdict| !verdict.is_success);
        let failed = count(released, |ended| {
            ended.counts_as_failed() && (over || self.has_failed(&ended.pod)) && self.is_counted(&ended.pod)
        });
        let succeeded = if self.is_indexed() {
            let done = self.done_indexes(released);
            self.status.completed_indexes = Some(done.to_string()).filter(|text| !text.is_empty());
            done.count()
        } else {
            self.status.succeeded.unwrap_or_default() + count(released, |ended| ended.end.succeeded)
        };
        let failed = self.status.failed.unwrap_or_default() + failed;
        self.status.failed = (failed > 0).then_some(failed);
        self.status.succeeded = (succeeded > 0).then_some(succeeded);
    }

    fn write_status(&mut self) -> Result<(), Status> {
        if self.job.status.as_ref() == Some(&self.status) {
            return Ok(());
        }
        let metadata = &self.job.metadata;
        let name = metadata.name.clone().unwrap_or_default();
        let namespace = metadata.namespace.clone().unwrap_or_default();
        let status = &self.status;
        let written = self.api.edit::<Job>((&namespace, &name, "status"), &writes(), |job| {
            job.status = Some(status.clone());
            Ok(())
        })?;
        self.job.status = written.status;
        Ok(())
    }

    fn delete_all(&mut self, pods: &[&Brief]) -> Result<(), Status> {
        let mut maker = PodMaker::new(self.api, self.recorder, &self.job);
        pods.iter().try_for_each(|pod| maker.delete(pod))
    }

    fn until_deadline(&self) -> Next {
        let Some(deadline) = self.deadline().filter(|_| !self.is_suspended()) else { return Next::Done };
        if deadline <= self.now { Next::Done } else { Next::After(deadline - self.now) }
    }

    /// When the job has been active for too long.
    fn deadline(&self) -> Option<Time> {
        let seconds = self.spec().active_deadline_seconds?;
        Some(time(self.status.start_time.as_ref()?) + super::brief::seconds(seconds))
    }
}

/// A pod that has come to its end.
struct Ended {
    pod: Brief,
    end: backoff::End,
    /// The rule of the failure policy that speaks of it.
    rule: Option<failure_policy::Matched>,
}

impl Ended {
    fn counts_as_failed(&self) -> bool {
        !self.end.succeeded && self.rule.as_ref().is_none_or(|rule| rule.action != "Ignore")
    }
}

fn count(ended: &[Ended], is_meant: impl Fn(&Ended) -> bool) -> i32 {
    i32::try_from(ended.iter().filter(|ended| is_meant(ended)).count()).unwrap_or(i32::MAX)
}
