//! What Karpenter finds and leaves in a cluster: its pools, the nodes of a life before this one, and nodes that nobody but
//! Karpenter itself has made, which need a kubelet all the same.
//!
//! With its kwok provider the node is the machine: it is there when Karpenter has made it, and gone when Karpenter has taken
//! its finalizer away. Where it buys servers, those become nodes as everybody's do, and Karpenter registers them. Nothing here
//! decides what is bought or given back.

mod first;
mod kwok;
mod node_pool;

use crate::terms::{KarpenterApi, KarpenterCloud};

pub use first::{adopt, settle};
pub(super) use kwok::see;
pub use kwok::sells;
pub use node_pool::{node_pool, node_pools};

/// The label of a node, and of its claim, that tells the pool.
const POOL: &str = "karpenter.sh/nodepool";

/// The taint that nodes come with, until Karpenter has registered them.
const UNREGISTERED: &str = "karpenter.sh/unregistered";

/// The definitions of its kinds in a version of its API, with the classes of a cloud, as their files write them.
pub fn definitions(api: KarpenterApi, cloud: KarpenterCloud) -> [&'static str; 3] {
    macro_rules! file {
        ($name:literal) => {
            include_str!(concat!("../../../fixtures/crds/", $name, ".yaml"))
        };
    }
    let (pools, claims) = match api {
        KarpenterApi::V1 => (file!("karpenter/v1/nodepools"), file!("karpenter/v1/nodeclaims")),
        KarpenterApi::V1beta1 => {
            (file!("karpenter/v1beta1/nodepools"), file!("karpenter/v1beta1/nodeclaims"))
        }
    };
    let classes = match (cloud, api) {
        (KarpenterCloud::Kwok, KarpenterApi::V1) => file!("karpenter/v1/kwoknodeclasses"),
        (KarpenterCloud::Kwok, KarpenterApi::V1beta1) => file!("karpenter/v1beta1/kwoknodeclasses"),
        (KarpenterCloud::Hetzner, _) => file!("karpenter-hetzner/v1/hcloudnodeclasses"),
    };
    [pools, claims, classes]
}
