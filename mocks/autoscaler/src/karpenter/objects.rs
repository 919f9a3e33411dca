//! Karpenter's own objects, as far as they are read here: metadata, and the rest as it is written.

use std::borrow::Cow;

use jiff::Timestamp;
use kube::Resource;
use kube::api::ObjectMeta;
use kube::core::ClusterResourceScope;
use mock_clock::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) const POOL: &str = "karpenter.sh/nodepool";
pub(super) const FINALIZER: &str = "karpenter.sh/termination";
pub(super) const UNREGISTERED: &str = "karpenter.sh/unregistered";
pub(super) const DISRUPTED: &str = "karpenter.sh/disrupted";
pub(super) const REGISTERED: &str = "karpenter.sh/registered";
pub(super) const INITIALIZED: &str = "karpenter.sh/initialized";
pub(super) const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";
/// What the template of its pool was like when a claim was made.
pub(super) const HASH: &str = "karpenter.sh/nodepool-hash";
pub(super) const TYPE: &str = "node.kubernetes.io/instance-type";

macro_rules! object {
    ($name:ident, $kind:literal, $plural:literal, $what:literal) => {
        #[doc = $what]
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub(super) struct $name {
            #[serde(default)]
            api_version: String,
            #[serde(default)]
            kind: String,
            pub(super) metadata: ObjectMeta,
            #[serde(default)]
            pub(super) spec: Value,
            #[serde(default, skip_serializing_if = "Value::is_null")]
            pub(super) status: Value,
        }

        impl Resource for $name {
            type DynamicType = ();
            type Scope = ClusterResourceScope;

            fn kind((): &()) -> Cow<'_, str> {
                $kind.into()
            }

            fn group((): &()) -> Cow<'_, str> {
                "karpenter.sh".into()
            }

            fn version((): &()) -> Cow<'_, str> {
                "v1".into()
            }

            fn plural((): &()) -> Cow<'_, str> {
                $plural.into()
            }

            fn meta(&self) -> &ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut ObjectMeta {
                &mut self.metadata
            }
        }
    };
}

object!(NodePool, "NodePool", "nodepools", "A pool: what its nodes are like, and how many there may be.");
object!(NodeClaim, "NodeClaim", "nodeclaims", "A claim: one machine that is wanted, there, or going.");

impl NodePool {
    pub(super) fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }
}

impl NodeClaim {
    pub(super) fn new(metadata: ObjectMeta, spec: Value) -> Self {
        let (api_version, kind) = ("karpenter.sh/v1".to_owned(), "NodeClaim".to_owned());
        Self { api_version, kind, metadata, spec, status: Value::Null }
    }

    pub(super) fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    pub(super) fn pool(&self) -> &str {
        self.metadata.labels.as_ref().and_then(|labels| labels.get(POOL)).map_or("", String::as_str)
    }

    pub(super) fn is(&self, condition: &str) -> bool {
        self.since(condition).is_some()
    }

    /// Since when a condition is so.
    pub(super) fn since(&self, condition: &str) -> Option<Time> {
        let conditions = self.status["conditions"].as_array()?;
        let it = conditions.iter().find(|it| it["type"] == condition && it["status"] == "True")?;
        Some(it["lastTransitionTime"].as_str().and_then(moment).unwrap_or(Time::EPOCH))
    }

    pub(super) fn is_ending(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    pub(super) fn is_held(&self) -> bool {
        self.metadata.finalizers.iter().flatten().any(|finalizer| finalizer == FINALIZER)
    }

    pub(super) fn provider_id(&self) -> Option<&str> {
        self.status["providerID"].as_str().filter(|id| !id.is_empty())
    }

    pub(super) fn machine(&self) -> Option<&str> {
        let requirements = self.spec["requirements"].as_array()?;
        requirements.iter().find(|it| it["key"] == TYPE)?["values"][0].as_str()
    }
}

/// A moment as objects tell it.
pub(super) fn moment(text: &str) -> Option<Time> {
    text.parse::<Timestamp>()
        .ok()
        .and_then(|at| u64::try_from(at.as_nanosecond()).ok())
        .map(Time::from_unix_nanos)
}

/// The same of a typed object.
pub(super) fn at(time: &k8s_openapi::apimachinery::pkg::apis::meta::v1::Time) -> Time {
    u64::try_from(time.0.as_nanosecond()).map_or(Time::EPOCH, Time::from_unix_nanos)
}
