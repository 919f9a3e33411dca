//! Jobs, with kubelets played by the test.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::Jobs;
use crate::api::{Delete, Write};
use crate::control::stage::Stage;

fn job(spec: Value) -> Value {
    let mut job = json!({"metadata": {"name": "work"}, "spec": {"template":
        {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}});
    for (key, value) in spec.as_object().unwrap() {
        job["spec"][key] = value.clone();
    }
    job
}

fn start(spec: Value) -> Stage {
    let mut stage = Stage::new().with(Jobs::SHELVES, Jobs::new());
    stage.make::<Job>(job(spec));
    stage.settle();
    stage
}

fn status(stage: &Stage) -> Value {
    stage.value::<Job>("work")["status"].clone()
}

fn conditions(stage: &Stage) -> Vec<String> {
    let status = status(stage);
    let all = status["conditions"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    all.iter()
        .map(|one| format!("{}={} {}", text(&one["type"]), text(&one["status"]), text(&one["reason"])))
        .collect()
}

fn name(pod: &Value) -> String {
    pod["metadata"]["name"].as_str().unwrap().to_owned()
}

/// The pods that have not ended.
fn alive(stage: &Stage) -> Vec<String> {
    let ended = |pod: &Value| matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
    stage.live_pods().iter().filter(|pod| !ended(pod)).map(name).collect()
}

fn end(stage: &mut Stage, phase: &str, code: i32) {
    for name in alive(stage) {
        stage.status(&name, &|status: &mut Value| {
            status["phase"] = json!(phase);
            status["containerStatuses"] = json!([{"name": "c", "image": "i", "imageID": "", "ready": false,
                "restartCount": 0, "state": {"terminated": {"exitCode": code}}}]);
        });
    }
    stage.settle();
}

#[test]
fn a_job_runs_in_parallel_until_it_is_complete() {
    let mut stage = start(json!({"completions": 5, "parallelism": 2}));
    assert_eq!(alive(&stage).len(), 2);
    assert_eq!(stage.pods()[0]["metadata"]["finalizers"], json!(["batch.kubernetes.io/job-tracking"]));
    for left in [2, 1, 0] {
        end(&mut stage, "Succeeded", 0);
        assert_eq!(alive(&stage).len(), left);
    }
    assert_eq!(
        conditions(&stage),
        ["SuccessCriteriaMet=True CompletionsReached", "Complete=True CompletionsReached"]
    );
    let mut told = status(&stage);
    told.as_object_mut().unwrap().remove("conditions");
    assert_eq!(
        told,
        json!({"startTime": "2030-01-01T00:00:00Z", "completionTime": "2030-01-01T00:00:00Z", "succeeded": 5,
            "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}})
    );
    assert!(stage.pods().iter().all(|pod| pod["metadata"]["finalizers"].is_null()));
    assert!(stage.events().contains(&"Completed Job completed".to_owned()));
}

#[test]
fn failures_are_tried_again_later_each_time_up_to_the_limit() {
    let mut stage = start(json!({"backoffLimit": 1}));
    end(&mut stage, "Failed", 1);
    assert_eq!(alive(&stage).len(), 0);
    stage.pass(9);
    assert_eq!(alive(&stage).len(), 0);
    stage.pass(1);
    assert_eq!(alive(&stage).len(), 1);
    end(&mut stage, "Failed", 1);
    assert_eq!(
        conditions(&stage),
        ["FailureTarget=True BackoffLimitExceeded", "Failed=True BackoffLimitExceeded"]
    );
    assert_eq!(status(&stage)["failed"], 2);
    assert_eq!(status(&stage)["completionTime"], Value::Null);
}

#[test]
fn each_index_succeeds_once() {
    let mut stage = start(json!({"completions": 4, "parallelism": 3, "completionMode": "Indexed"}));
    let names = alive(&stage);
    assert!(names[0].starts_with("work-0-") && names[2].starts_with("work-2-"), "{names:?}");
    let pod = stage.value::<Pod>(&names[1]);
    assert_eq!(pod["spec"]["hostname"], "work-1");
    assert_eq!(pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"], "1");
    assert_eq!(pod["spec"]["containers"][0]["env"][0]["name"], "JOB_COMPLETION_INDEX");
    stage.reach(&names[0], "Succeeded");
    stage.reach(&names[2], "Succeeded");
    stage.settle();
    assert_eq!(status(&stage)["completedIndexes"], "0,2");
    assert_eq!(alive(&stage).len(), 2);
    end(&mut stage, "Succeeded", 0);
    assert_eq!(
        (status(&stage)["completedIndexes"].clone(), status(&stage)["succeeded"].clone()),
        (json!("0-3"), json!(4))
    );
    assert_eq!(conditions(&stage).len(), 2);
}

#[test]
fn a_deadline_ends_a_job_and_its_pods() {
    let mut stage = start(json!({"activeDeadlineSeconds": 60}));
    stage.bind(&alive(&stage)[0], "n");
    stage.pass(60);
    assert_eq!(conditions(&stage), ["FailureTarget=True DeadlineExceeded"]);
    assert_eq!(status(&stage)["terminating"], 1, "the pod takes its grace");
    stage.kubelets();
    assert_eq!(conditions(&stage)[1], "Failed=True DeadlineExceeded");
    assert_eq!((stage.pods().len(), status(&stage)["failed"].clone()), (0, json!(1)));
}

#[test]
fn a_suspended_job_has_no_pods_and_starts_anew() {
    let mut stage = start(json!({"suspend": true}));
    assert_eq!(conditions(&stage), ["Suspended=True JobSuspended"]);
    assert_eq!(stage.pods().len(), 0);
    stage.pass(5);
    stage.edit::<Job>("work", |job| job["spec"]["suspend"] = json!(false));
    stage.settle();
    assert_eq!(conditions(&stage), ["Suspended=False JobResumed"]);
    assert_eq!(status(&stage)["startTime"], "2030-01-01T00:00:05Z");
    assert_eq!(alive(&stage).len(), 1);
}

#[test]
fn a_failure_policy_ignores_and_ends() {
    let rules = json!({"rules": [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
    ]});
    let mut stage = start(json!({"backoffLimit": 0, "podFailurePolicy": rules}));
    let first = alive(&stage).remove(0);
    stage.status(&first, &|status: &mut Value| {
        status["phase"] = json!("Failed");
        status["conditions"] = json!([{"type": "DisruptionTarget", "status": "True"}]);
    });
    stage.pass(10);
    assert_eq!((status(&stage)["failed"].clone(), alive(&stage).len()), (Value::Null, 1));
    end(&mut stage, "Failed", 42);
    assert_eq!(conditions(&stage)[1], "Failed=True PodFailurePolicy");
    let message = status(&stage)["conditions"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.ends_with("failed with exit code 42 matching FailJob rule at index 1"), "{message}");
}

#[test]
fn a_work_queue_is_complete_when_all_stop_after_one_success() {
    let mut stage = start(json!({"parallelism": 3}));
    let names = alive(&stage);
    stage.reach(&names[0], "Succeeded");
    stage.settle();
    assert_eq!((alive(&stage).len(), conditions(&stage).len()), (2, 0));
    end(&mut stage, "Succeeded", 0);
    assert_eq!((status(&stage)["succeeded"].clone(), conditions(&stage).len()), (json!(3), 2));
}

#[test]
fn pods_of_a_job_that_is_gone_are_let_go() {
    let mut stage = start(json!({}));
    let pod = alive(&stage).remove(0);
    stage.api.discard::<Job>("default", "work", &Delete::background(), &Write::by("tester")).unwrap();
    stage.settle();
    assert!(stage.value::<Pod>(&pod)["metadata"]["finalizers"].is_null());
}
