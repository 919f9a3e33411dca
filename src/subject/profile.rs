//! A profile: how a build is started, what it is asked for by which flag, and what its timers are.
//!
//! In arguments, environment and files, `{…}` stands for what a run decides: the words of [`placeholder`]. Reading checks
//! them; [`fill`](super::Profile::fill) puts the values in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::placeholder;
use crate::document::{self, Keyed, Mistakes};
use crate::terms::{Karpenter, Period, Provider, SubjectOption, Timer, Timers, Version};

/// One file under `fixtures/autoscalers/`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What it is called.
    #[schemars(length(min = 1))]
    pub name: String,
    /// How it buys nodes.
    pub provider: Provider,
    /// The program, unless `--binary` names another; the word `mock-autoscaler` is the one that scaleproof brings along.
    #[serde(default)]
    pub binary: Option<String>,
    /// Its version, unless it can be asked.
    #[serde(default)]
    pub version: Option<Version>,
    /// Arguments that make it print its version, if there are any: the first version among its words is the one.
    #[serde(default)]
    pub version_arguments: Vec<String>,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Arguments that are repeated for each pool.
    #[serde(default)]
    pub pool_arguments: Vec<String>,
    /// Its environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Files that are written before it starts, by name within its directory.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Files, or folders of files, with custom resource definitions, of a vendor for instance: they take the place of ours
    /// of the same name. By their paths, as seen from where the run is started.
    #[serde(default)]
    pub crds: Vec<String>,
    /// Objects that it must find when it starts.
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    pub objects: Vec<Value>,
    /// How it is told of pools, if it is Karpenter.
    #[serde(default)]
    pub karpenter: Option<Karpenter>,
    /// How it reaches the cloud.
    #[serde(default)]
    pub flavour: Flavour,
    /// What each option adds to its arguments; one that is not here cannot be asked of it.
    #[serde(default)]
    #[schemars(with = "Keyed<SubjectOption, Vec<String>>")]
    pub options: BTreeMap<SubjectOption, Vec<String>>,
    /// Its timers by default: those of its documents.
    #[schemars(with = "Keyed<Timer, Period>")]
    pub timers: Timers,
    /// What sets a timer: what each adds to its arguments.
    #[serde(default)]
    #[schemars(with = "Keyed<Timer, Vec<String>>")]
    pub timer_arguments: BTreeMap<Timer, Vec<String>>,
    /// What each timer adds to its environment.
    #[serde(default)]
    #[schemars(with = "Keyed<Timer, BTreeMap<String, String>>")]
    pub timer_environment: BTreeMap<Timer, BTreeMap<String, String>>,
    /// What only later versions have.
    #[serde(default)]
    pub since: Since,
    /// Its health endpoint.
    #[serde(default)]
    pub health: Option<Health>,
    /// The lease that its leader holds. cluster-autoscaler's, if nothing is said and that is what it is.
    #[serde(default)]
    pub lease: Option<LeaseName>,
    /// Where it runs otherwise than its documents say, in words.
    #[serde(default)]
    pub deviations: Vec<String>,
}

/// What only later versions of a build have: each from this version on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Since {
    /// These timers.
    #[serde(default)]
    #[schemars(with = "Keyed<Timer, Version>")]
    pub timers: BTreeMap<Timer, Version>,
    /// What sets these timers.
    #[serde(default)]
    #[schemars(with = "Keyed<Timer, Version>")]
    pub timer_arguments: BTreeMap<Timer, Version>,
    /// These options.
    #[serde(default)]
    #[schemars(with = "Keyed<SubjectOption, Version>")]
    pub options: BTreeMap<SubjectOption, Version>,
}

impl Profile {
    /// The same for one version: without what that does not have. An unknown version is taken for the newest.
    #[must_use]
    pub fn at(mut self, version: Option<Version>) -> Profile {
        self.version = version.or(self.version);
        let version = self.version;
        let has = |since: Option<&Version>| match (version, since) {
            (Some(version), Some(since)) => version >= *since,
            _ => true,
        };
        let Since { timers, timer_arguments, options } = &self.since;
        self.timers.retain(|timer, _| has(timers.get(timer)));
        let sets = |timer: &Timer| has(timers.get(timer)) && has(timer_arguments.get(timer));
        self.timer_arguments.retain(|timer, _| sets(timer));
        self.timer_environment.retain(|timer, _| sets(timer));
        self.options.retain(|option, _| has(options.get(option)));
        self
    }

    /// The lease that its leader holds, if it elects one.
    pub fn leader_lease(&self) -> Option<LeaseName> {
        let of_provider = match self.provider {
            Provider::Hetzner | Provider::Clusterapi => {
                Some(LeaseName { namespace: "kube-system".to_owned(), name: "cluster-autoscaler".to_owned() })
            }
            Provider::Karpenter => None,
        };
        self.lease.clone().or(of_provider)
    }

    /// Whether a timer of it can be set otherwise than it is by default.
    pub fn sets(&self, timer: Timer) -> bool {
        self.timer_arguments.contains_key(&timer) || self.timer_environment.contains_key(&timer)
    }
}

/// Reads a profile, or tells every mistake in it at once.
pub fn read(file: &str, text: &str) -> Result<Profile, Mistakes> {
    document::read(file, text, |tree, mistakes| mistakes.extend(placeholder::mistakes(tree)))
}

/// The JSON schema of a profile: what [`read`] accepts, and what editors complete.
pub fn schema() -> Value {
    document::schema::<Profile>()
}

/// How a subject reaches the cloud.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Flavour {
    /// It is told the endpoint.
    #[default]
    Endpoint,
    /// It cannot be told: it goes through a proxy, and trusts its certificate.
    Proxy,
}

/// A lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseName {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// How a kubelet would find out whether it is well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// The path on its port.
    pub path: String,
    /// How often it is asked.
    pub every: Period,
    /// After so many bad answers it is started again.
    #[schemars(range(min = 1))]
    pub failures: u32,
}
