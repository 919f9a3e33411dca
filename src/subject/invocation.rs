//! What is really started: a profile with its blanks filled in. Pure.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::profile::Profile;
use crate::terms::{Period, Pool, SubjectOption, Timer, Timers};

/// What a run decides about one replica.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The program, if another than the profile's is asked for.
    pub binary: Option<PathBuf>,
    /// Its directory, which is the run's.
    pub directory: PathBuf,
    /// The file by which it finds the cluster.
    pub kubeconfig: PathBuf,
    /// Where the cloud's API is, with its version.
    pub cloud: String,
    /// Its token there.
    pub token: String,
    /// Its host name.
    pub host: String,
    /// The port for its health and metrics.
    pub port: u16,
    /// The certificate of the door's authority.
    pub ca: PathBuf,
    /// The door's proxy.
    pub proxy: String,
    /// Its pools.
    pub pools: Vec<Pool>,
    /// What it is asked for.
    pub options: BTreeMap<SubjectOption, String>,
    /// Its timers as they shall be.
    pub timers: Timers,
}

/// A command line with everything that belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its environment, which is all it gets.
    pub environment: BTreeMap<String, String>,
    /// Files to be written first, by name within its directory.
    pub files: BTreeMap<String, String>,
    /// Where it runs otherwise than its documents say.
    pub deviations: Vec<String>,
}

/// Why a profile cannot be started. Reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvocationError {
    /// It names no program, and none was given.
    NoProgram(String),
    /// It cannot be asked for this.
    Option(String, SubjectOption),
    /// It cannot be given this timer.
    Timer(String, Timer),
    /// It has a blank that nobody fills.
    Blank(String, String),
}

impl fmt::Display for InvocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProgram(profile) => {
                write!(f, "start {profile}: its profile names no program; name one with --binary PATH")
            }
            Self::Option(profile, option) => {
                write!(f, "start {profile}: the scenario asks for the option {option:?}, and the profile does not say how")
            }
            Self::Timer(profile, timer) => {
                write!(f, "start {profile}: the scenario sets the timer {timer:?}, and the profile does not say how")
            }
            Self::Blank(profile, blank) => write!(f, "start {profile}: nothing is known to put in place of {blank}"),
        }
    }
}

impl std::error::Error for InvocationError {}

/// Fills a profile's blanks in.
pub fn invocation(profile: &Profile, facts: &Facts) -> Result<Invocation, InvocationError> {
    let program = facts.binary.clone().or_else(|| profile.binary.as_ref().map(PathBuf::from));
    let program = program.ok_or_else(|| InvocationError::NoProgram(profile.name.clone()))?;
    let blanks = blanks(facts);
    let fill = |text: &String, more: &[(&str, String)]| {
        let known = blanks.iter().map(|(name, value)| (*name, value)).chain(more.iter().map(|(n, v)| (*n, v)));
        let filled = known.fold(text.clone(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value));
        match left_blank(&filled) {
            Some(blank) => Err(InvocationError::Blank(profile.name.clone(), blank)),
            None => Ok(filled),
        }
    };
    let mut arguments = Vec::new();
    for argument in &profile.arguments {
        arguments.push(fill(argument, &[])?);
    }
    for pool in &facts.pools {
        for argument in &profile.pool_arguments {
            arguments.push(fill(argument, &pool_blanks(pool))?);
        }
    }
    for (option, value) in &facts.options {
        let told = profile.options.get(option).ok_or(InvocationError::Option(profile.name.clone(), *option))?;
        for argument in told {
            arguments.push(fill(argument, &[("value", value.clone())])?);
        }
    }
    let mut deviations = profile.deviations.clone();
    for (timer, period) in changed(profile, facts) {
        let told = profile.timer_arguments.get(&timer);
        let told = told.ok_or(InvocationError::Timer(profile.name.clone(), timer))?;
        for argument in told {
            arguments.push(fill(argument, &[("value", period.to_string())])?);
        }
        let usual = profile.timers.get(&timer).map_or("nothing".to_owned(), Period::to_string);
        deviations.push(format!("{timer:?} is {period} instead of {usual}"));
    }
    let each = |texts: &BTreeMap<String, String>| {
        texts.iter().map(|(name, text)| Ok((name.clone(), fill(text, &[])?))).collect::<Result<BTreeMap<_, _>, _>>()
    };
    Ok(Invocation {
        program,
        arguments,
        environment: each(&profile.environment)?,
        files: each(&profile.files)?,
        deviations,
    })
}

/// Timers that are to be others than the profile's.
fn changed(profile: &Profile, facts: &Facts) -> Vec<(Timer, Period)> {
    let differs = |(timer, period): (&Timer, &Period)| {
        (profile.timers.get(timer) != Some(period)).then_some((*timer, *period))
    };
    facts.timers.iter().filter_map(differs).collect()
}

fn blanks(facts: &Facts) -> Vec<(&'static str, String)> {
    let shown = |path: &PathBuf| path.display().to_string();
    vec![
        ("directory", shown(&facts.directory)),
        ("kubeconfig", shown(&facts.kubeconfig)),
        ("cloud", facts.cloud.clone()),
        ("token", facts.token.clone()),
        ("host", facts.host.clone()),
        ("port", facts.port.to_string()),
        ("ca", shown(&facts.ca)),
        ("proxy", facts.proxy.clone()),
        ("node_configs", STANDARD.encode(node_configs(&facts.pools).to_string())),
    ]
}

fn pool_blanks(pool: &Pool) -> [(&'static str, String); 5] {
    [
        ("pool.name", pool.name.clone()),
        ("pool.min", pool.min.to_string()),
        ("pool.max", pool.max.to_string()),
        ("pool.machine", pool.machine.clone()),
        ("pool.location", pool.location.clone()),
    ]
}

/// What cluster-autoscaler wants to know of its pools at Hetzner.
fn node_configs(pools: &[Pool]) -> serde_json::Value {
    let configs: BTreeMap<&str, serde_json::Value> = pools
        .iter()
        .map(|pool| {
            let config = json!({
                "cloudInit": "#cloud-config\n",
                "labels": pool.labels,
                "taints": pool.taints.iter().map(|t| json!({"key": t.key, "value": t.value, "effect": t.effect})).collect::<Vec<_>>(),
            });
            (pool.name.as_str(), config)
        })
        .collect();
    json!({"imagesForArch": {"amd64": "ubuntu-24.04", "arm64": "ubuntu-24.04"}, "nodeConfigs": configs})
}

/// The first `{blank}` that was not filled in.
fn left_blank(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('{') {
        let name: String = after.chars().take_while(|c| c.is_ascii_lowercase() || matches!(c, '.' | '_')).collect();
        if !name.is_empty() && after[name.len()..].starts_with('}') {
            return Some(format!("{{{name}}}"));
        }
        rest = after;
    }
    None
}
