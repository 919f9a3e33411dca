//! How many pods a job has at once, and which index each of them has.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{EnvVar, EnvVarSource, ObjectFieldSelector, Pod};

use super::indexes::Indexes;
use super::{Ended, Work, count, track};
use crate::control::brief::{Brief, Phase};
use crate::control::frame::Next;
use crate::control::pod_maker::{BURST, PodMaker, pod_of};
use crate::control::ranking::expendable;
use crate::status::Status;

const INDEX: &str = "batch.kubernetes.io/job-completion-index";
const VARIABLE: &str = "JOB_COMPLETION_INDEX";

impl Work<'_> {
    /// Makes or deletes pods, and leaves in `active` those that remain or came.
    pub(super) fn manage<'p>(
        &mut self,
        active: &mut Vec<&'p Brief>,
        succeeded: i32,
        next: &mut Next,
    ) -> Result<(), Status> {
        if self.is_suspended() {
            let all = std::mem::take(active);
            return self.delete_all(&all);
        }
        let wanted = self.wanted(succeeded, active.len());
        let surplus = self.surplus(active, active.len().saturating_sub(wanted));
        if !surplus.is_empty() {
            let gone: BTreeSet<&str> = surplus.iter().map(|pod| pod.uid()).collect();
            active.retain(|pod| !gone.contains(pod.uid()));
            return self.delete_all(&surplus);
        }
        let leaving =
            self.pods.iter().filter(|pod| self.replaces_failed_only() && pod.is_terminating()).count();
        let missing = wanted.saturating_sub(leaving + active.len()).min(BURST);
        if missing == 0 {
            return Ok(());
        }
        let wait = self.backoff.left(self.now);
        if !wait.is_zero() {
            *next = match *next {
                Next::After(sooner) if sooner < wait => Next::After(sooner),
                _ => Next::After(wait),
            };
            return Ok(());
        }
        self.make(missing, active)
    }

    /// How many are to be active.
    fn wanted(&self, succeeded: i32, active: usize) -> usize {
        let parallelism = usize::try_from(self.spec().parallelism.unwrap_or(1)).unwrap_or_default();
        match self.spec().completions {
            None if succeeded > 0 => active,
            None => parallelism,
            Some(completions) => {
                usize::try_from(completions - succeeded).unwrap_or_default().min(parallelism)
            }
        }
    }

    /// The pods to delete: those whose index is done, taken twice or out of range, and as many more as must go.
    fn surplus<'p>(&self, active: &[&'p Brief], least: usize) -> Vec<&'p Brief> {
        let (mut surplus, mut rest) = (Vec::new(), active.to_vec());
        if let Some(completions) = self.spec().completions.filter(|_| self.is_indexed()) {
            let mut taken = BTreeSet::new();
            rest.sort_by_key(|pod| index(pod).map(|index| (index, pod.born)));
            let fits =
                |pod: &Brief| index(pod).is_some_and(|index| index < completions && taken.insert(index));
            let (kept, wrong): (Vec<_>, Vec<_>) = rest.into_iter().partition({
                let mut fits = fits;
                move |pod| fits(pod)
            });
            (rest, surplus) = (kept, wrong);
        }
        let more = least.saturating_sub(surplus.len());
        if more > 0 {
            surplus.extend(expendable(rest, &BTreeMap::new(), self.now, more));
        }
        surplus.truncate(BURST);
        surplus
    }

    fn make<'p>(&mut self, missing: usize, active: &mut Vec<&'p Brief>) -> Result<(), Status> {
        let mut pod = pod_of(&self.spec().template, &self.job);
        track(&mut pod);
        let pods: Vec<Pod> = if self.is_indexed() {
            let pending = self.pending_indexes(active, missing);
            let name = self.job.metadata.name.clone().unwrap_or_default();
            pending.into_iter().map(|index| indexed(pod.clone(), &name, index)).collect()
        } else {
            vec![pod; missing]
        };
        let mut maker = PodMaker::new(self.api, self.recorder, &self.job);
        pods.iter().try_for_each(|pod| maker.make(pod))
    }

    /// The lowest indexes that are neither done nor being worked at.
    fn pending_indexes(&self, active: &[&Brief], missing: usize) -> Vec<i32> {
        let done = self.done_indexes(&[]);
        let uncounted = self.pods.iter().filter(|pod| pod.phase == Phase::Succeeded);
        let busy: BTreeSet<i32> = active.iter().chain(uncounted).filter_map(|pod| index(pod)).collect();
        let all = 0..self.spec().completions.unwrap_or_default();
        all.filter(|index| !done.has(*index) && !busy.contains(index)).take(missing).collect()
    }

    /// The indexes that have succeeded, with those of the pods that have just ended.
    pub(super) fn done_indexes(&self, ended: &[Ended]) -> Indexes {
        let completions = self.spec().completions.unwrap_or_default();
        let known = self.status.completed_indexes.as_deref().unwrap_or_default();
        let mut done = Indexes::read(known, completions);
        for ended in ended.iter().filter(|ended| ended.end.succeeded) {
            if let Some(index) = index(&ended.pod).filter(|index| *index < completions) {
                done.add(index);
            }
        }
        done
    }

    /// All that have succeeded so far.
    pub(super) fn succeeded(&self, ended: &[Ended]) -> i32 {
        if self.is_indexed() {
            return self.done_indexes(ended).count();
        }
        self.status.succeeded.unwrap_or_default() + count(ended, |ended| ended.end.succeeded)
    }

    /// A pod whose index makes no sense does not count.
    pub(super) fn is_counted(&self, pod: &Brief) -> bool {
        let completions = self.spec().completions.unwrap_or_default();
        !self.is_indexed() || index(pod).is_some_and(|index| index < completions)
    }
}

fn index(pod: &Brief) -> Option<i32> {
    pod.object.label(INDEX)?.parse().ok().filter(|index| *index >= 0)
}

/// A pod for one index: its name, host name, label and environment tell it.
fn indexed(mut pod: Pod, job: &str, index: i32) -> Pod {
    let metadata = &mut pod.metadata;
    metadata.generate_name = Some(format!("{job}-{index}-"));
    metadata.labels.get_or_insert_default().insert(INDEX.to_owned(), index.to_string());
    metadata.annotations.get_or_insert_default().insert(INDEX.to_owned(), index.to_string());
    let Some(spec) = &mut pod.spec else { return pod };
    spec.hostname = Some(format!("{job}-{index}"));
    let field_ref =
        ObjectFieldSelector { api_version: None, field_path: format!("metadata.labels['{INDEX}']") };
    let variable = EnvVar {
        name: VARIABLE.to_owned(),
        value: None,
        value_from: Some(EnvVarSource { field_ref: Some(field_ref), ..EnvVarSource::default() }),
    };
    for container in spec.init_containers.iter_mut().flatten().chain(&mut spec.containers) {
        let variables = container.env.get_or_insert_default();
        if !variables.iter().any(|known| known.name == VARIABLE) {
            variables.push(variable.clone());
        }
    }
    pod
}
