//! What the process was told: arguments and environment, checked before anything is written anywhere.

mod arguments;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;

pub(crate) use arguments::{Arguments, span};

use crate::defect::{Defect, Defects};
use crate::view::Taint;

/// A pool as it was configured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pool {
    pub(crate) name: String,
    pub(crate) min: usize,
    pub(crate) max: usize,
    pub(crate) server_type: String,
    pub(crate) location: String,
    /// What its nodes will say of themselves.
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) taints: Vec<Taint>,
    pub(crate) cloud_init: String,
    /// By architecture, as the server type has it; `None` is for all.
    pub(crate) images: BTreeMap<String, String>,
    pub(crate) server_labels: BTreeMap<String, String>,
    /// How long its nodes must be unneeded, if it says so itself.
    pub(crate) unneeded_time: Option<Duration>,
}

/// Everything that was told.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) arguments: Arguments,
    pub(crate) defects: Defects,
    pub(crate) pools: BTreeMap<String, Pool>,
    pub(crate) token: String,
    pub(crate) endpoint: String,
    pub(crate) image: String,
    pub(crate) network: Option<String>,
    pub(crate) creation_timeout: Duration,
}

impl Settings {
    /// Reads arguments and those variables of the environment that concern it.
    pub(crate) fn read(
        arguments: Arguments,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingsError> {
        let defects: Defects = arguments.defect.iter().copied().collect();
        if !["hetzner", "clusterapi", "karpenter"].contains(&arguments.cloud_provider.as_str()) {
            return Err(SettingsError::new(format!(
                "use cloud provider {:?}: known are hetzner, clusterapi and karpenter",
                arguments.cloud_provider
            )));
        }
        let known = ["least-waste", "priority", "random"];
        if let Some(expander) = arguments.expander.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(SettingsError::new(format!(
                "use expander {expander:?}: known are {}",
                known.join(", ")
            )));
        }
        if arguments.cloud_provider != "hetzner" {
            return Ok(Self::of_objects(arguments, defects));
        }
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let token = variable("HCLOUD_TOKEN")
            .ok_or_else(|| SettingsError::new("find HCLOUD_TOKEN in the environment"))?;
        let config = Config::read(&variable)?;
        let mut pools = BTreeMap::new();
        for text in &arguments.nodes {
            let pool = config.pool(text, &defects)?;
            pools.insert(pool.name.clone(), pool);
        }
        let endpoint =
            variable("HCLOUD_ENDPOINT").unwrap_or_else(|| "https://api.hetzner.cloud/v1".to_owned());
        let minutes = variable("HCLOUD_SERVER_CREATION_TIMEOUT").and_then(|text| text.parse().ok());
        let minutes = minutes.filter(|minutes| *minutes > 0 && !defects.has(Defect::IgnoresCreationTimeout));
        Ok(Self {
            defects,
            pools,
            token,
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            image: variable("HCLOUD_IMAGE").unwrap_or_else(|| "ubuntu-20.04".to_owned()),
            network: variable("HCLOUD_NETWORK"),
            creation_timeout: Duration::from_secs(60 * minutes.unwrap_or(5)),
            arguments,
        })
    }

    /// Where pools are objects, all else is read from the cluster.
    fn of_objects(arguments: Arguments, defects: Defects) -> Self {
        Self {
            arguments,
            defects,
            pools: BTreeMap::new(),
            token: String::new(),
            endpoint: String::new(),
            image: String::new(),
            network: None,
            creation_timeout: Duration::from_secs(300),
        }
    }

    /// Whether pools are machine deployments.
    pub(crate) fn is_of_deployments(&self) -> bool {
        self.arguments.cloud_provider == "clusterapi"
    }

    /// Whether pools are Karpenter's.
    pub(crate) fn is_of_claims(&self) -> bool {
        self.arguments.cloud_provider == "karpenter"
    }

    /// Whether the process has this defect.
    pub(crate) fn has(&self, defect: Defect) -> bool {
        self.defects.has(defect)
    }
}

