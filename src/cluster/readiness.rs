//! When a cluster is of use: its API says so, and pods can be made in its default namespace.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::api::{GetParams, Request};
use kube::{Api, Client};
use mock_clock::{Clock as _, VirtualClock};

use super::{Access, ClusterError};

/// How long a cluster may take.
const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// Waits until a cluster is of use.
pub(super) async fn until_ready(access: &Access, clock: &VirtualClock) -> Result<(), ClusterError> {
    let client = access.client()?;
    let end = clock.now() + PATIENCE;
    loop {
        let Err(why) = look(&client).await else { return Ok(()) };
        if clock.now() >= end {
            let why = format!("after {} s {why}", PATIENCE.as_secs());
            return Err(ClusterError::NotReady { url: access.url.clone(), why });
        }
        clock.sleep(BETWEEN_LOOKS).await;
    }
}

/// What is missing.
async fn look(client: &Client) -> Result<(), String> {
    let request = Request::new("").get("readyz", &GetParams::default()).map_err(|error| error.to_string())?;
    let text = client.request_text(request).await.map_err(|error| format!("/readyz says {error}"))?;
    if text.trim() != "ok" {
        return Err(format!("/readyz says {text:?}"));
    }
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace =
        namespaces.get("default").await.map_err(|error| format!("the default namespace: {error}"))?;
    let phase = namespace.status.and_then(|status| status.phase).unwrap_or_default();
    if phase != "Active" {
        return Err(format!("the default namespace is {phase:?}"));
    }
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "default");
    accounts.get("default").await.map(drop).map_err(|error| format!("its service account: {error}"))
}
