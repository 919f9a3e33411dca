//! A profile with everything in its place: the command line, environment and files of one replica. Pure; it starts
//! nothing.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::Profile;
use super::placeholder::{Piece, pieces};
use crate::terms::{CLUSTER_NAME, Period, Pool, SubjectOption, Timer, Timers};

/// What a run has decided for a replica.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// The file that says how to reach the Kubernetes API.
    pub kubeconfig: &'a str,
    /// The endpoint of the cloud's API, with its version.
    pub cloud: &'a str,
    /// The token for it.
    pub token: &'a str,
    /// The host name of the replica.
    pub host: &'a str,
    /// A free port for its health and its metrics.
    pub port: &'a str,
    /// A directory of its own.
    pub directory: &'a str,
    /// A file with the certificate of the door.
    pub ca: &'a str,
    /// The address of the door as a proxy.
    pub proxy: &'a str,
    /// The pools.
    pub pools: &'a [Pool],
    /// What it is asked to do otherwise than by default.
    pub options: &'a BTreeMap<SubjectOption, String>,
    /// Its timers; those that are not its defaults are set.
    pub timers: &'a Timers,
    /// Arguments after all others, and variables in the place of others: both as they are.
    pub more: Option<(&'a [String], &'a BTreeMap<String, String>)>,
}

/// What a replica is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its environment; it has no other.
    pub environment: BTreeMap<String, String>,
    /// Files to be written before, by name within its directory.
    pub files: BTreeMap<String, String>,
}

impl<'a> Circumstances<'a> {
    /// What every replica is told, with the words of the profile for what each is told for itself.
    pub fn of_all(
        pools: &'a [Pool],
        options: &'a BTreeMap<SubjectOption, String>,
        timers: &'a Timers,
    ) -> Circumstances<'a> {
        Circumstances {
            kubeconfig: "{kubeconfig}",
            cloud: "{cloud}",
            token: "{token}",
            host: "{host}",
            port: "{port}",
            directory: "{directory}",
            ca: "{ca}",
            proxy: "{proxy}",
            pools,
            options,
            timers,
            more: None,
        }
    }

    /// The same with these arguments and variables.
    #[must_use]
    pub fn and(self, arguments: &'a [String], environment: &'a BTreeMap<String, String>) -> Self {
        Circumstances { more: Some((arguments, environment)), ..self }
    }
}

/// Why a profile cannot be filled. Reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FillError {
    /// Nothing is known of this placeholder.
    Placeholder(String),
    /// A timer must be whole minutes, or whole seconds.
    Uneven(Timer, Period),
}

impl fmt::Display for FillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FillError::Placeholder(word) => write!(f, "fill in {{{word}}}: nothing is known of it here"),
            FillError::Uneven(timer, period) => {
                write!(
                    f,
                    "set {timer} to {period}: this subject is told it in whole units that it does not fit"
                )
            }
        }
    }
}

impl std::error::Error for FillError {}

impl Profile {
    /// What one replica is started with.
    pub fn fill(&self, of: &Circumstances<'_>) -> Result<Filled, FillError> {
        let plain = |word: &str| of.word(word);
        let mut arguments = texts(&self.arguments, plain)?;
        for pool in of.pools {
            arguments
                .extend(texts(&self.pool_arguments, |word| pool_word(pool, word).or_else(|| of.word(word)))?);
        }
        for (option, value) in of.options {
            let written = self.options.get(option).map(Vec::as_slice).unwrap_or_default();
            let word = |word: &str| option_word(value, word).or_else(|| of.word(word));
            arguments.extend(texts(written, word)?);
        }
        let mut environment = map(&self.environment, plain)?;
        let set = of.timers.iter().filter(|(timer, period)| self.timers.get(timer) != Some(period));
        for (timer, period) in set {
            let word = |word: &str| period_word(*period, word).or_else(|| of.word(word));
            let uneven = |_| FillError::Uneven(*timer, *period);
            let written = self.timer_arguments.get(timer).map(Vec::as_slice).unwrap_or_default();
            arguments.extend(texts(written, word).map_err(uneven)?);
            if let Some(written) = self.timer_environment.get(timer) {
                environment.extend(map(written, word).map_err(uneven)?);
            }
        }
        if let Some((more, variables)) = of.more {
            arguments.extend_from_slice(more);
            environment.extend(variables.clone());
        }
        Ok(Filled { arguments, environment, files: map(&self.files, plain)? })
    }