/// The configuration of pools, in either of its two forms.
enum Config {
    /// One text for the machines of all pools.
    CloudInit(String),
    Cluster(ClusterConfig),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClusterConfig {
    #[serde(default)]
    images_for_arch: BTreeMap<String, String>,
    #[serde(default)]
    node_configs: BTreeMap<String, NodeConfig>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeConfig {
    cloud_init: String,
    labels: BTreeMap<String, String>,
    taints: Vec<Taint>,
    images_for_arch: BTreeMap<String, String>,
    server_labels: BTreeMap<String, String>,
}

impl Config {
    fn read(variable: &impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let decode = |name: &str, text: String| -> Result<Vec<u8>, SettingsError> {
            let wrong = |e| SettingsError::new(format!("read {name} as base64: {e}"));
            BASE64_STANDARD.decode(text.trim()).map_err(wrong)
        };
        let json = match variable("HCLOUD_CLUSTER_CONFIG") {
            Some(text) => Some(decode("HCLOUD_CLUSTER_CONFIG", text)?),
            None => variable("HCLOUD_CLUSTER_CONFIG_FILE")
                .map(|path| {
                    std::fs::read(&path).map_err(|e| {
                        SettingsError::new(format!("read HCLOUD_CLUSTER_CONFIG_FILE {path}: {e}"))
                    })
                })
                .transpose()?,
        };
        if let Some(json) = json {
            let config: ClusterConfig = serde_json::from_slice(&json)
                .map_err(|e| SettingsError::new(format!("read the cluster configuration as JSON: {e}")))?;
            if config.node_configs.is_empty() {
                return Err(SettingsError::new("find nodeConfigs in the cluster configuration"));
            }
            return Ok(Config::Cluster(config));
        }
        let text = variable("HCLOUD_CLOUD_INIT").ok_or_else(|| {
            SettingsError::new("find HCLOUD_CLUSTER_CONFIG, HCLOUD_CLUSTER_CONFIG_FILE or HCLOUD_CLOUD_INIT in the environment")
        })?;
        let bytes = decode("HCLOUD_CLOUD_INIT", text)?;
        Ok(Config::CloudInit(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The pool that `--nodes` describes.
    fn pool(&self, text: &str, defects: &Defects) -> Result<Pool, SettingsError> {
        let wrong = |what: &str| {
            SettingsError::new(format!("read --nodes={text} as min:max:type:location:name: {what}"))
        };
        let parts: Vec<&str> = text.splitn(5, ':').collect();
        let [min, max, server_type, location, name] = parts[..] else {
            return Err(wrong("five parts are needed"));
        };
        let min = min.parse().map_err(|_| wrong("the minimum is no number"))?;
        let max = max.parse().map_err(|_| wrong("the maximum is no number"))?;
        if min > max {
            return Err(wrong("the minimum is above the maximum"));
        }
        if name.is_empty() {
            return Err(wrong("the name is empty"));
        }
        let (node, images) = match self {
            Config::CloudInit(text) => {
                (NodeConfig { cloud_init: text.clone(), ..NodeConfig::default() }, None)
            }
            Config::Cluster(config) => match config.node_configs.get(name) {
                Some(node) => (node.clone(), Some(&config.images_for_arch)),
                None if defects.has(Defect::AcceptsBadPools) => (NodeConfig::default(), None),
                None => {
                    return Err(SettingsError::new(format!(
                        "find pool {name} in nodeConfigs of the cluster configuration"
                    )));
                }
            },
        };
        let mut all_images = images.cloned().unwrap_or_default();
        all_images.extend(node.images_for_arch);
        Ok(Pool {
            name: name.to_owned(),
            min,
            max,
            server_type: server_type.to_lowercase(),
            location: location.to_lowercase(),
            labels: node.labels,
            taints: node.taints,
            cloud_init: node.cloud_init,
            images: all_images,
            server_labels: node.server_labels,
            unneeded_time: None,
        })
    }
}

/// Why the process cannot start. Reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingsError(String);

impl SettingsError {
    fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

#[cfg(test)]
pub(crate) mod tests {
    use clap::Parser as _;

    use super::*;

    /// Settings of these arguments, with pools that need no configuration.
    pub(crate) fn told(arguments: &[&str]) -> Result<Settings, SettingsError> {
        let all = std::iter::once("mock-autoscaler").chain(arguments.iter().copied());
        let variable = |name: &str| match name {
            "HCLOUD_TOKEN" => Some("secret".to_owned()),
            "HCLOUD_CLOUD_INIT" => Some(BASE64_STANDARD.encode("#cloud-config")),
            _ => None,
        };
        Settings::read(Arguments::try_parse_from(all).unwrap(), variable)
    }

    #[test]
    fn a_pool_is_read() {
        let settings = told(&["--nodes=1:3:CX23:FSN1:workers:a"]).unwrap();
        let pool = &settings.pools["workers:a"];
        assert_eq!((pool.min, pool.max), (1, 3));
        assert_eq!((pool.server_type.as_str(), pool.location.as_str()), ("cx23", "fsn1"));
        assert_eq!(settings.creation_timeout, Duration::from_secs(300));
    }

    #[test]
    fn bad_pools_are_refused() {
        for wrong in ["1:3:cx23:fsn1", "x:3:cx23:fsn1:p", "4:3:cx23:fsn1:p", "0:1:cx23:fsn1:"] {
            assert!(told(&[&format!("--nodes={wrong}")]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pool_needs_its_configuration() {
        let config = r#"{"imagesForArch": {"amd64": "all"}, "nodeConfigs": {"a": {"labels": {"x": "y"},
            "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}], "imagesForArch": {"arm64": "own"}}}}"#;
        let read = |pool: &str, more: &[&str]| {
            let mut arguments = vec!["x".to_owned(), format!("--nodes=0:3:cx23:fsn1:{pool}")];
            arguments.extend(more.iter().map(|more| (*more).to_owned()));
            let variable = |name: &str| match name {
                "HCLOUD_TOKEN" => Some("secret".to_owned()),
                "HCLOUD_CLUSTER_CONFIG" => Some(BASE64_STANDARD.encode(config)),
                _ => None,
            };
            Settings::read(Arguments::try_parse_from(arguments).unwrap(), variable)
        };
        let settings = read("a", &[]).unwrap();
        let pool = &settings.pools["a"];
        assert_eq!(pool.labels["x"], "y");
        assert_eq!(pool.taints[0].key, "k");
        assert_eq!((pool.images["amd64"].as_str(), pool.images["arm64"].as_str()), ("all", "own"));
        assert!(read("b", &[]).is_err());
        assert!(read("b", &["--defect=accepts-bad-pools"]).is_ok());
    }
}
