//! The pods of one node: pulled, started, running until they are told to end, ended in their time.
//!
//! Which pods there are and where they belong is decided elsewhere. Nothing runs in them, so nothing is started again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams, Patch, PatchParams, Preconditions};
use mock_clock::Clock as _;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use super::injuries::Injury;
use super::kubelet::Kubelet;
use super::node::Health;
use super::workload;
use crate::terms::{Period, Stage};

/// How long a pod takes to end that says nothing about it.
const USUAL_END: Duration = Duration::from_secs(1);

/// Who looks after the pods of a node.
pub(super) struct Ward {
    kubelet: Arc<Kubelet>,
    beds: Mutex<Beds>,
}

#[derive(Default)]
struct Beds {
    /// Pods by uid: what they are like, and who looks after each.
    pods: BTreeMap<String, (watch::Sender<Pod>, AbortHandle)>,
    carers: JoinSet<()>,
    given: u32,
}

impl Ward {
    pub(super) fn new(kubelet: Arc<Kubelet>) -> Arc<Self> {
        Arc::new(Self { kubelet, beds: Mutex::default() })
    }

    /// A pod of this node is like this.
    pub(super) fn see(&self, pod: Pod) {
        let mut beds = self.beds.lock().unwrap_or_else(PoisonError::into_inner);
        let uid = pod.uid().unwrap_or_default();
        if let Some((sight, _)) = beds.pods.get(&uid) {
            sight.send_replace(pod);
            return;
        }
        let (sender, sight) = watch::channel(pod);
        beds.given += 1;
        let address = format!("10.42.{}.{}", (beds.given >> 8) & 255, beds.given & 255);
        let care = Care { kubelet: Arc::clone(&self.kubelet), sight, address };
        let carer = beds.carers.spawn(care.give());
        while beds.carers.try_join_next().is_some() {}
        beds.pods.insert(uid, (sender, carer));
    }

    /// A pod of this node is gone.
    pub(super) fn miss(&self, pod: &Pod) {
        let mut beds = self.beds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, carer)) = beds.pods.remove(&pod.uid().unwrap_or_default()) {
            carer.abort();
        }
    }
}

/// All that is done for one pod.
struct Care {
    kubelet: Arc<Kubelet>,
    sight: watch::Receiver<Pod>,
    address: String,
}

impl Care {
    async fn give(mut self) {
        let over = |pod: &Pod| {
            let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
            matches!(phase, Some("Succeeded" | "Failed"))
        };
        if over(&self.sight.borrow()) {
            return;
        }
        let mut told_to_end = self.sight.clone();
        tokio::select! {
            () = self.run() => {}
            _ = told_to_end.wait_for(|pod| pod.metadata.deletion_timestamp.is_some()) => {}
        }
        self.end().await;
    }

    /// From pending to running, and on. Does not end by itself.
    async fn run(&mut self) {
        let kubelet = Arc::clone(&self.kubelet);
        let name = self.sight.borrow().name_any();
        let since = kubelet.site.stamp();
        let on_host = self.sight.borrow().spec.as_ref().and_then(|spec| spec.host_network).unwrap_or(false);
        let mut health = kubelet.health();
        // Senders live in the kubelet.
        let _ = health.wait_for(|health| health.uid.is_some() && (on_host || health.network.is_some())).await;
        self.tell(&self.creating(&since)).await;
        kubelet.site.stage(Stage::Pull, kubelet.pool(), &name).await;
        kubelet.site.stage(Stage::Start, kubelet.pool(), &name).await;
        loop {
            self.tell(&self.running(&since)).await;
            // Who says that it is not ready any more has not asked its kubelet.
            if self.sight.wait_for(|pod| says_ready(pod, "True")).await.is_err()
                || self.sight.wait_for(|pod| says_ready(pod, "False")).await.is_err()
            {
                std::future::pending::<()>().await;
            }
            let _ = health.wait_for(Health::says_ready).await;
        }
    }

