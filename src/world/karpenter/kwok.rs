//! Karpenter's kwok provider: what its machines are called, and kubelets for the nodes that it makes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt as _;
use kube::api::{Api, PostParams};
use mock_clock::Clock as _;
use serde_json::json;

use super::POOL;
use crate::terms::Room;
use crate::watch::Sight;
use crate::world::injuries::Injury;
use crate::world::node::Host;
use crate::world::roster::Roster;
use crate::world::site::{Site, holds};

/// What its provider ids begin with.
pub(super) const PROVIDER: &str = "kwok://";
/// How often a kubelet renews its lease.
const RENEWAL: Duration = Duration::from_secs(10);
/// It sells machines with so many processors, for each of three shares of memory.
const PROCESSORS: [u64; 12] = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256];
/// Families, with GiB of memory for each processor.
const FAMILIES: [(&str, u64); 3] = [("c", 2), ("s", 4), ("m", 8)];

/// What the machine with this room is called that it sells; nothing if it sells none.
pub fn sells(room: Room, architecture: &str) -> Option<String> {
    let processors = room.cpu_milli / 1000;
    let memory = room.memory_mib / 1024;
    let whole = room.cpu_milli.is_multiple_of(1000)
        && room.memory_mib.is_multiple_of(1024)
        && PROCESSORS.contains(&processors);
    let family = FAMILIES.into_iter().find(|(_, share)| whole && memory == share * processors)?.0;
    Some(format!("{family}-{processors}x-{architecture}-linux"))
}

/// A node has come, changed or gone: one that Karpenter has made has a kubelet for as long as it is there.
pub(in crate::world) fn see(site: &Arc<Site>, roster: &Roster, sight: &Sight<Node>) {
    match sight {
        Sight::Added(node) | Sight::Modified(node) => {
            if let Some(host) = host(node).filter(|host| !roster.has(&host.name)) {
                roster.employ(site, host, true);
            }
        }
        Sight::Deleted(node) => {
            if host(node).is_some() {
                roster.dismiss(&node.name_any());
            }
            if node.labels().contains_key(POOL) && is_haunted(site, node) {
                tokio::spawn(haunt(Arc::clone(site), node.clone()));
            }
        }
        Sight::Listed | Sight::Blind(_) => {}
    }
}

/// Whether the kubelet of a node lives on when that is gone.
fn is_haunted(site: &Site, node: &Node) -> bool {
    let pool = node.labels().get(POOL).map(String::as_str);
    let zombie =
        |injury: &Injury| matches!(injury, Injury::Zombie { pool: of } if holds(of.as_deref(), pool));
    site.injuries.find(zombie).inspect(|wound| wound.bite(&node.name_any())).is_some()
}

/// A kubelet without a node: it renews its lease, and makes it again when it is gone; it has no owner to name.
async fn haunt(site: Arc<Site>, node: Node) {
    let leases: Api<Lease> = Api::namespaced(site.client.clone(), "kube-node-lease");
    let name = node.name_any();
    let written =
        json!({"metadata": {"name": name}, "spec": {"holderIdentity": name, "leaseDurationSeconds": 40}});
    let Ok(lease) = serde_json::from_value::<Lease>(written) else { return };
    let params = PostParams::default();
    loop {
        site.clock.sleep(RENEWAL).await;
        if !is_haunted(&site, &node) {
            return;
        }
        site.call("renew the lease of a node that is gone", || leases.create(&params, &lease)).await;
    }
}

/// What a kubelet knows of a node that Karpenter has made.
fn host(node: &Node) -> Option<Host> {
    let id = node.spec.as_ref()?.provider_id.as_deref().filter(|id| id.starts_with(PROVIDER))?;
    let name = node.name_any();
    let hash = name.bytes().fold(0_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    Some(Host {
        server: None,
        made: node.uid(),
        pool: node.labels().get(POOL).cloned(),
        labels: BTreeMap::new(),
        taints: Vec::new(),
        room: Room::default(),
        architecture: "amd64".to_owned(),
        location: String::new(),
        address: format!("10.{}.{}.{}", (hash >> 16) & 255, (hash >> 8) & 255, hash & 255),
        provider_id: Some(id.to_owned()),
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_called_by_what_it_has_room_for() {
        let name = |cpu_milli, memory_mib| sells(Room { cpu_milli, memory_mib }, "amd64");
        assert_eq!(name(4000, 8192).as_deref(), Some("c-4x-amd64-linux"));
        assert_eq!(name(2000, 8192).as_deref(), Some("s-2x-amd64-linux"));
        assert_eq!(name(3000, 6144), None);
        assert_eq!(name(4000, 8191), None);
    }
}
