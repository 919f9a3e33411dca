//! What Karpenter finds and leaves in a cluster: its pools, the nodes of a life before this one, and nodes that nobody but
//! Karpenter itself has made, which need a kubelet all the same.
//!
//! With its kwok provider the node is the machine: it is there when Karpenter has made it, and gone when Karpenter has taken
//! its finalizer away. Nothing here decides what is bought or given back.

mod first;
mod kwok;
mod node_pool;

use crate::terms::KarpenterApi;

pub use first::settle;
pub(super) use kwok::see;
pub use kwok::sells;
pub use node_pool::{node_pool, node_pools};

/// The label of a node, and of its claim, that tells the pool.
const POOL: &str = "karpenter.sh/nodepool";

/// The definitions of its kinds in a version of its API, as their files write them.
pub fn definitions(api: KarpenterApi) -> [&'static str; 3] {
    macro_rules! files {
        ($version:literal) => {
            [
                include_str!(concat!("../../../fixtures/crds/karpenter/", $version, "/nodepools.yaml")),
                include_str!(concat!("../../../fixtures/crds/karpenter/", $version, "/nodeclaims.yaml")),
                include_str!(concat!("../../../fixtures/crds/karpenter/", $version, "/kwoknodeclasses.yaml")),
            ]
        };
    }
    match api {
        KarpenterApi::V1 => files!("v1"),
        KarpenterApi::V1beta1 => files!("v1beta1"),
    }
}
