//! The Rust client with everything its controllers are built from: watchers, finalizers, leases, patches, discovery.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

mod controllers;
mod custom;
mod watching;
mod writing;

use std::time::Duration;

use futures_util::{Stream, TryStreamExt as _};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::PostParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use mock_clock::{Clock as _, VirtualClock};
use mock_kubernetes::ControlPlane;
use serde_json::json;

/// A cluster without controllers, and a client of it.
struct Bare {
    plane: ControlPlane,
    client: Client,
}

impl Bare {
    async fn start() -> Self {
        let plane = ControlPlane::builder().bare().start().await.unwrap();
        let parsed = Kubeconfig::from_yaml(&plane.kubeconfig()).unwrap();
        let mut config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await.unwrap();
        // Evictions that are refused are to be seen.
        config.default_retry = false;
        Self { plane, client: Client::try_from(config).unwrap() }
    }

    fn clock(&self) -> &VirtualClock {
        self.plane.clock()
    }

    fn config_maps(&self) -> Api<ConfigMap> {
        Api::default_namespaced(self.client.clone())
    }

    async fn config_map(&self, name: &str) -> ConfigMap {
        self.config_maps().create(&PostParams::default(), &config_map(name)).await.unwrap()
    }

    async fn pod(&self, name: &str) -> Pod {
        let pod = json!({
            "metadata": {"name": name, "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "c:1"}], "nodeName": "nowhere"},
        });
        let pods = Api::default_namespaced(self.client.clone());
        pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap()
    }

    /// The next of a stream. What is awaited here comes at once or never.
    async fn next<T, E: std::fmt::Debug>(
        &self,
        stream: &mut (impl Stream<Item = Result<T, E>> + Unpin),
    ) -> T {
        let next = self.clock().timeout(Duration::from_secs(15), stream.try_next()).await;
        next.expect("nothing comes").unwrap().expect("the stream has ended")
    }
}

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"count": "0"}})).unwrap()
}

/// The error a server answered with.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> kube::core::Status {
    match result.unwrap_err() {
        kube::Error::Api(status) => *status,
        other => panic!("not an answer: {other}"),
    }
}
