//! In which order pods come, go and are replaced: one after the other, or all together.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;

use super::Work;
use super::replica::Replica;
use crate::api::Delete;
use crate::control::brief::Phase;
use crate::control::events::about;
use crate::control::family::writes;
use crate::control::history;
use crate::control::pod_maker::{BURST, is_namespace_going};
use crate::control::portion::portion;
use crate::status::Status;

/// Whether there is more to do at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    On,
    Stop,
}

impl Work<'_> {
    /// Makes what is missing, takes what is too much, then replaces what is old.
    pub(super) fn put_in_order(&mut self) -> Result<(), Status> {
        let ordered = self.spec().pod_management_policy.as_deref() != Some("Parallel");
        let (start, wanted) = (self.start(), self.wanted());
        let replicas = self.replicas.clone();
        let by_number: BTreeMap<i32, &Replica> =
            replicas.iter().filter_map(|replica| Some((replica.number?, *replica))).collect();
        let mut made = 0;
        for number in start..start.saturating_add(wanted) {
            let step = match by_number.get(&number) {
                Some(replica) => self.tend(replica, number)?,
                None if made == BURST => return Ok(()),
                None => {
                    made += 1;
                    self.make(number)?
                }
            };
            if step == Step::Stop && ordered {
                return Ok(());
            }
        }
        if self.shrink(&replicas, ordered)? == Step::Stop && ordered {
            return Ok(());
        }
        if self.is_rolling() && self.set.metadata.deletion_timestamp.is_none() {
            self.update(&by_number)?;
        }
        Ok(())
    }

    fn make(&mut self, number: i32) -> Result<Step, Status> {
        if self.has_stale_claim(number) {
            return Ok(Step::Stop);
        }
        self.make_claims(number)?;
        let pod = self.pod(number);
        let name = format!("{}-{number}", self.name());
        match self.api.make(self.namespace(), &pod, &writes()) {
            Ok(_) => self.tell("Create", &name, None),
            Err(status) if status.reason == "AlreadyExists" || is_namespace_going(&status) => {
                return Err(status);
            }
            Err(status) => {
                self.tell("Create", &name, Some(&status));
                return Err(status);
            }
        }
        Ok(Step::Stop)
    }

    /// Looks after a pod that is there; stops where the next one has to wait for it.
    fn tend(&mut self, replica: &Replica, number: i32) -> Result<Step, Status> {
        let pod = &replica.pod;
        if pod.is_finished() {
            if !pod.object.deleting {
                self.delete(replica)?;
            }
            return Ok(Step::Stop);
        }
        if pod.phase == Phase::Pending {
            self.make_claims(number)?;
        }
        self.settle_claims(replica)?;
        let stands = pod.phase == Phase::Running && self.is_available(replica);
        Ok(if stands { Step::On } else { Step::Stop })
    }

    /// Takes pods beyond the number wanted, the highest first. In order, each waits until all others are well, but
    /// for the one that is not.
    fn shrink(&mut self, replicas: &[&Replica], ordered: bool) -> Result<Step, Status> {
        let (kept, surplus): (Vec<&Replica>, Vec<&Replica>) = replicas
            .iter()
            .partition(|replica| replica.number.is_some_and(|number| self.is_in_range(number)));
        let all = kept.iter().chain(&surplus);
        let unwell =
            all.copied().find(|replica| !self.is_available(replica)).map(|replica| replica.pod.uid());
        for replica in surplus.into_iter().rev() {
            self.settle_claims(replica)?;
            if replica.pod.object.deleting {
                if ordered {
                    return Ok(Step::Stop);
                }
                continue;
            }
            let well = replica.pod.phase == Phase::Running && self.is_available(replica);
            if ordered && !well && unwell != Some(replica.pod.uid()) {
                return Ok(Step::Stop);
            }
            self.delete(replica)?;
            if ordered {
                return Ok(Step::Stop);
            }
        }
        Ok(Step::On)
    }

    /// Takes pods of an old revision, the highest first, as far as pods may be missing.
    fn update(&mut self, replicas: &BTreeMap<i32, &Replica>) -> Result<(), Status> {
        let rolling =
            self.spec().update_strategy.as_ref().and_then(|strategy| strategy.rolling_update.as_ref());
        let most = rolling.and_then(|rolling| rolling.max_unavailable.as_ref());
        let most = most.map_or(1, |most| portion(most, self.wanted(), true)).max(1);
        let end = self.start().saturating_add(self.wanted());
        let here = replicas.range(self.start()..end);
        let well = here.filter(|(_, replica)| self.is_available(replica)).count();
        let missing = usize::try_from(self.wanted()).unwrap_or_default().saturating_sub(well);
        let room = usize::try_from(most).unwrap_or_default().saturating_sub(missing);
        let from = self.start().saturating_add(self.partition());
        if from >= end {
            return Ok(());
        }
        let latest = history::name(&self.history.latest).to_owned();
        let old = replicas.range(from..end).rev().map(|(_, replica)| *replica);
        let old = old.filter(|replica| replica.revision() != latest && !replica.pod.object.deleting);
        old.take(room).collect::<Vec<_>>().into_iter().try_for_each(|replica| self.delete(replica))
    }

    fn delete(&mut self, replica: &Replica) -> Result<(), Status> {
        let delete = Delete::default().only(replica.pod.uid());
        let name = replica.pod.name();
        let deleted = self.api.discard::<Pod>(self.namespace(), name, &delete, &writes());
        self.tell("Delete", name, deleted.as_ref().err());
        deleted
    }

    fn tell(&mut self, verb: &str, pod: &str, failure: Option<&Status>) {
        let (set, name) = (about(&self.set), self.name().to_owned());
        let Some(failure) = failure else {
            let message = format!("{verb} Pod {pod} in StatefulSet {name} successful");
            return self.recorder.normal(self.api, &set, &format!("Successful{verb}"), &message);
        };
        let message = format!("{verb} Pod {pod} in StatefulSet {name} failed error: {}", failure.message);
        self.recorder.warning(self.api, &set, &format!("Failed{verb}"), &message);
    }
}
