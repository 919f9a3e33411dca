//! Rows of pods and of what makes pods.

use serde_json::Value;

use super::age;
use super::pods;
use super::view::{Cells, View, or_none};

pub(super) fn printer(shelf: &str) -> Option<fn(View<'_>) -> Cells> {
    Some(match shelf {
        "pods" => pods::cells,
        "podtemplates" => pod_template,
        "replicationcontrollers" => replication_controller,
        "replicasets.apps" => replica_set,
        "deployments.apps" => deployment,
        "statefulsets.apps" => stateful_set,
        "daemonsets.apps" => daemon_set,
        "controllerrevisions.apps" => controller_revision,
        "jobs.batch" => job,
        "cronjobs.batch" => cron_job,
        "poddisruptionbudgets.policy" => disruption_budget,
        "scales.autoscaling" => scale,
        _ => return None,
    })
}

const CONTAINERS: &str = "/spec/template/spec/containers";

fn pod_template(view: View<'_>) -> Cells {
    let [names, images] = view.containers("/template/spec/containers");
    vec![view.name(), names, images, view.labels("/template/metadata/labels").into()]
}

fn replication_controller(view: View<'_>) -> Cells {
    replicas(view, view.labels("/spec/selector"))
}

fn replica_set(view: View<'_>) -> Cells {
    replicas(view, or_none(view.selector("/spec/selector")))
}

fn replicas(view: View<'_>, selector: String) -> Cells {
    let [names, images] = view.containers(CONTAINERS);
    vec![
        view.name(),
        view.number("/spec/replicas").into(),
        view.number("/status/replicas").into(),
        view.number("/status/readyReplicas").into(),
        view.age(),
        names,
        images,
        selector.into(),
    ]
}

fn scale(view: View<'_>) -> Cells {
    let [desired, available] = ["/spec/replicas", "/status/replicas"].map(|at| view.number(at).into());
    vec![view.name(), desired, available, view.age()]
}

fn ready_of_desired(view: View<'_>) -> Value {
    format!("{}/{}", view.number("/status/readyReplicas"), view.number("/spec/replicas")).into()
}

fn deployment(view: View<'_>) -> Cells {
    let [names, images] = view.containers(CONTAINERS);
    vec![
        view.name(),
        ready_of_desired(view),
        view.number("/status/updatedReplicas").into(),
        view.number("/status/availableReplicas").into(),
        view.age(),
        names,
        images,
        view.selector("/spec/selector").into(),
    ]
}

fn stateful_set(view: View<'_>) -> Cells {
    let [names, images] = view.containers(CONTAINERS);
    vec![view.name(), ready_of_desired(view), view.age(), names, images]
}

fn daemon_set(view: View<'_>) -> Cells {
    let [names, images] = view.containers(CONTAINERS);
    vec![
        view.name(),
        view.number("/status/desiredNumberScheduled").into(),
        view.number("/status/currentNumberScheduled").into(),
        view.number("/status/numberReady").into(),
        view.number("/status/updatedNumberScheduled").into(),
        view.number("/status/numberAvailable").into(),
        view.labels("/spec/template/spec/nodeSelector").into(),
        view.age(),
        names,
        images,
        or_none(view.selector("/spec/selector")).into(),
    ]
}

fn controller_revision(view: View<'_>) -> Cells {
    let owners = view.list("/metadata/ownerReferences");
    let controller = owners.iter().find(|owner| owner["controller"] == true).map(|owner| view.part(owner));
    let controller = controller.map_or_else(
        || "<none>".to_owned(),
        |owner| {
            let kind = owner.text("/kind").to_lowercase();
            match owner.text("/apiVersion").split_once('/') {
                Some((group, _)) => format!("{kind}.{group}/{}", owner.text("/name")),
                None => format!("{kind}/{}", owner.text("/name")),
            }
        },
    );
    vec![view.name(), controller.into(), view.number("/revision").into(), view.age()]
}

fn job(view: View<'_>) -> Cells {
    let succeeded = view.number("/status/succeeded");
    let parallelism = view.number("/spec/parallelism");
    let completions = match view.at("/spec/completions") {
        Some(wanted) => format!("{succeeded}/{wanted}"),
        None if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        None => format!("{succeeded}/1"),
    };
    let duration = view
        .time("/status/startTime")
        .map(|start| age::human(age::span(start, view.time("/status/completionTime").unwrap_or(view.now))));
    let [names, images] = view.containers(CONTAINERS);
    vec![
        view.name(),
        job_status(view).into(),
        completions.into(),
        duration.unwrap_or_default().into(),
        view.age(),
        names,
        images,
        or_none(view.selector("/spec/selector")).into(),
    ]
}

fn job_status(view: View<'_>) -> &'static str {
    let is = |kind: &str| view.condition("/status/conditions", kind) == Some("True");
    match () {
        () if is("Complete") => "Complete",
        () if is("Failed") => "Failed",
        () if view.is_deleted() => "Terminating",
        () if is("Suspended") => "Suspended",
        () if is("FailureTarget") => "FailureTarget",
        () if is("SuccessCriteriaMet") => "SuccessCriteriaMet",
        () => "Running",
    }
}

fn cron_job(view: View<'_>) -> Cells {
    let suspended = match view.at("/spec/suspend").and_then(Value::as_bool) {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    };
    let last = view.at("/status/lastScheduleTime").map(|_| view.since("/status/lastScheduleTime"));
    let [names, images] = view.containers("/spec/jobTemplate/spec/template/spec/containers");
    vec![
        view.name(),
        view.text("/spec/schedule").into(),
        view.plain("/spec/timeZone", "<none>").into(),
        suspended.into(),
        view.count("/status/active").into(),
        or_none(last.unwrap_or_default()).into(),
        view.age(),
        names,
        images,
        or_none(view.selector("/spec/jobTemplate/spec/selector")).into(),
    ]
}

fn disruption_budget(view: View<'_>) -> Cells {
    vec![
        view.name(),
        view.plain("/spec/minAvailable", "N/A").into(),
        view.plain("/spec/maxUnavailable", "N/A").into(),
        view.number("/status/disruptionsAllowed").into(),
        view.age(),
    ]
}
