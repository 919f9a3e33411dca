//! What a DaemonSet says of itself.

use std::time::Duration;

use k8s_openapi::api::apps::v1::{DaemonSet, DaemonSetStatus};

use super::{Fit, Work, writes};
use crate::control::brief::{Brief, until_available};
use crate::status::Status;

impl Work<'_> {
    /// Writes the numbers; gives how long until another daemon is available.
    pub(super) fn report(&self) -> Result<Option<Duration>, Status> {
        let status = self.count();
        let metadata = &self.set.metadata;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (namespace, name) = (text(&metadata.namespace), text(&metadata.name));
        let before = self.api.read::<DaemonSet>(&namespace, &name).and_then(|set| set.status);
        if before.as_ref() != Some(&status) {
            self.api.edit::<DaemonSet>((&namespace, &name, "status"), &writes(), |set| {
                set.status = Some(status.clone());
                Ok(())
            })?;
        }
        let pods = self.daemons.values().flatten().copied();
        Ok(until_available(pods, self.min_ready(), self.now))
    }

    fn count(&self) -> DaemonSetStatus {
        let mut status = self.set.status.clone().unwrap_or_default();
        let (mut wanted, mut current, mut misplaced, mut ready, mut updated, mut available) =
            (0, 0, 0, 0, 0, 0);
        for (name, place) in self.nodes {
            let daemons = self.daemons.get(&**name).map(Vec::as_slice).unwrap_or_default();
            if self.fit(place) != Fit::Runs {
                misplaced += i32::from(!daemons.is_empty());
                continue;
            }
            wanted += 1;
            let oldest = |pod: &&&Brief| (pod.node.is_empty(), pod.born, pod.name().to_owned());
            let Some(pod) = daemons.iter().min_by_key(oldest) else { continue };
            current += 1;
            ready += i32::from(pod.is_ready());
            available += i32::from(self.is_available(pod));
            updated += i32::from(self.is_new(pod));
        }
        // Zeroes that may be left out are.
        let number = |number: i32| (number > 0).then_some(number);
        status.observed_generation = self.set.metadata.generation;
        status.desired_number_scheduled = wanted;
        status.current_number_scheduled = current;
        status.number_misscheduled = misplaced;
        status.number_ready = ready;
        status.updated_number_scheduled = number(updated);
        status.number_available = number(available);
        status.number_unavailable = number(wanted - available);
        status
    }
}
