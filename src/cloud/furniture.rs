//! What there is in the project before anybody acts: a network, a key, and the servers of the pools. Asked for with the
//! harness' own token, as anybody would.

use std::sync::Arc;

use mock_hetzner::catalogue::Catalogue;
use mock_hetzner::{Cloud, Request, Status};
use serde_json::{Value, json};

use super::CloudError;
use crate::terms::{CLAIM_LABEL, CLUSTER_NAME, Pool, Provider};

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

/// A network, by its number, and a key.
pub(super) fn furnish(cloud: &Cloud, token: &str) -> Result<u64, CloudError> {
    let subnet = json!({"type": "cloud", "network_zone": "eu-central", "ip_range": "10.0.0.0/8"});
    let network = json!({"name": NETWORK, "ip_range": "10.0.0.0/8", "subnets": [subnet]});
    let network = order(cloud, token, "/v1/networks", &network)?;
    order(cloud, token, "/v1/ssh_keys", &json!({"name": SSH_KEY, "public_key": KEY}))?;
    Ok(network["network"]["id"].as_u64().unwrap_or_default())
}

/// The servers that pools have at the beginning, as this buyer would have bought them.
pub(super) fn fill(
    cloud: &Cloud,
    token: &str,
    pools: &[Pool],
    (buyer, network): (Provider, u64),
) -> Result<(), CloudError> {
    for pool in pools {
        for name in pool.first_machines(buyer) {
            let mut server = json!({
                "name": name, "server_type": pool.machine, "location": pool.location, "image": IMAGE,
                "ssh_keys": [SSH_KEY], "labels": {buyer.pool_label(): pool.name},
            });
            if buyer == Provider::Karpenter {
                server["networks"] = json!([network]);
                server["labels"]["karpenter.sh/managed-by"] = json!("karpenter");
                server["labels"]["karpenter.sh/cluster"] = json!(CLUSTER_NAME);
                server["labels"][CLAIM_LABEL] = json!(name);
            }
            order(cloud, token, "/v1/servers", &server)?;
        }
    }
    Ok(())
}

/// Asks for something; what is answered.
fn order(cloud: &Cloud, token: &str, path: &str, what: &Value) -> Result<Value, CloudError> {
    let mut request = Request::new("POST", path).token(token).body(what.to_string());
    AGENT.clone_into(&mut request.agent);
    let reply = cloud.with(|engine, now| engine.answer(now, &request));
    let body = reply.body.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    if reply.status < 300 {
        return Ok(serde_json::from_str(&body).unwrap_or_default());
    }
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
