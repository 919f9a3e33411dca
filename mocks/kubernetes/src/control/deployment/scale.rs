//! More or fewer pods in the middle of a rollout: every set gets its share.

use std::cmp::Reverse;

use k8s_openapi::api::apps::v1::ReplicaSet;

use super::revision::{DESIRED, MOST};
use super::{Work, age, available, replicas};
use crate::control::events::about;
use crate::control::family::writes;
use crate::status::Status;

impl Work<'_> {
    /// Whether the deployment wants another number than when its sets were last scaled.
    pub(super) fn is_scaled(&self) -> bool {
        let active = self.sets().filter(|set| replicas(set) > 0);
        active.filter_map(|set| annotated(set, DESIRED)).any(|desired| desired != self.wanted())
    }

    /// Outside a rollout one set gets everything; within one, all get more or less in proportion.
    pub(super) fn scale(&mut self) -> Result<(), Status> {
        let wanted = self.wanted();
        let active = self.sets().filter(|set| replicas(set) > 0).count();
        if active <= 1 {
            let old = self.old.iter().rposition(|set| replicas(set) > 0 || active == 0);
            let is_new = self.new.as_ref().is_some_and(|set| replicas(set) > 0 || active == 0);
            if is_new {
                self.scale_new(wanted)?;
            } else if let Some(place) = old {
                self.scale_old(place, wanted)?;
            }
            return Ok(());
        }
        if self.is_saturated() {
            for place in 0..self.old.len() {
                if replicas(&self.old[place]) > 0 {
                    self.scale_old(place, 0)?;
                }
            }
            return Ok(());
        }
        if self.is_rolling() { self.scale_in_proportion() } else { Ok(()) }
    }

    /// Whether the new set has all pods, and all are available.
    fn is_saturated(&self) -> bool {
        let wanted = self.wanted();
        self.new.as_ref().is_some_and(|set| {
            replicas(set) == wanted && annotated(set, DESIRED) == Some(wanted) && available(set) == wanted
        })
    }

    fn scale_in_proportion(&mut self) -> Result<(), Status> {
        let active = self.sets().filter(|set| replicas(set) > 0);
        let mut sizes: Vec<(ReplicaSet, i32)> = active.map(|set| (set.clone(), replicas(set))).collect();
        let total: i32 = sizes.iter().map(|(_, size)| size).sum();
        let allowed = if self.wanted() > 0 { self.wanted() + self.bounds().0 } else { 0 };
        let change = allowed - total;
        // The largest first; of equals the newest if pods are added, the oldest if they are taken.
        if change > 0 {
            sizes.sort_by(|(left, _), (right, _)| age(right).cmp(&age(left)));
        } else {
            sizes.sort_by(|(left, _), (right, _)| age(left).cmp(&age(right)));
        }
        sizes.sort_by_key(|(_, size)| Reverse(*size));
        let mut left = change;
        for (set, size) in sizes.iter_mut().filter(|_| change != 0) {
            let share = self.share(set);
            let share = if change > 0 { share.min(left) } else { share.max(left) };
            *size += share;
            left -= share;
        }
        if let Some((_, largest)) = sizes.first_mut() {
            *largest = (*largest + left).max(0);
        }
        for (set, size) in sizes {
            let is_new = self.new.as_ref().is_some_and(|new| new.metadata.uid == set.metadata.uid);
            let place = self.old.iter().position(|old| old.metadata.uid == set.metadata.uid);
            match place {
                _ if is_new => self.scale_new(size)?,
                Some(place) => self.scale_old(place, size)?,
                None => false,
            };
        }
        Ok(())
    }

    /// By how much a set would change if all kept their proportions.
    fn share(&self, set: &ReplicaSet) -> i32 {
        let has = replicas(set);
        if self.wanted() == 0 {
            return -has;
        }
        let before = annotated(set, MOST)
            .filter(|most| *most != 0)
            .unwrap_or(self.status().replicas.unwrap_or_default());
        if before == 0 {
            return 0;
        }
        let now = i64::from(self.wanted() + self.bounds().0);
        let (size, before) = (i64::from(has) * now, i64::from(before));
        // Rounded to the nearest.
        i32::try_from((2 * size + before) / (2 * before)).unwrap_or(i32::MAX) - has
    }

    /// Writes down what the set was scaled for.
    pub(super) fn note_size(&self, set: &mut ReplicaSet) {
        let wanted = self.wanted();
        let annotations = set.metadata.annotations.get_or_insert_default();
        annotations.insert(DESIRED.to_owned(), wanted.to_string());
        annotations.insert(MOST.to_owned(), (wanted + self.bounds().0).to_string());
    }

    pub(super) fn scale_new(&mut self, size: i32) -> Result<bool, Status> {
        let Some(set) = &self.new else { return Ok(false) };
        let (set, scaled) = self.scale_set(set.clone(), size)?;
        self.new = Some(set);
        Ok(scaled)
    }

    pub(super) fn scale_old(&mut self, place: usize, size: i32) -> Result<bool, Status> {
        let (set, scaled) = self.scale_set(self.old[place].clone(), size)?;
        self.old[place] = set;
        Ok(scaled)
    }

    /// The set as it was written, and whether its size has changed.
    fn scale_set(&mut self, set: ReplicaSet, size: i32) -> Result<(ReplicaSet, bool), Status> {
        let before = replicas(&set);
        let mut changed = set.clone();
        self.note_size(&mut changed);
        if before == size && changed == set {
            return Ok((set, false));
        }
        let name = set.metadata.name.unwrap_or_default();
        let place = (self.namespace(), &*name, "");
        let written = self.api.edit::<ReplicaSet>(place, &writes(), |found| {
            found.metadata.annotations.clone_from(&changed.metadata.annotations);
            if let Some(spec) = &mut found.spec {
                spec.replicas = Some(size);
            }
            Ok(())
        })?;
        if before == size {
            return Ok((written, false));
        }
        let way = if before < size { "up" } else { "down" };
        let message = format!("Scaled {way} replica set {name} from {before} to {size}");
        self.recorder.normal(self.api, &about(&self.deployment), "ScalingReplicaSet", &message);
        Ok((written, true))
    }
}

fn annotated(set: &ReplicaSet, name: &str) -> Option<i32> {
    set.metadata.annotations.as_ref()?.get(name)?.parse().ok().filter(|number| *number >= 0)
}