    async fn end(&self) {
        let kubelet = &self.kubelet;
        let pod = self.sight.borrow().clone();
        let deserted = pod.labels().get(workload::LABEL).cloned();
        let whole = format!("{}/{}", pod.namespace().unwrap_or_default(), pod.name_any());
        kubelet.reaches().await;
        self.ends().await;
        let stubborn = |injury: &Injury| matches!(injury, Injury::NeverEnds { workload } if Some(workload) == deserted.as_ref());
        kubelet.site.injuries.without(&whole, stubborn).await;
        kubelet.reaches().await;
        let pods: Api<Pod> =
            Api::namespaced(kubelet.site.client.clone(), &pod.namespace().unwrap_or_default());
        let params = DeleteParams {
            grace_period_seconds: Some(0),
            preconditions: Some(Preconditions { uid: pod.uid(), resource_version: None }),
            ..DeleteParams::default()
        };
        let name = pod.name_any();
        kubelet.site.call("end a pod", || pods.delete(&name, &params)).await;
    }

    /// Until it has ended by itself, or must have; who grants it less meanwhile grants that from then on.
    async fn ends(&self) {
        let clock = &self.kubelet.site.clock;
        let mut sight = self.sight.clone();
        let (takes, mut grant) = {
            let pod = sight.borrow_and_update();
            (takes_to_end(&pod), granted(&pod))
        };
        let mut due = clock.now() + takes.min(grant);
        loop {
            tokio::select! {
                _ = clock.sleep_until(due) => return,
                Ok(()) = sight.changed() => {
                    let less = granted(&sight.borrow_and_update());
                    if less < grant {
                        grant = less;
                        due = due.min(clock.now() + less);
                    }
                }
            }
        }
    }

    async fn tell(&self, status: &Value) {
        self.kubelet.reaches().await;
        let pod = self.sight.borrow().clone();
        let pods: Api<Pod> =
            Api::namespaced(self.kubelet.site.client.clone(), &pod.namespace().unwrap_or_default());
        let patch = Patch::Strategic(json!({"metadata": {"uid": pod.uid()}, "status": status}));
        let params = PatchParams::default();
        let name = pod.name_any();
        self.kubelet.site.call("tell how a pod is", || pods.patch_status(&name, &params, &patch)).await;
    }

    fn creating(&self, since: &str) -> Value {
        let waiting = json!({"waiting": {"reason": "ContainerCreating"}});
        let mut status = self.status(since, "False", &waiting, false);
        status["phase"] = json!("Pending");
        status
    }

    fn running(&self, since: &str) -> Value {
        let running = json!({"running": {"startedAt": self.kubelet.site.stamp()}});
        let mut status = self.status(since, "True", &running, true);
        status["phase"] = json!("Running");
        status["podIP"] = json!(self.address);
        status["podIPs"] = json!([{"ip": self.address}]);
        status
    }

    fn status(&self, since: &str, ready: &str, state: &Value, started: bool) -> Value {
        let pod = self.sight.borrow();
        let now = self.kubelet.site.stamp();
        let condition = |kind: &str, status: &str, at: &str| {
            let why = (status == "False").then_some("ContainersNotReady");
            json!({"type": kind, "status": status, "reason": why, "lastTransitionTime": at})
        };
        let containers = pod.spec.as_ref().map(|spec| spec.containers.as_slice()).unwrap_or_default();
        let containers = containers.iter().map(|container| {
            json!({"name": container.name, "image": container.image, "imageID": "", "restartCount": 0,
                "ready": started, "started": started, "state": state})
        });
        json!({
            "startTime": since, "hostIP": self.kubelet.host.address,
            "hostIPs": [{"ip": self.kubelet.host.address}],
            "conditions": [
                condition("PodReadyToStartContainers", ready, &now),
                condition("Initialized", "True", since),
                condition("Ready", ready, &now),
                condition("ContainersReady", ready, &now),
            ],
            "containerStatuses": containers.collect::<Vec<_>>(),
        })
    }
}

fn says_ready(pod: &Pod, wanted: &str) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == wanted)
}

/// As long as the pod says.
fn takes_to_end(pod: &Pod) -> Duration {
    let said = pod.annotations().get(workload::ENDS_IN).and_then(|text| text.parse::<Period>().ok());
    said.map_or(USUAL_END, |period| period.0)
}

/// No longer than this.
fn granted(pod: &Pod) -> Duration {
    let granted = pod.metadata.deletion_grace_period_seconds.unwrap_or(30);
    Duration::from_secs(u64::try_from(granted).unwrap_or(0))
}
