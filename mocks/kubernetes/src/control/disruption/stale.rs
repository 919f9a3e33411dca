//! Pods that were said to go and did not.

use std::time::Duration;

use mock_clock::Time;

use super::{Condition, MANAGER, Next, amend, condition, set_condition};
use crate::api::Api;
use crate::status::Status;
use crate::store::Key;

const STALE: Duration = Duration::from_secs(120);

/// Takes the word back once it is stale. A kubelet's word stands: it may take its time.
pub(super) fn clear(api: &Api, key: &Key) -> Result<Next, Status> {
    let Some(pod) = api.store().get("pods", key).filter(|pod| !pod.deleting) else { return Ok(Next::Done) };
    let pod = pod.value();
    if matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed")) {
        return Ok(Next::Done);
    }
    let target = condition(&pod, "DisruptionTarget").filter(|target| target["status"] == "True");
    let Some(target) = target.filter(|target| target["reason"] != "TerminationByKubelet") else {
        return Ok(Next::Done);
    };
    let since: Option<Time> = target["lastTransitionTime"].as_str().and_then(|since| since.parse().ok());
    if let Some(since) = since.filter(|since| *since + STALE > api.now()) {
        return Ok(Next::After(since + STALE - api.now()));
    }
    amend(api, ("pods", key, "status"), MANAGER, |pod| {
        let condition = Condition { kind: "DisruptionTarget", status: "False", reason: "", message: "" };
        set_condition(api, pod, condition);
    })?;
    Ok(Next::Done)
}
