//! What only Karpenter speaks of: how the nodes of a pool are disrupted, and how a build is told of pools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Period;

/// How the nodes of a pool are disrupted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disruption {
    /// Which nodes are consolidated.
    pub consolidate: Consolidate,
    /// How long after the last change of a node's pods; if left out, the subject's `unneeded_time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Period>,
    /// How many nodes at a time; if left out, the tenth part that is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budgets: Option<Vec<DisruptionBudget>>,
    /// How old a node may become; 720 hours, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expire_after: Option<Period>,
    /// How long a drain may take; for ever, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<Period>,
}

/// Which nodes of a pool are consolidated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Consolidate {
    /// Those on which nothing runs but daemons.
    WhenEmpty,
    /// Those whose pods fit elsewhere or on something cheaper, too.
    #[default]
    WhenEmptyOrUnderutilized,
    /// None.
    Never,
}

/// How many nodes of a pool may be disrupted at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DisruptionBudget {
    /// So many, or such a part of them: `"3"`, `10%`.
    pub nodes: String,
    /// For these reasons; for any, if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<DisruptionReason>,
    /// From these moments on, as cron has them in UTC; always, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// For so long from each of these moments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
}

/// Why a node is disrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DisruptionReason {
    /// Nothing runs on it.
    Empty,
    /// What runs on it fits elsewhere.
    Underutilized,
    /// Its pool would make it otherwise today.
    Drifted,
}

/// How a build of Karpenter is told of pools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Karpenter {
    /// The version of its API.
    pub api: KarpenterApi,
    /// Where its machines come from.
    pub cloud: KarpenterCloud,
    /// The class that all pools are of; it stands among the `objects`.
    pub node_class: NodeClass,
}

/// A version of Karpenter's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KarpenterApi {
    /// From 1.0.0 on.
    V1,
    /// Before.
    V1beta1,
}

impl KarpenterApi {
    /// As it is written in an object.
    pub fn word(self) -> &'static str {
        match self {
            KarpenterApi::V1 => "v1",
            KarpenterApi::V1beta1 => "v1beta1",
        }
    }
}

/// Where Karpenter's machines come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KarpenterCloud {
    /// From nowhere: Karpenter makes the node itself, and the node is the machine.
    Kwok,
    /// Servers of the Hetzner Cloud.
    Hetzner,
}

/// What the cluster of a run is called, where a subject has to name it: its servers are labelled with it.
pub const CLUSTER_NAME: &str = "scaleproof";
/// The label of a server that tells the claim for which Karpenter has made it.
pub const CLAIM_LABEL: &str = "karpenter.sh/nodeclaim";

/// A class of nodes, by its object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeClass {
    /// Its group.
    pub group: String,
    /// The version of its group.
    pub version: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
}
