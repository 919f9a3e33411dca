//! What the autoscaler does with its hands, when somebody is in its way; and the defects that do it wrongly.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, Patch, PatchParams, PostParams};
use mock_clock::Clock as _;
use mock_hetzner::Trouble;
use serde_json::json;

use crate::rig::Rig;
use crate::{POOL, minutes, with_machines};

const TO_BE_DELETED: &str = "ToBeDeletedByClusterAutoscaler";

impl Rig {
    /// An autoscaler with this defect, if any.
    fn with_defect(&mut self, defect: &str, arguments: &[&str]) {
        let defect = format!("--defect={defect}");
        let mut all = vec![POOL, "--leader-elect=false"];
        all.extend(arguments);
        if defect != "--defect=" {
            all.push(&defect);
        }
        self.autoscale(&all);
    }

    fn trouble(&self, trouble: &str) {
        let trouble: Trouble = trouble.parse().unwrap();
        self.cloud.with(|engine, now| engine.inject(now, trouble)).unwrap();
    }

    async fn has_taint(&self, node: &str) -> bool {
        let node = Api::<Node>::all(self.client.clone()).get(node).await.unwrap();
        let taints = node.spec.and_then(|spec| spec.taints).unwrap_or_default();
        taints.iter().any(|taint| taint.key == TO_BE_DELETED)
    }
}

/// How many servers there are, and have ever been, so long after one was bought under this trouble.
async fn after_trouble(defect: &str, trouble: &str, wait: Duration) -> (usize, usize) {
    let mut rig = Rig::start(&format!("trouble-{defect}")).await;
    rig.trouble(trouble);
    rig.with_defect(defect, &[]);
    rig.deploy("web", 1, "900m").await;
    rig.until("a server is bought", || async { rig.ever() == 1 }).await;
    rig.clock.sleep(wait).await;
    let counts = (rig.count(), rig.ever());
    rig.end().await;
    counts
}

pub(crate) async fn a_server_that_fails_is_taken_back() {
    let trouble = r#"{"kind": "fails", "command": "start_server"}"#;
    assert_eq!(after_trouble("", trouble, minutes(2)).await, (0, 1));
    assert_eq!(after_trouble("leaks-failed-server", trouble, minutes(2)).await, (1, 1));
    let (_, ever) = after_trouble("never-backs-off", trouble, minutes(4)).await;
    assert!(ever > 1, "{ever}");
}

pub(crate) async fn a_server_that_takes_too_long_is_taken_back() {
    let trouble = r#"{"kind": "stuck", "command": "start_server"}"#;
    assert_eq!(after_trouble("", trouble, Duration::from_secs(285)).await, (1, 1));
    assert_eq!(after_trouble("", trouble, Duration::from_secs(315)).await, (0, 1));
    assert_eq!(after_trouble("leaks-timed-out-server", trouble, minutes(6)).await, (1, 1));
}

pub(crate) async fn one_look_that_fails_destroys_nothing() {
    let trouble = r#"{"kind": "error", "code": "service_error", "on": {"method": "GET", "path": "/actions"}, "count": 1}"#;
    assert_eq!(after_trouble("", trouble, minutes(2)).await, (1, 1));
    assert_eq!(after_trouble("destroys-on-poll-error", trouble, minutes(2)).await, (0, 1));
}

pub(crate) async fn a_list_that_fails_says_nothing() {
    let trouble =
        r#"{"kind": "error", "code": "service_error", "on": {"method": "GET", "path": "/servers"}}"#;
    for (defect, expected) in [("", 1), ("trusts-failed-list", 2)] {
        let mut rig = Rig::start(&format!("list-{defect}")).await;
        rig.with_defect(defect, &[]);
        rig.deploy("web", 1, "900m").await;
        rig.until("a server is bought", || async { rig.ever() == 1 }).await;
        rig.clock.sleep(Duration::from_secs(45)).await;
        rig.trouble(trouble);
        rig.clock.sleep(minutes(2)).await;
        assert!((rig.ever() >= 2) == (expected == 2), "{defect}: {}", rig.ever());
        rig.end().await;
    }
}

pub(crate) async fn the_node_is_left_to_others() {
    for (defect, stays) in [("", true), ("deletes-node-object", false)] {
        let mut rig = Rig::start(&format!("object-{defect}")).await;
        rig.with_defect(defect, &[]);
        let rig_ = &rig;
        with_machines(rig_, async {
            rig_.deploy("web", 1, "900m").await;
            rig_.until("the pod runs", || async { rig_.running().await == 1 }).await;
        })
        .await;
        let name = rig.servers()[0]["name"].as_str().unwrap().to_owned();
        rig.scale("web", 0).await;
        rig.until("the server is given back", || async { rig.count() == 0 }).await;
        rig.clock.sleep(minutes(1)).await;
        let node = Api::<Node>::all(rig.client.clone()).get_opt(&name).await.unwrap();
        assert_eq!(node.is_some(), stays, "{defect}");
        rig.end().await;
    }
}

