//! Faults as a scenario writes them. What each is called in the catalogue, and how it hurts, is `fault`'s business.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Span;
pub use crate::terms::Stage;
use crate::terms::Taint;

/// Something that hurts, until it is healed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FaultSpec {
    /// Kubelets of a pool take so long for a stage.
    SlowKubelet {
        /// This pool; all, if left out.
        #[serde(default)]
        pool: Option<String>,
        /// This stage.
        stage: Stage,
        /// So long.
        takes: Span,
    },
    /// Machines of a pool never become nodes.
    NeverRegisters {
        /// This pool; all, if left out.
        #[serde(default)]
        pool: Option<String>,
    },
    /// Nodes of a pool are ready and not ready in turn.
    Flapping {
        /// This pool.
        pool: String,
        /// For so long each.
        every: Span,
    },
    /// Kubelets of a pool are silent.
    LostHeartbeats {
        /// This pool.
        pool: String,
        /// So many of its nodes; all, if left out.
        #[serde(default)]
        nodes: Option<u32>,
    },
    /// Kubelets of a pool run without `--cloud-provider=external`: their nodes never get a provider id.
    NoCloudProvider {
        /// This pool; all, if left out.
        #[serde(default)]
        pool: Option<String>,
    },
    /// The cloud controller is gone: no provider ids, no removal of nodes whose machines are gone.
    CloudControllerDown,
    /// A pod of a workload stays on its node whatever comes: it ignores that it should end.
    PodNeverEnds(String),
    /// Evictions are refused with 429 at the door.
    EvictionsRefused,
    /// Leases that nobody owns come into being, so many a minute.
    LeaseLeak {
        /// So many.
        per_minute: u32,
    },
    /// Kubelets go on when their nodes are gone: they make leases that nobody owns.
    ZombieKubelets {
        /// Of this pool; of all, if left out.
        #[serde(default)]
        pool: Option<String>,
    },
    /// A volume stays attached to each node of a pool.
    StuckAttachment {
        /// Of this pool.
        pool: String,
    },
    /// Somebody taints each node of a pool as soon as it is there.
    TaintsByHand {
        /// Of this pool.
        pool: String,
        /// With this taint.
        taint: Taint,
    },
    /// Objects are edited by somebody else at a rate.
    Edits {
        /// Of this kind.
        kind: String,
        /// Of this name; all of the kind, if left out.
        #[serde(default)]
        name: Option<String>,
        /// So many a minute each.
        per_minute: u32,
        /// What is edited.
        what: Edit,
        /// By whom.
        #[serde(default)]
        by: EditedBy,
    },
    /// Calls of the subject have another fate than usual.
    Calls {
        /// These calls.
        on: CallMatch,
        /// This fate.
        fate: FateSpec,
        /// The first so many only; all, if left out.
        #[serde(default)]
        first: Option<u32>,
    },
    /// A trouble of the cloud, as mock-hetzner writes it.
    Cloud(#[schemars(with = "mock_hetzner::Trouble")] Value),
    /// Controllers of Cluster API wait so long before they do anything.
    SlowClusterApi {
        /// To the machine deployment of this pool; to all, if left out.
        #[serde(default)]
        pool: Option<String>,
        /// So long.
        takes: Span,
    },
    /// The machine sets of a pool can make no machines, as when a quota is spent.
    MachinesRefused {
        /// This pool.
        pool: String,
    },
    /// The infrastructure makes nothing of the machines of a pool: they stay pending.
    MachinesNeverCome {
        /// This pool.
        pool: String,
    },
    /// The infrastructure says that it has failed to make the machines of a pool.
    MachinesFail {
        /// This pool.
        pool: String,
    },
    /// The machine deployment of a pool is paused: nobody makes anything of what is asked of it.
    PausedGroup {
        /// This pool.
        pool: String,
    },
    /// A group of the Kubernetes API is not there for the subject: 404.
    ApiGroupMissing(String),
    /// The wall clock of the world, but not of the subject, goes wrong by so many seconds.
    WorldClock {
        /// So many, fast or (below zero) slow.
        by_s: i64,
    },
}

/// What of an object is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// A label of no meaning.
    Labels,
    /// An annotation of no meaning.
    Annotations,
    /// A condition of its status of no meaning.
    Status,
    /// A field of its spec of no meaning for autoscalers; only deployments, of machines or of pods, have one.
    Spec,
}

/// How an object is edited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EditedBy {
    /// As another controller does: nothing is written but the change.
    #[default]
    Controller,
    /// As by hand: it is read, and all of it is written back.
    Hand,
}

/// Which calls. What is left out matches anything; `*` stands for anything within a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallMatch {
    /// `kubernetes` or `cloud`.
    #[serde(default)]
    pub to: Option<crate::terms::Api>,
    /// This method.
    #[serde(default)]
    pub method: Option<String>,
    /// This path.
    #[serde(default)]
    pub path: Option<String>,
    /// A part of the query.
    #[serde(default)]
    pub query: Option<String>,
    /// Only of this replica.
    #[serde(default)]
    pub replica: Option<u32>,
}

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FateSpec {
    /// It is passed on only after so long.
    Delay(Span),
    /// It is answered here.
    Answer {
        /// With this status.
        #[schemars(range(min = 200, max = 599))]
        status: u16,
        /// With these headers.
        #[serde(default)]
        headers: BTreeMap<String, String>,
        /// With this body; otherwise one that the API would write.
        #[serde(default)]
        body: Option<Value>,
    },
    /// The connection is cut at once.
    Cut,
    /// It is never answered.
    Hang,
    /// It is done at once, and answered only after so long.
    DelayAnswer(Span),
    /// It is done, and the connection cut before the answer.
    LoseAnswer,
    /// It is done, and the answer cut after so many bytes.
    Truncate(u64),
    /// The answer comes so many bytes a second.
    SlowBody(u64),
    /// A watch stays open and tells nothing.
    StallWatch,
    /// A watch is ended.
    DropWatch,
    /// A watch, or a list by revision, is told that its revision is too old: 410.
    Expire,
}
