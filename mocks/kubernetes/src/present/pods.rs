//! The row of a pod: its one word of status is made from phase, conditions and every container.
//!
//! The order of the rules is upstream's: people and scripts compare this word.

use mock_clock::Time;
use serde_json::{Value, json};

use super::age;
use super::view::{Cells, View};

/// What has been found out about a pod so far.
struct Tally {
    reason: String,
    restarts: i64,
    last_restart: Option<Time>,
    ready: usize,
}

pub(super) fn cells(view: View<'_>) -> Cells {
    let initial = view.list("/spec/initContainers");
    let sidecars = initial.iter().filter(|container| is_sidecar(container)).count();
    let total = view.list("/spec/containers").len() + sidecars;
    let tally = tally(view);
    let restarts = match tally.last_restart {
        Some(last) if tally.restarts != 0 => {
            format!("{} ({} ago)", tally.restarts, age::since(last, view.now))
        }
        _ => tally.restarts.to_string(),
    };
    vec![
        view.name(),
        format!("{}/{total}", tally.ready).into(),
        word(view, tally.reason).into(),
        restarts.into(),
        view.age(),
        view.or("/status/podIPs/0/ip", "<none>").into(),
        view.or("/spec/nodeName", "<none>").into(),
        view.or("/status/nominatedNodeName", "<none>").into(),
        readiness_gates(view).into(),
    ]
}

/// The mark of a row whose pod has ended: clients may leave it out.
pub(super) fn row_conditions(view: View<'_>) -> Option<Value> {
    let (reason, message) = match view.text("/status/phase") {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!([{"type": "Completed", "status": "True", "reason": reason, "message": message}]))
}

fn tally(view: View<'_>) -> Tally {
    let mut tally = Tally {
        reason: view.or("/status/reason", view.text("/status/phase")).to_owned(),
        restarts: 0,
        last_restart: None,
        ready: 0,
    };
    let gated =
        |condition: &Value| condition["type"] == "PodScheduled" && condition["reason"] == "SchedulingGated";
    if view.list("/status/conditions").iter().any(gated) {
        "SchedulingGated".clone_into(&mut tally.reason);
    }
    let (initializing, sidecars) = initialization(view, &mut tally);
    if !initializing || view.condition("/status/conditions", "Initialized") == Some("True") {
        (tally.restarts, tally.last_restart) = sidecars;
        containers(view, &mut tally);
    }
    tally
}

/// Goes through the init containers up to the first that is not done. Says whether there is one, and how often and
/// when last the sidecars among them restarted.
fn initialization(view: View<'_>, tally: &mut Tally) -> (bool, (i64, Option<Time>)) {
    let specs = view.list("/spec/initContainers");
    let mut sidecars = (0, None);
    for (index, status) in view.list("/status/initContainerStatuses").iter().enumerate() {
        let status = view.part(status);
        let sidecar = specs.iter().any(|spec| spec["name"] == status.text("/name") && is_sidecar(spec));
        let last = status.time("/lastState/terminated/finishedAt");
        tally.restarts += status.number("/restartCount");
        tally.last_restart = tally.last_restart.max(last);
        if sidecar {
            sidecars.0 += status.number("/restartCount");
            sidecars.1 = sidecars.1.max(last);
        }
        let terminated = status.at("/state/terminated").is_some();
        if terminated && status.number("/state/terminated/exitCode") == 0 {
            continue;
        }
        if sidecar && status.flag("/started", false) {
            tally.ready += usize::from(status.flag("/ready", false));
            continue;
        }
        tally.reason = match status.text("/state/waiting/reason") {
            _ if terminated => format!("Init:{}", end(status)),
            "" | "PodInitializing" => format!("Init:{index}/{}", specs.len()),
            reason => format!("Init:{reason}"),
        };
        return (true, sidecars);
    }
    (false, sidecars)
}

/// Goes through the containers, the last first, so that the first has the last word.
fn containers(view: View<'_>, tally: &mut Tally) {
    let mut running = false;
    let mut error = None;
    for status in view.list("/status/containerStatuses").iter().rev() {
        let status = view.part(status);
        tally.restarts += status.number("/restartCount");
        tally.last_restart = tally.last_restart.max(status.time("/lastState/terminated/finishedAt"));
        let waiting = status.text("/state/waiting/reason");
        if !waiting.is_empty() {
            waiting.clone_into(&mut tally.reason);
        } else if status.at("/state/terminated").is_some() {
            tally.reason = end(status);
            if status.number("/state/terminated/exitCode") != 0 {
                error = Some(tally.reason.clone());
            }
        } else if status.flag("/ready", false) && status.at("/state/running").is_some() {
            running = true;
            tally.ready += 1;
        }
    }
    if tally.reason == "Completed" {
        let ready = view.list("/status/conditions").iter();
        let ready = ready.into_iter().any(|one| one["type"] == "Ready" && one["status"] == "True");
        tally.reason = match error {
            _ if running && ready => "Running".to_owned(),
            Some(error) => error,
            None if running => "NotReady".to_owned(),
            None => return,
        };
    }
}

