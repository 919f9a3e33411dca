//! Finished Jobs are deleted when their time is up.

use k8s_openapi::api::batch::v1::Job;
use mock_clock::Time;

use super::brief::seconds;
use super::family::writes;
use super::frame::{Controller, Next};
use super::moment::time;
use super::queue::Queue;
use crate::api::{self, Api, Delete, Propagation};
use crate::status::Status;
use crate::store::{Change, Key};

#[derive(Debug)]
pub(super) struct TtlAfterFinished;

impl TtlAfterFinished {
    pub(super) const SHELVES: &'static [&'static str] = &["jobs.batch"];
}

impl Controller for TtlAfterFinished {
    type Item = Key;

    fn observe(&mut self, _shelf: &str, change: &Change, queue: &mut Queue<Key>) {
        let job = api::read::<Job>(&change.object).filter(|_| !change.deleted);
        if let Some(due) = job.as_ref().and_then(due) {
            queue.add_at(change.object.key.clone(), due);
        }
    }

    fn reconcile(&mut self, api: &Api, key: &Key) -> Result<Next, Status> {
        let Some(job) = api.read::<Job>(&key.namespace, &key.name) else { return Ok(Next::Done) };
        let Some(due) = due(&job) else { return Ok(Next::Done) };
        if due > api.now() {
            return Ok(Next::After(due - api.now()));
        }
        let delete = Delete { propagation: Some(Propagation::Foreground), ..Delete::default() };
        let delete = delete.only(job.metadata.uid.as_deref().unwrap_or_default());
        api.discard::<Job>(&key.namespace, &key.name, &delete, &writes()).map(|()| Next::Done)
    }
}

/// When a job is to go: so long after it finished, unless it goes already.
fn due(job: &Job) -> Option<Time> {
    let ttl = job.spec.as_ref()?.ttl_seconds_after_finished?;
    if job.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let mut conditions = job.status.as_ref()?.conditions.iter().flatten();
    let end =
        conditions.find(|one| matches!(one.type_.as_str(), "Complete" | "Failed") && one.status == "True")?;
    Some(time(end.last_transition_time.as_ref()?) + seconds(ttl.into()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::control::job::Jobs;
    use crate::control::stage::Stage;

    #[test]
    fn a_finished_job_goes_in_time() {
        let stage = Stage::new().with(Jobs::SHELVES, Jobs::new());
        let mut stage = stage.with(TtlAfterFinished::SHELVES, TtlAfterFinished);
        stage.make::<Job>(
            json!({"metadata": {"name": "work"}, "spec": {"ttlSecondsAfterFinished": 30, "template":
            {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}),
        );
        stage.pass(60);
        stage.reach(stage.pods()[0]["metadata"]["name"].as_str().unwrap(), "Succeeded");
        stage.pass(29);
        assert!(stage.read::<Job>("work").metadata.deletion_timestamp.is_none());
        stage.pass(1);
        assert!(stage.read::<Job>("work").metadata.deletion_timestamp.is_some(), "its pods go first");
    }
}
