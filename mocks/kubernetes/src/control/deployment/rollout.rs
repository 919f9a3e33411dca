//! From the old template to the new one: step by step within the bounds, or all at once.

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::Pod;

use super::{Work, actual, available, replicas, revision};
use crate::api::Delete;
use crate::control::brief::Brief;
use crate::control::family::{Child as _, writes};
use crate::status::Status;

impl Work<'_> {
    pub(super) fn roll_out(&mut self) -> Result<(), Status> {
        let scaled = if self.is_rolling() { self.roll()? } else { self.recreate()? };
        if !scaled && self.is_complete(&self.status()) {
            self.clean_up()?;
        }
        Ok(())
    }

    /// One step of a rolling update; true if anything was scaled.
    fn roll(&mut self) -> Result<bool, Status> {
        self.adopt_revision()?;
        if self.new.is_none() {
            self.create_set()?;
        }
        Ok(self.grow_new()? || self.shrink_old()?)
    }

    /// All old pods go, and when the last is gone the new ones come; true if the old ones were scaled.
    fn recreate(&mut self) -> Result<bool, Status> {
        self.adopt_revision()?;
        let mut scaled = false;
        for place in 0..self.old.len() {
            scaled |= self.scale_old(place, 0)?;
        }
        if scaled || self.old_pods_run() {
            return Ok(true);
        }
        if self.new.is_none() {
            self.create_set()?;
        }
        self.scale_new(self.wanted())?;
        Ok(false)
    }

    fn old_pods_run(&self) -> bool {
        let runs = |set: &ReplicaSet| {
            let pods = self.api.owned::<Pod>(set.metadata.uid.as_deref().unwrap_or_default());
            pods.iter().filter_map(Brief::of).any(|pod| !pod.is_finished())
        };
        self.old.iter().any(|set| actual(set) > 0 || runs(set))
    }

    fn grow_new(&mut self) -> Result<bool, Status> {
        let Some(set) = &self.new else { return Ok(false) };
        let (has, wanted) = (replicas(set), self.wanted());
        match has.cmp(&wanted) {
            std::cmp::Ordering::Equal => Ok(false),
            std::cmp::Ordering::Greater => self.scale_new(wanted),
            std::cmp::Ordering::Less => self.scale_new(self.new_count(has)),
        }
    }

    /// How many pods the new set may have, if it has so many now.
    pub(super) fn new_count(&self, has: i32) -> i32 {
        let wanted = self.wanted();
        if !self.is_rolling() {
            return wanted;
        }
        let others: i32 = self.old.iter().map(replicas).sum();
        let room = wanted + self.bounds().0 - others - has;
        if room <= 0 { has } else { has + room.min(wanted - has) }
    }

    /// Takes as many old pods away as may be missing: first those that are not available anyway.
    fn shrink_old(&mut self) -> Result<bool, Status> {
        let Some(new) = &self.new else { return Ok(false) };
        if self.old.iter().all(|set| replicas(set) == 0) {
            return Ok(false);
        }
        let least = self.wanted() - self.bounds().1;
        let all: i32 = self.sets().map(replicas).sum();
        let room = all - least - (replicas(new) - available(new));
        if room <= 0 {
            return Ok(false);
        }
        let unhealthy = self.take_old(room, |set| replicas(set) - available(set))?;
        // Those just taken are not available, so this is still true.
        let surplus = self.sets().map(available).sum::<i32>() - least;
        let healthy = if surplus > 0 { self.take_old(surplus, replicas)? } else { 0 };
        Ok(unhealthy + healthy > 0)
    }

    /// Takes pods from the old sets, the oldest first; gives how many were taken.
    fn take_old(&mut self, most: i32, from: impl Fn(&ReplicaSet) -> i32) -> Result<i32, Status> {
        let mut taken = 0;
        for place in 0..self.old.len() {
            let set = &self.old[place];
            let (has, count) = (replicas(set), from(set).min(most - taken));
            if has > 0 && count > 0 {
                self.scale_old(place, has - count)?;
                taken += count;
            }
        }
        Ok(taken)
    }

    /// Deletes the oldest of the old sets that nobody needs, beyond those to be remembered.
    pub(super) fn clean_up(&mut self) -> Result<(), Status> {
        let limit = usize::try_from(self.spec().revision_history_limit.unwrap_or(10)).unwrap_or(usize::MAX);
        let mut sets: Vec<&ReplicaSet> =
            self.old.iter().filter(|set| set.metadata.deletion_timestamp.is_none()).collect();
        let surplus = sets.len().saturating_sub(limit);
        let number = |set: &ReplicaSet| revision::of(&set.metadata).and_then(|text| text.parse::<i64>().ok());
        sets.sort_by_key(|set| number(set));
        for set in sets.into_iter().take(surplus) {
            let seen = set.status.as_ref().and_then(|status| status.observed_generation);
            if actual(set) == 0 && replicas(set) == 0 && set.metadata.generation <= seen {
                let name = set.metadata.name.as_deref().unwrap_or_default();
                let delete = Delete::background();
                self.api.discard::<ReplicaSet>(self.namespace(), name, &delete, &writes())?;
            }
        }
        Ok(())
    }
}