/// Why a container ended.
fn end(status: View<'_>) -> String {
    match (status.text("/state/terminated/reason"), status.number("/state/terminated/signal")) {
        ("", 0) => format!("ExitCode:{}", status.number("/state/terminated/exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

/// The status of a pod that is being deleted hides what its containers do.
fn word(view: View<'_>, reason: String) -> String {
    let ended = matches!(view.text("/status/phase"), "Succeeded" | "Failed");
    match view.text("/status/reason") {
        "NodeLost" if view.is_deleted() => "Unknown".to_owned(),
        _ if view.is_deleted() && !ended => "Terminating".to_owned(),
        _ => reason,
    }
}

fn readiness_gates(view: View<'_>) -> String {
    let gates = view.list("/spec/readinessGates");
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let holds = |gate: &&Value| {
        let kind = gate["conditionType"].as_str().unwrap_or_default();
        view.condition("/status/conditions", kind) == Some("True")
    };
    format!("{}/{}", gates.iter().filter(holds).count(), gates.len())
}

fn is_sidecar(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-01-01T01:00:00Z";

    /// READY, STATUS and RESTARTS of a pod with one container, one sidecar if `init` has two, and this status.
    fn told(init: &Value, status: &Value, deleted: bool) -> [String; 3] {
        let mut pod = json!({
            "metadata": {"name": "p", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"containers": [{"name": "c"}], "initContainers": init},
            "status": status,
        });
        if deleted {
            pod["metadata"]["deletionTimestamp"] = NOW.into();
        }
        let cells = cells(View { object: &pod, now: NOW.parse().unwrap() });
        [1, 2, 3].map(|index| cells[index].as_str().unwrap().to_owned())
    }

    #[test]
    fn one_word_tells_how_the_containers_are() {
        let running = json!({"ready": true, "state": {"running": {}}});
        let crashed = json!({
            "restartCount": 4,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": {"finishedAt": "2026-01-01T00:59:30Z"}},
        });
        let completed = json!({"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}});
        let killed = json!({"state": {"terminated": {"exitCode": 137, "signal": 9}}});
        let ready = json!([{"type": "Ready", "status": "True"}]);
        let gated = json!([{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]);
        for (status, expected) in [
            (json!({"phase": "Pending"}), ["0/1", "Pending", "0"]),
            (json!({"phase": "Pending", "conditions": gated}), ["0/1", "SchedulingGated", "0"]),
            (json!({"phase": "Running", "containerStatuses": [running]}), ["1/1", "Running", "0"]),
            (json!({"containerStatuses": [crashed]}), ["0/1", "CrashLoopBackOff", "4 (30s ago)"]),
            (json!({"containerStatuses": [completed]}), ["0/1", "Completed", "0"]),
            (json!({"containerStatuses": [completed, killed]}), ["0/1", "Signal:9", "0"]),
            (json!({"containerStatuses": [completed, running]}), ["1/1", "NotReady", "0"]),
            (
                json!({"containerStatuses": [completed, running], "conditions": ready}),
                ["1/1", "Running", "0"],
            ),
            (json!({"phase": "Failed", "reason": "Evicted"}), ["0/1", "Evicted", "0"]),
        ] {
            assert_eq!(told(&json!([]), &status, false), expected, "{status}");
        }
    }

    #[test]
    fn init_containers_speak_first() {
        let init = json!([{"name": "a"}, {"name": "b", "restartPolicy": "Always"}]);
        let done = json!({"name": "a", "restartCount": 2, "state": {"terminated": {"exitCode": 0}}});
        let failed = json!({"name": "a", "state": {"terminated": {"exitCode": 3}}});
        let pulling = json!({"name": "a", "state": {"waiting": {"reason": "ImagePullBackOff"}}});
        let sidecar = json!({"name": "b", "restartCount": 1, "started": true, "ready": true});
        for (statuses, expected) in [
            (json!([{"name": "a", "state": {"running": {}}}]), ["0/2", "Init:0/2", "0"]),
            (json!([failed]), ["0/2", "Init:ExitCode:3", "0"]),
            (json!([pulling]), ["0/2", "Init:ImagePullBackOff", "0"]),
            (json!([done, {"name": "b"}]), ["0/2", "Init:1/2", "2"]),
            (json!([done, sidecar]), ["1/2", "Pending", "1"]),
        ] {
            let status = json!({"phase": "Pending", "initContainerStatuses": statuses});
            assert_eq!(told(&init, &status, false), expected, "{statuses}");
        }
    }

    #[test]
    fn deletion_hides_the_rest() {
        let status = json!({"phase": "Running"});
        assert_eq!(told(&json!([]), &status, true)[1], "Terminating");
        let lost = json!({"phase": "Running", "reason": "NodeLost"});
        assert_eq!(told(&json!([]), &lost, true)[1], "Unknown");
        let ended = json!({"phase": "Succeeded"});
        assert_eq!(told(&json!([]), &ended, true)[1], "Succeeded");
    }
}