pub(crate) async fn a_node_that_cannot_go_is_given_back() {
    let trouble = r#"{"kind": "error", "code": "locked", "on": {"method": "DELETE", "path": "/servers/*"}}"#;
    for (defect, tainted) in [("", false), ("leaves-taint-on-failure", true)] {
        let mut rig = Rig::start(&format!("locked-{defect}")).await;
        rig.trouble(trouble);
        rig.with_defect(defect, &[]);
        let rig_ = &rig;
        with_machines(rig_, async {
            rig_.deploy("web", 1, "900m").await;
            rig_.until("the pod runs", || async { rig_.running().await == 1 }).await;
            rig_.scale("web", 0).await;
            rig_.until("it is tried", || async { rig_.reasons().await.contains("ScaleDownFailed") }).await;
            rig_.clock.sleep(Duration::from_secs(20)).await;
            let name = rig_.servers()[0]["name"].as_str().unwrap().to_owned();
            assert_eq!(rig_.has_taint(&name).await, tainted, "{defect}");
        })
        .await;
        rig.end().await;
    }
}

pub(crate) async fn taints_of_a_predecessor_are_taken_away() {
    for (defect, tainted) in [("", false), ("leaves-old-taints", true)] {
        let mut rig = Rig::start(&format!("old-{defect}")).await;
        let taint =
            json!({"spec": {"taints": [{"key": TO_BE_DELETED, "effect": "NoSchedule", "value": "1"}]}});
        let nodes = Api::<Node>::all(rig.client.clone());
        nodes.patch("control-plane", &PatchParams::default(), &Patch::Merge(taint)).await.unwrap();
        rig.with_defect(defect, &[]);
        rig.clock.sleep(Duration::from_secs(30)).await;
        assert_eq!(rig.has_taint("control-plane").await, tainted, "{defect}");
        rig.end().await;
    }
}

pub(crate) async fn who_does_not_lead_does_nothing() {
    for (defect, bought) in [("", 0), ("acts-without-lease", 1)] {
        let mut rig = Rig::start(&format!("lease-{defect}")).await;
        let now = format!("{:.6}", jiff::Timestamp::from(rig.clock.now()));
        let lease: Lease = serde_json::from_value(json!({
            "metadata": {"name": "cluster-autoscaler"},
            "spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600, "renewTime": now},
        }))
        .unwrap();
        let leases = Api::<Lease>::namespaced(rig.client.clone(), "kube-system");
        leases.create(&PostParams::default(), &lease).await.unwrap();
        rig.with_defect(defect, &["--leader-elect=true"]);
        rig.deploy("web", 1, "900m").await;
        rig.clock.sleep(minutes(2)).await;
        assert_eq!(rig.ever(), bought, "{defect}");
        rig.end().await;
    }
}

pub(crate) async fn others_can_see_what_it_does() {
    for (defect, told) in [("", true), ("tells-no-events", false)] {
        let mut rig = Rig::start(&format!("events-{defect}")).await;
        rig.with_defect(defect, &[]);
        rig.deploy("huge", 1, "64").await;
        rig.clock.sleep(minutes(1)).await;
        assert_eq!(rig.reasons().await.contains("NotTriggerScaleUp"), told, "{defect}");
        rig.end().await;
    }
    for (defect, fresh) in [("", true), ("writes-status-once", false)] {
        let mut rig = Rig::start(&format!("status-{defect}")).await;
        rig.with_defect(defect, &[]);
        rig.clock.sleep(minutes(1)).await;
        let version = async || rig.status().await.unwrap().metadata.resource_version;
        let before = version().await;
        rig.clock.sleep(minutes(1)).await;
        assert_eq!(version().await != before, fresh, "{defect}");
        rig.end().await;
    }
}

pub(crate) async fn whoever_is_told_to_end_takes_the_status_along() {
    let mut rig = Rig::start("terminate").await;
    rig.with_defect("", &[]);
    rig.clock.sleep(minutes(1)).await;
    assert!(rig.status().await.is_some());
    assert_eq!(rig.terminate(), Some(0));
    assert!(rig.status().await.is_none());
    rig.end().await;
}

pub(crate) async fn a_cloud_that_is_down_is_told() {
    let mut rig = Rig::start("down").await;
    rig.trouble(r#"{"kind": "error", "code": "service_error", "on": {"method": "GET"}, "for_s": 600}"#);
    rig.with_defect("", &[]);
    rig.deploy("web", 1, "900m").await;
    rig.clock.sleep(minutes(9)).await;
    assert!(rig.status().await.unwrap().data.unwrap()["status"].contains("unknown"));
    assert_eq!(rig.ever(), 0);
    rig.clock.sleep(minutes(3)).await;
    assert_eq!(rig.ever(), 1, "two minutes after the end of the trouble");
    rig.end().await;
}

pub(crate) async fn who_does_not_end_ends_with_the_node() {
    for (defect, left) in [("", 1), ("waits-for-pods-for-ever", 2)] {
        let mut rig = Rig::start(&format!("immortal-{defect}")).await;
        rig.with_defect(defect, &[]);
        let rig_ = &rig;
        with_machines(rig_, async {
            rig_.deploy("big", 2, "1600m").await;
            rig_.until("both big pods run", || async { rig_.running().await == 2 }).await;
            rig_.deploy("immortal", 2, "300m").await;
            rig_.until("the others run, too", || async { rig_.running().await == 4 }).await;
            rig_.clock.sleep(minutes(11)).await;
            rig_.scale("big", 0).await;
            rig_.clock.sleep(minutes(13)).await;
            assert_eq!(rig_.count(), left, "{defect}");
        })
        .await;
        rig.end().await;
    }
}
