//! What a scenario, a profile, a history and a check all speak of: providers, versions, timers, pools, workloads.
//!
//! Plain values that store and compare. They know no file and no cluster.

mod karpenter;
mod machine;

pub use karpenter::{
    CLAIM_LABEL, CLUSTER_NAME, Consolidate, Disruption, DisruptionBudget, DisruptionReason, Karpenter,
    KarpenterApi, KarpenterCloud, NodeClass,
};
pub use machine::{Machine, MachineEvent, Stage};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;
use std::ops::Add;
use std::str::FromStr;
use std::time::Duration;

use jiff::fmt::friendly::{Spacing, SpanParser, SpanPrinter};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The label by which a pod says to which workload of the scenario it belongs.
pub const WORKLOAD_LABEL: &str = "app";

/// How a subject buys nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Servers of the Hetzner Cloud.
    Hetzner,
    /// `MachineDeployments` of Cluster API.
    Clusterapi,
    /// `NodeClaims` of Karpenter.
    Karpenter,
}

impl Provider {
    /// All of them.
    pub const ALL: [Provider; 3] = [Provider::Hetzner, Provider::Clusterapi, Provider::Karpenter];

    /// The label by which a node says to which pool it belongs.
    pub const fn pool_label(self) -> &'static str {
        match self {
            Provider::Hetzner | Provider::Clusterapi => "hcloud/node-group",
            Provider::Karpenter => "karpenter.sh/nodepool",
        }
    }

    /// The pool that labels name, of a server or of a node, whoever has bought it.
    pub fn pool_named(labels: &BTreeMap<String, String>) -> Option<&String> {
        Self::ALL.iter().find_map(|provider| labels.get(provider.pool_label()))
    }

    /// The same of labels as they are written in an object.
    pub fn pool_in(labels: &Value) -> Option<&str> {
        Self::ALL.iter().find_map(|provider| labels[provider.pool_label()].as_str())
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Provider::Hetzner => "hetzner",
            Provider::Clusterapi => "clusterapi",
            Provider::Karpenter => "karpenter",
        })
    }
}

/// The version of a subject, as far as promises depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second.
    pub minor: u32,
    /// The third.
    pub patch: u32,
}

impl Version {
    /// A version by its three numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl JsonSchema for Version {
    fn schema_name() -> Cow<'static, str> {
        "Version".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "version", "pattern": r"^v?[0-9]+\.[0-9]+\.[0-9]+$"})
    }
}

/// A text that is no version. Reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionError(String);

impl fmt::Display for VersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "read {:?} as a version: three numbers, such as 1.32.7", self.0)
    }
}

impl std::error::Error for VersionError {}

impl FromStr for Version {
    type Err = VersionError;
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let mut numbers = text.trim_start_matches('v').split('.').map(str::parse::<u32>);
        match (numbers.next(), numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch)), None) => Ok(Self { major, minor, patch }),
            _ => Err(VersionError(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Version {
    type Error = VersionError;
    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> String {
        version.to_string()
    }
}

/// A timer of a subject: windows are written against these, so that one scenario serves every profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// From one loop to the next.
    ScanInterval,
    /// How long a pod must be unschedulable before anything is bought for it.
    NewPodScaleUpDelay,
    /// How soon after a pod is unschedulable something is bought: the objective of the documents.
    ReactionTime,
    /// How long a node must be unneeded before it goes.
    UnneededTime,
    /// The same for a node that is not ready.
    UnreadyTime,
    /// How long nothing goes after something was bought.
    DelayAfterAdd,
    /// How long nothing goes after a removal failed.
    DelayAfterFailure,
    /// How long a node that could not go is left alone.
    UnremovableRecheck,
    /// How long a bought machine may take to become a node.
    ProvisionTime,
    /// How long a node may take to become ready.
    StartupTime,
    /// How long the order of a machine may take at the cloud.
    CreationTimeout,
    /// The first back-off of a pool whose order failed.
    BackoffInitial,
    /// The longest.
    BackoffMax,
    /// How long an eviction is tried.
    EvictionTime,
    /// How long a pod may take to end.
    GracefulTermination,
    /// From the taint to the first eviction.
    DeleteDelayAfterTaint,
    /// How long a delay-deletion annotation is respected.
    DeletionDelay,
    /// How long a system pod blocks its node.
    SystemPodBlocks,
    /// How long a lease is good for.
    LeaseDuration,
    /// How long the leader tries to renew it.
    LeaseRenewDeadline,
    /// After so long without a loop it is unhealthy.
    MaxInactivity,
    /// After so long without a loop that succeeded.
    MaxFailing,
    /// After so long without a first loop that succeeded; until then neither of those counts.
    MaxStartup,
    /// How old its view of the cloud may be.
    CloudCache,
    /// How old the status it publishes may be.
    StatusAge,
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The timers of a subject as it runs. A timer that is not there does not exist for it.
pub type Timers = BTreeMap<Timer, Period>;

/// How long something takes. Written as people write it: `10m`, `1h30m`, `250ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Period(pub Duration);

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&SpanPrinter::new().spacing(Spacing::None).unsigned_duration_to_string(&self.0))
    }
}