    /// The objects that it must find, in a cloud with this network.
    pub fn objects(&self, network: u64) -> Vec<Value> {
        let mut objects = self.objects.clone();
        for object in &mut objects {
            fill_in(object, network);
        }
        objects
    }
}

/// A number in the place of the word for it; within a text, its digits.
fn fill_in(value: &mut Value, network: u64) {
    match value {
        Value::String(text) if text == "{network}" => *value = json!(network),
        Value::String(text) => *text = text.replace("{network}", &network.to_string()),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_in(item, network)),
        Value::Object(fields) => fields.values_mut().for_each(|field| fill_in(field, network)),
        _ => {}
    }
}

impl Circumstances<'_> {
    fn word(&self, word: &str) -> Option<String> {
        Some(match word {
            "kubeconfig" => self.kubeconfig.to_owned(),
            "cloud" => self.cloud.to_owned(),
            "token" => self.token.to_owned(),
            "host" => self.host.to_owned(),
            "port" => self.port.to_owned(),
            "directory" => self.directory.to_owned(),
            "ca" => self.ca.to_owned(),
            "proxy" => self.proxy.to_owned(),
            "cluster_config" => BASE64_STANDARD.encode(cluster_config(self.pools).to_string()),
            "cluster_name" => CLUSTER_NAME.to_owned(),
            _ => return None,
        })
    }
}

/// The pools as the hetzner provider of cluster-autoscaler reads them from `HCLOUD_CLUSTER_CONFIG`.
fn cluster_config(pools: &[Pool]) -> Value {
    let node = |pool: &Pool| {
        let taints: Vec<Value> = pool
            .taints
            .iter()
            .map(|taint| json!({"key": taint.key, "value": taint.value, "effect": taint.effect}))
            .collect();
        json!({"cloudInit": "#cloud-config\n", "labels": pool.labels, "taints": taints})
    };
    let nodes: serde_json::Map<String, Value> =
        pools.iter().map(|pool| (pool.name.clone(), node(pool))).collect();
    json!({"imagesForArch": {"amd64": "ubuntu-24.04", "arm64": "ubuntu-24.04"}, "nodeConfigs": nodes})
}

fn pool_word(pool: &Pool, word: &str) -> Option<String> {
    Some(match word {
        "pool.name" => pool.name.clone(),
        "pool.min" => pool.min.to_string(),
        "pool.max" => pool.max.to_string(),
        "pool.machine" => pool.machine.clone(),
        "pool.location" => pool.location.clone(),
        _ => return None,
    })
}

fn option_word(value: &str, word: &str) -> Option<String> {
    match word {
        "value" => Some(value.to_owned()),
        // What people write in percent, of one.
        "value.share" => {
            value.parse().ok().map(|percent: u32| format!("{}.{:02}", percent / 100, percent % 100))
        }
        _ => None,
    }
}

fn period_word(Period(period): Period, word: &str) -> Option<String> {
    let seconds = (period.subsec_nanos() == 0).then_some(period.as_secs());
    match word {
        "value" => Some(Period(period).to_string()),
        "value.seconds" => seconds.map(|seconds| seconds.to_string()),
        "value.minutes" => {
            seconds.filter(|seconds| seconds % 60 == 0).map(|seconds| (seconds / 60).to_string())
        }
        _ => None,
    }
}

