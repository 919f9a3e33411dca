//! What there is in the project before anybody acts: a network, a key, and the servers of the pools. Asked for with the
//! harness' own token, as anybody would.

use std::sync::Arc;

use mock_hetzner::catalogue::Catalogue;
use mock_hetzner::{Cloud, Request, Status};
use serde_json::{Value, json};

use super::{CloudError, POOL};
use crate::terms::Pool;

/// The network that servers are in.
pub const NETWORK: &str = "cluster";
/// The key that servers are given.
pub const SSH_KEY: &str = "cluster";
/// The image that servers are made of.
pub const IMAGE: &str = "ubuntu-24.04";

/// A key that opens nothing: 32 bytes of one value.
const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBERERERERERERERERERERERERERERERERERERERERER nobody";
/// Who the ledger names.
const AGENT: &str = "scaleproof";

/// What Hetzner sells, with quotas that leave room for all pools at their largest: where a project may have less, a trouble
/// says so.
pub(super) fn catalogue(pools: &[Pool]) -> Catalogue {
    let mut catalogue = Catalogue::builtin();
    let most: u64 = pools.iter().map(|pool| u64::from(pool.max.max(pool.initial))).sum();
    let limits = &mut catalogue.limits;
    limits.servers += most;
    limits.primary_ips += 2 * most;
    let cores = catalogue.server_types.iter().map(|sold| sold.cores).max().unwrap_or_default();
    limits.cores += most * cores;
    catalogue
}

/// A network and a key.
pub(super) fn furnish(cloud: &Cloud, token: &str) -> Result<(), CloudError> {
    let subnet = json!({"type": "cloud", "network_zone": "eu-central", "ip_range": "10.0.0.0/8"});
    let network = json!({"name": NETWORK, "ip_range": "10.0.0.0/8", "subnets": [subnet]});
    order(cloud, token, "/v1/networks", &network)?;
    order(cloud, token, "/v1/ssh_keys", &json!({"name": SSH_KEY, "public_key": KEY}))
}

/// The servers that pools have at the beginning.
pub(super) fn fill(cloud: &Cloud, token: &str, pools: &[Pool]) -> Result<(), CloudError> {
    for pool in pools {
        for number in 0..pool.initial {
            let server = json!({
                "name": format!("{}-{number}", pool.name), "server_type": pool.machine,
                "location": pool.location, "image": IMAGE, "ssh_keys": [SSH_KEY],
                "labels": {POOL: pool.name},
            });
            order(cloud, token, "/v1/servers", &server)?;
        }
    }
    Ok(())
}

fn order(cloud: &Cloud, token: &str, path: &str, what: &Value) -> Result<(), CloudError> {
    let mut request = Request::new("POST", path).token(token).body(what.to_string());
    AGENT.clone_into(&mut request.agent);
    let reply = cloud.with(|engine, now| engine.answer(now, &request));
    if reply.status < 300 {
        return Ok(());
    }
    let body = reply.body.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    Err(CloudError::Furniture(format!("furnish the cloud: POST {path} {what}: {} {body}", reply.status)))
}

/// Waits until every server is on.
pub(super) async fn until_all_are_on(cloud: &Arc<Cloud>) {
    let mut changes = cloud.changes();
    loop {
        changes.borrow_and_update();
        if cloud.with(|engine, _| engine.servers().all(|server| server.status == Status::Running)) {
            return;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}