impl JsonSchema for Period {
    fn schema_name() -> Cow<'static, str> {
        "Period".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How long something takes: `10m`, `1h30m`, `250ms`.",
            "type": "string",
            "format": "period",
            "pattern": "^([0-9]+(h|m|s|ms))+$",
        })
    }
}

/// A text that is no period. Reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodError(String);

impl fmt::Display for PeriodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "read {:?} as a period: periods look like 10m, 1h30m or 250ms", self.0)
    }
}

impl std::error::Error for PeriodError {}

impl FromStr for Period {
    type Err = PeriodError;
    fn from_str(text: &str) -> Result<Self, PeriodError> {
        // The parser knows many ways to write the same; people are offered one.
        let compact = text.bytes().all(|byte| byte.is_ascii_digit() || b"hms".contains(&byte));
        let read = SpanParser::new().parse_unsigned_duration(text).ok().filter(|_| compact);
        read.map(Period).ok_or_else(|| PeriodError(text.to_owned()))
    }
}

impl TryFrom<String> for Period {
    type Error = PeriodError;
    fn try_from(text: String) -> Result<Self, PeriodError> {
        text.parse()
    }
}

impl From<Period> for String {
    fn from(period: Period) -> String {
        period.to_string()
    }
}

/// How cluster-autoscaler can choose among pools (FAQ, "What are Expanders?").
const EXPANDERS: [&str; 7] =
    ["random", "most-pods", "least-waste", "least-nodes", "price", "priority", "grpc"];

/// Something that a subject can be asked for, whatever its flag is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubjectOption {
    /// Fill pools up to their minimum: `true` or `false`.
    EnforceMin,
    /// How to choose among pools: `random`, `least-waste`, `priority`, …
    Expander,
    /// Not more nodes in all.
    MaxNodesTotal,
    /// `min:max` cores in all.
    CoresTotal,
    /// `min:max` GiB of memory in all.
    MemoryTotal,
    /// Whether system pods keep their node.
    SkipNodesWithSystemPods,
    /// Whether pods with local storage keep their node.
    SkipNodesWithLocalStorage,
    /// Pods of a lower priority do not count.
    ExpendablePodsPriorityCutoff,
    /// How much of a node may be used before it is needed, in percent.
    UtilizationThreshold,
    /// Replica sets with fewer replicas are left alone.
    MinReplicaCount,
    /// Whether nodes that are not ready are removed.
    UnreadyEnabled,
    /// Whether unregistered machines are removed below the minimum.
    ForceDeleteUnregistered,
    /// Feature gates: `Name=true`, several with commas.
    FeatureGates,
    /// A named way of being wrong, for scenarios that show that the harness has eyes: only `mock-autoscaler` has any.
    Defect,
}