fn map(
    texts: &BTreeMap<String, String>,
    word: impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, FillError> {
    texts.iter().map(|(name, value)| Ok((name.clone(), text(value, &word)?))).collect()
}

fn texts(texts: &[String], word: impl Fn(&str) -> Option<String>) -> Result<Vec<String>, FillError> {
    texts.iter().map(|one| text(one, &word)).collect()
}

fn text(written: &str, word: &impl Fn(&str) -> Option<String>) -> Result<String, FillError> {
    let mut filled = String::new();
    for piece in pieces(written) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Word(name) => {
                filled.push_str(&word(name).ok_or_else(|| FillError::Placeholder(name.to_owned()))?);
            }
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::subject;
    use crate::terms::{Room, Taint, Version};

    const MOCK: &str = include_str!("../../fixtures/autoscalers/mock-autoscaler-hetzner.yaml");
    const REAL: &str = include_str!("../../fixtures/autoscalers/cluster-autoscaler-hetzner.yaml");
    const PROXY: &str = include_str!("../../fixtures/autoscalers/cluster-autoscaler-hetzner-proxy.yaml");
    const KARPENTER: &str = include_str!("../../fixtures/autoscalers/karpenter-hetzner.yaml");

    fn profile(text: &str) -> Profile {
        subject::read("profile.yaml", text).unwrap()
    }

    fn pool(name: &str) -> Pool {
        Pool {
            name: name.to_owned(),
            machine: "cx33".to_owned(),
            location: "fsn1".to_owned(),
            min: 1,
            max: 5,
            labels: [("team".to_owned(), "a".to_owned())].into(),
            taints: vec![Taint { key: "gpu".into(), value: "yes".into(), effect: "NoSchedule".into() }],
            priority: None,
            also: vec![],
            startup_taints: vec![],
            registers_with: Vec::new(),
            disruption: None,
            initial: 0,
            room: Room::default(),
        }
    }

    fn filled(
        profile: &Profile,
        options: &[(SubjectOption, &str)],
        timers: &[(Timer, u64)],
    ) -> Result<Filled, FillError> {
        let options = options.iter().map(|(option, value)| (*option, (*value).to_owned())).collect();
        let mut all = profile.timers.clone();
        all.extend(timers.iter().map(|(timer, s)| (*timer, Period(Duration::from_secs(*s)))));
        profile.fill(&Circumstances {
            kubeconfig: "/run/kubeconfig",
            cloud: "http://127.0.0.1:1/v1",
            token: "secret",
            host: "one",
            port: "8085",
            directory: "/run/one",
            ca: "/run/ca.pem",
            proxy: "http://127.0.0.1:2",
            pools: &[pool("small"), pool("large")],
            options: &options,
            timers: &all,
            more: None,
        })
    }

    #[test]
    fn at_its_defaults_no_timer_is_set() {
        let filled = filled(&profile(REAL), &[], &[]).unwrap();
        let expected = [
            "--cloud-provider=hetzner",
            "--kubeconfig=/run/kubeconfig",
            "--address=127.0.0.1:8085",
            "--v=4",
            "--nodes=1:5:cx33:fsn1:small",
            "--nodes=1:5:cx33:fsn1:large",
        ];
        assert_eq!(filled.arguments, expected);
        assert_eq!(filled.environment["HCLOUD_ENDPOINT"], "http://127.0.0.1:1/v1");
        assert!(!filled.environment.contains_key("HCLOUD_SERVER_CREATION_TIMEOUT"));
        let config = BASE64_STANDARD.decode(&filled.environment["HCLOUD_CLUSTER_CONFIG"]).unwrap();
        let config: Value = serde_json::from_slice(&config).unwrap();
        let taints = json!([{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]);
        assert_eq!(config["nodeConfigs"]["large"]["taints"], taints);
        assert_eq!(config["nodeConfigs"]["small"]["labels"], json!({"team": "a"}));
    }

    #[test]
    fn what_each_replica_is_told_for_itself_stays_a_word() {
        let profile = profile(REAL);
        let pools = [pool("small")];
        let options = BTreeMap::new();
        let all = Circumstances::of_all(&pools, &options, &profile.timers);
        let filled = profile.fill(&all).unwrap();
        assert_eq!(filled.arguments[1..3], ["--kubeconfig={kubeconfig}", "--address=127.0.0.1:{port}"]);
        assert_eq!(filled.environment["HCLOUD_TOKEN"], "{token}");
        assert!(!filled.environment["HCLOUD_CLUSTER_CONFIG"].contains('{'));
    }

    #[test]
    fn options_and_timers_are_told() {
        let options = [(SubjectOption::EnforceMin, "true"), (SubjectOption::UtilizationThreshold, "70")];
        let timers =
            [(Timer::UnneededTime, 90), (Timer::GracefulTermination, 60), (Timer::CreationTimeout, 900)];
        for text in [MOCK, REAL, PROXY] {
            let filled = filled(&profile(text), &options, &timers).unwrap();
            for argument in [
                "--enforce-node-group-min-size=true",
                "--scale-down-utilization-threshold=0.70",
                "--scale-down-unneeded-time=1m30s",
                "--max-graceful-termination-sec=60",
            ] {
                assert!(filled.arguments.iter().any(|told| told == argument), "{argument}: {filled:?}");
            }
            assert_eq!(filled.environment["HCLOUD_SERVER_CREATION_TIMEOUT"], "15");
        }
        let uneven = filled(&profile(REAL), &[], &[(Timer::CreationTimeout, 90)]).unwrap_err();
        assert_eq!(
            uneven.to_string(),
            "set creation_timeout to 1m30s: this subject is told it in whole units that it does not fit"
        );
    }

    #[test]
    fn an_older_version_is_not_told_what_it_does_not_know() {
        let (old, new) = (Version::new(1, 32, 7), Version::new(1, 36, 1));
        let profile = profile(REAL);
        let newest = Profile { version: Some(new), ..profile.clone() };
        assert_eq!(profile.clone().at(Some(new)), newest);
        assert_eq!(profile.clone().at(None), profile);
        let old = profile.at(Some(old));
        assert!(!old.timers.contains_key(&Timer::SystemPodBlocks) && !old.sets(Timer::SystemPodBlocks));
        assert!(old.timers.contains_key(&Timer::StartupTime) && !old.sets(Timer::StartupTime));
        assert!(old.sets(Timer::LeaseDuration));
    }

    #[test]
    fn what_one_scenario_tells_comes_last_and_as_it_is() {
        let profile = profile(REAL);
        let (pools, options, timers) = (Vec::new(), BTreeMap::new(), profile.timers.clone());
        let (arguments, variables) =
            (vec!["--x={y}".to_owned()], BTreeMap::from([("HCLOUD_TOKEN".to_owned(), "other".to_owned())]));
        let told = Circumstances::of_all(&pools, &options, &timers).and(&arguments, &variables);
        let filled = profile.fill(&told).unwrap();
        assert_eq!(filled.arguments.last().map(String::as_str), Some("--x={y}"));
        assert_eq!(filled.environment["HCLOUD_TOKEN"], "other");
    }

    #[test]
    fn the_network_of_the_cloud_is_a_number_in_objects() {
        let karpenter = profile(KARPENTER);
        assert_eq!(karpenter.objects(7)[0]["spec"]["networkID"], json!(7));
        let wrong = KARPENTER.replace("{network}", "{networks}");
        let mistakes = subject::read("profile.yaml", &wrong).unwrap_err().to_string();
        assert!(mistakes.contains("nothing is known of `{networks}` here"), "{mistakes}");
    }

    #[test]
    fn a_subject_without_an_endpoint_goes_through_the_proxy() {
        let profile = profile(PROXY);
        assert_eq!(profile.flavour, subject::Flavour::Proxy);
        let environment = filled(&profile, &[], &[]).unwrap().environment;
        assert_eq!(environment["HTTPS_PROXY"], "http://127.0.0.1:2");
        assert_eq!(environment["SSL_CERT_FILE"], "/run/ca.pem");
        assert!(!environment.contains_key("HCLOUD_ENDPOINT"));
    }
}
