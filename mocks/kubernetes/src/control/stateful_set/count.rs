//! What a StatefulSet says of itself.

use k8s_openapi::api::apps::v1::{StatefulSet, StatefulSetStatus};

use super::Work;
use crate::control::brief::Phase;
use crate::control::family::writes;
use crate::control::history;
use crate::status::Status;

impl Work<'_> {
    pub(super) fn report(&self) -> Result<(), Status> {
        let status = self.count();
        if self.set.status.as_ref() == Some(&status) {
            return Ok(());
        }
        let place = (self.namespace(), self.name(), "status");
        let written = self.api.edit::<StatefulSet>(place, &writes(), |set| {
            set.status = Some(status.clone());
            Ok(())
        });
        match written {
            Err(status) if status.code == 404 => Ok(()),
            other => other.map(|_| ()),
        }
    }

    fn count(&self) -> StatefulSetStatus {
        let (current, latest) = (history::name(&self.current), history::name(&self.history.latest));
        let (mut ready, mut available, mut at_current, mut at_latest) = (0, 0, 0, 0);
        for replica in &self.replicas {
            let pod = &replica.pod;
            ready += i32::from(pod.phase == Phase::Running && pod.is_ready());
            available += i32::from(pod.is_available(self.min_ready(), self.now));
            at_current += i32::from(!pod.object.deleting && replica.revision() == current);
            at_latest += i32::from(!pod.object.deleting && replica.revision() == latest);
        }
        let total = i32::try_from(self.replicas.len()).unwrap_or(i32::MAX);
        let wanted = self.wanted();
        let is_done = self.is_rolling() && at_latest == wanted && ready == wanted && total == wanted;
        let number = |number: i32| (number > 0).then_some(number);
        StatefulSetStatus {
            available_replicas: Some(available),
            collision_count: Some(self.history.collisions.unwrap_or_default()),
            conditions: self.set.status.as_ref().and_then(|status| status.conditions.clone()),
            current_replicas: number(if is_done { at_latest } else { at_current }),
            current_revision: Some(if is_done { latest } else { current }.to_owned()),
            observed_generation: self.set.metadata.generation,
            ready_replicas: number(ready),
            replicas: total,
            update_revision: Some(latest.to_owned()),
            updated_replicas: number(at_latest),
        }
    }
}