impl SubjectOption {
    /// What its values look like, if no subject takes this one.
    pub fn refuses(self, value: &str) -> Option<&'static str> {
        let number = |text: &str| text.parse::<u64>().ok();
        let (fits, looks) = match self {
            Self::EnforceMin
            | Self::SkipNodesWithSystemPods
            | Self::SkipNodesWithLocalStorage
            | Self::UnreadyEnabled
            | Self::ForceDeleteUnregistered => {
                (["true", "false"].contains(&value), "it is `true` or `false`")
            }
            Self::Expander => (
                value.split(',').all(|word| EXPANDERS.contains(&word)),
                "there are `random`, `most-pods`, `least-waste`, `least-nodes`, `price`, `priority`, `grpc`, also several with commas",
            ),
            Self::MaxNodesTotal | Self::MinReplicaCount => (number(value).is_some(), "it is a number"),
            Self::CoresTotal | Self::MemoryTotal => {
                let bounds = value.split_once(':').map(|(min, max)| (number(min), number(max)));
                let fits = bounds.is_some_and(|(min, max)| min.is_some() && max.is_some() && min <= max);
                (fits, "it reads `min:max`, such as `0:64`")
            }
            Self::ExpendablePodsPriorityCutoff => (value.parse::<i32>().is_ok(), "it is a number"),
            Self::UtilizationThreshold => {
                (number(value).is_some_and(|share| share <= 100), "it is a share in percent, from 0 to 100")
            }
            Self::FeatureGates => {
                let gate =
                    |gate: &str| gate.split_once('=').is_some_and(|(_, on)| ["true", "false"].contains(&on));
                (value.split(',').all(gate), "it reads `Name=true`, several with commas")
            }
            Self::Defect => (true, ""),
        };
        (!fits).then_some(looks)
    }
}

impl fmt::Display for SubjectOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A node group, whatever the provider calls it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// What its machines are, by the cloud's name.
    pub machine: String,
    /// Where they are.
    pub location: String,
    /// Not fewer.
    pub min: u32,
    /// Not more.
    pub max: u32,
    /// Labels of its nodes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Taints of its nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Taint>,
    /// The higher is bought first, where the subject knows priorities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Further machines that its nodes may be instead, where the subject chooses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Taints of new nodes that somebody else takes away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub startup_taints: Vec<Taint>,
    /// Taints that its kubelets register with beside those that they have anyway.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registers_with: Vec<Taint>,
    /// How Karpenter disrupts its nodes, if the scenario says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disruption: Option<Disruption>,
    /// How many there are when the run begins, with their nodes.
    #[serde(default)]
    pub initial: u32,
    /// What one of its nodes has room for.
    pub room: Room,
}

impl Pool {
    /// The labels that cluster-autoscaler is told its nodes will have, and that their kubelets give them.
    pub fn node_labels(&self) -> BTreeMap<String, String> {
        let mut labels = self.labels.clone();
        labels.insert(Provider::Hetzner.pool_label().to_owned(), self.name.clone());
        labels
    }

    /// What its machines of the beginning are called, by who has bought them.
    pub fn first_machines(&self, buyer: Provider) -> impl Iterator<Item = String> {
        (0..self.initial).map(move |number| match buyer {
            Provider::Hetzner | Provider::Clusterapi => format!("{}-{number}", self.name),
            Provider::Karpenter => format!("{}-first-{}", self.name, number + 1),
        })
    }
}

/// What a node offers or a pod asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Room {
    /// Thousandths of a processor.
    pub cpu_milli: u64,
    /// Mebibytes of memory.
    pub memory_mib: u64,
}

impl Add for Room {
    type Output = Room;

    fn add(self, other: Room) -> Room {
        Room { cpu_milli: self.cpu_milli + other.cpu_milli, memory_mib: self.memory_mib + other.memory_mib }
    }
}

impl Sum for Room {
    fn sum<I: Iterator<Item = Room>>(rooms: I) -> Room {
        rooms.fold(Room::default(), Room::add)
    }
}

/// A taint of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Taint {
    /// Its key.
    pub key: String,
    /// Its value.
    #[serde(default)]
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    #[schemars(extend("enum" = ["NoSchedule", "PreferNoSchedule", "NoExecute"]))]
    pub effect: String,
}

/// One of the two APIs that a subject calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// The Kubernetes API.
    Kubernetes,
    /// The cloud's.
    Cloud,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_and_versions_are_written_as_they_are_read() {
        for text in ["10m", "1h30m", "250ms", "0s", "48h"] {
            assert_eq!(text.parse::<Period>().unwrap().to_string(), text);
        }
        for text in ["ten minutes", "-1s", "", "10", "10 minutes", "1d", "5s3m", "1.5h"] {
            assert!(text.parse::<Period>().is_err(), "{text}");
        }
        assert_eq!("v1.32.7".parse(), Ok(Version::new(1, 32, 7)));
        assert!("1.32".parse::<Version>().is_err() && "1.2.3.4".parse::<Version>().is_err());
    }
}
