//! `scaleproof up`: cluster, cloud and world without a subject, to be looked at by hand until Ctrl-C.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mock_clock::{Clock as _, ClockError, Mode, Rate, VirtualClock};
use serde_json::{Map, Value, json};

use super::interruption::Interruption;
use super::{complain, files, say, seed};
use crate::cloud;
use crate::cluster::Choice;
use crate::exit::Exit;
use crate::plan::{self, Plan};
use crate::run::{Place, stand};

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof up
  scaleproof up --pool workers=cx33:1:5 --pool arm=cax21:0:3
  scaleproof up incidents/s2-a-system-pod-pins-its-node --time 10

Servers that are bought become nodes, those with the label hcloud/node-group=POOL with the labels and taints of that pool.
A pool begins with its minimum of nodes. Time passes as real time does, some minutes behind it, or at a constant rate:
whatever is started by hand is not on the clock, and idle time cannot be skipped for it. With Ctrl-C all of it is gone.";

/// How fast time passes until everything stands.
const RATE_AT_FIRST: f64 = 60.0;
/// How long that takes at most, in virtual time: whoever looks at it shall not find anything to be from the future.
const AT_FIRST: Duration = Duration::from_secs(5 * 60);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A scenario whose pools, fixed nodes and workloads there are; its steps are not done
    #[arg(value_name = "FILE", conflicts_with = "pools")]
    scenario: Option<PathBuf>,
    /// A pool: its name, its machines, how many at least and at most
    #[arg(long = "pool", value_name = "NAME=TYPE:MIN:MAX", value_parser = pool)]
    pools: Vec<Pool>,
    /// The profile of the subject for whom it is: a path, or the name of one that comes along
    #[arg(long, value_name = "PROFILE", default_value = "mock-autoscaler-hetzner")]
    subject: String,
    /// How time passes: real, or so many times as fast
    #[arg(long, value_name = "MODE", default_value = "real", value_parser = rate)]
    time: Rate,
    /// What names and tokens are drawn from; drawn and told if left out
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Pool {
    name: String,
    machine: String,
    min: u32,
    max: u32,
}

fn pool(text: &str) -> Result<Pool, String> {
    let refused = || "a pool reads NAME=TYPE:MIN:MAX, such as workers=cx33:1:5".to_owned();
    let (name, rest) = text.split_once('=').ok_or_else(refused)?;
    let parts: Vec<&str> = rest.split(':').collect();
    let [machine, min, max] = parts.as_slice() else { return Err(refused()) };
    let number = |text: &str| text.parse::<u32>().map_err(|_| refused());
    Ok(Pool { name: name.to_owned(), machine: (*machine).to_owned(), min: number(min)?, max: number(max)? })
}

fn rate(text: &str) -> Result<Rate, String> {
    match text.parse().map_err(|e: mock_clock::RateError| format!("failed to {e}"))? {
        Mode::IdleSkip(_) => {
            Err("idle time cannot be skipped for programs that are started by hand: real, or a rate"
                .to_owned())
        }
        Mode::Real => Ok(Rate::ONE),
        Mode::Constant(rate) => Ok(rate),
    }
}

pub(super) fn up(arguments: &Arguments) -> Result<Exit, Exit> {
    let seed = arguments.seed.unwrap_or_else(seed::drawn);
    let plan = plan(arguments, seed)?;
    let failed = |exit: Exit, why: String| {
        complain(&format!("error: failed to {why}"));
        exit
    };
    let directory = std::env::temp_dir().join(format!("scaleproof-up-{}", std::process::id()));
    let made = fs::create_dir_all(&directory);
    made.map_err(|e| failed(Exit::Missing, format!("make the folder {}: {e}", directory.display())))?;
    let done = stay(arguments, &plan, &directory);
    let _ = fs::remove_dir_all(&directory);
    done.map(|()| Exit::Held).map_err(|(exit, why)| failed(exit, why))
}

/// What there is to be: a scenario in which nothing happens.
fn plan(arguments: &Arguments, seed: u64) -> Result<Plan, Exit> {
    let profile = files::profile(&arguments.subject)?;
    let mut scenario = match &arguments.scenario {
        Some(path) => files::scenario(path)?,
        None => files::scenario_of("--pool", &pools(&arguments.pools))?,
    };
    scenario.given.replicas = 0;
    scenario.steps.clear();
    plan::make(&scenario, &profile, seed, &cloud::room).map_err(|error| {
        complain(&format!("error: failed to {error}"));
        Exit::BadInput
    })
}

/// A scenario with these pools, as somebody would write it.
fn pools(pools: &[Pool]) -> String {
    let given: Map<String, Value> = pools
        .iter()
        .map(|pool| {
            let Pool { name, machine, min, max } = pool;
            (name.clone(), json!({"type": machine, "min": min, "max": max, "initial": min}))
        })
        .collect();
    let given =
        if given.is_empty() { json!({"workers": {"min": 0, "max": 5}}) } else { Value::Object(given) };
    // JSON is YAML.
    json!({"title": "what there is", "expect": [], "given": {"pools": given}, "steps": []}).to_string()
}

/// Sets everything up, says where it is, and waits for the end.
fn stay(arguments: &Arguments, plan: &Plan, directory: &Path) -> Result<(), (Exit, String)> {
    let missing = |e: String| (Exit::Missing, e);
    let clock = behind().map_err(|e| missing(e.to_string()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|e| missing(format!("start: {e}")))?;
    let kubeconfig = directory.join("kubeconfig");
    complain("starting; Ctrl-C ends it");
    let mut told = Ok(());
    let cluster = Choice::Embedded.cluster(plan.seed, directory);
    let stands = |place: Place| {
        told = clock.set_rate(arguments.time).map_err(|e| missing(e.to_string()));
        if told.is_ok() {
            told = tell(&kubeconfig, &place, plan.seed);
        }
    };
    let done = runtime.block_on(async {
        let mut interruption = Interruption::listen();
        stand(&clock, plan, cluster, stands, interruption.next()).await
    });
    done.map_err(|e| missing(e.to_string())).and(told)
}

/// A clock that is fast at first, and behind the machine's so that it does not overtake it.
fn behind() -> Result<VirtualClock, ClockError> {
    let date = VirtualClock::start(Mode::Real, None)?.now() - AT_FIRST;
    let rate = Rate::new(RATE_AT_FIRST).unwrap_or(Rate::ONE);
    VirtualClock::start(Mode::Constant(rate), Some(date))
}

/// Writes the kubeconfig, and says how all this is used.
fn tell(kubeconfig: &Path, place: &Place, seed: u64) -> Result<(), (Exit, String)> {
    fs::write(kubeconfig, &place.kubeconfig)
        .map_err(|e| (Exit::Missing, format!("write {}: {e}", kubeconfig.display())))?;
    let Place { cluster, cloud, token, .. } = place;
    let text = format!(
        "cluster     {cluster}
kubeconfig  {kubeconfig}
cloud       {cloud}
token       {token}
seed        {seed}

To look at it, in another shell:

  export KUBECONFIG={kubeconfig}
  export HCLOUD_ENDPOINT={cloud} HCLOUD_TOKEN={token}
  kubectl get nodes
  hcloud server list
",
        kubeconfig = kubeconfig.display()
    );
    say(&text).map_err(|exit| (exit, "say where it is".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_are_read_and_nothing_else_is() {
        let read = Pool { name: "workers".to_owned(), machine: "cx33".to_owned(), min: 1, max: 5 };
        assert_eq!(pool("workers=cx33:1:5"), Ok(read));
        for other in ["", "workers", "workers=cx33", "workers=cx33:1", "a=b:1:2:3", "a=b:-1:2", "a=b:x:2"] {
            assert!(pool(other).is_err(), "{other}");
        }
        assert!(rate("idle-skip").is_err() && rate("30").is_ok() && rate("fast").is_err());
        assert_eq!(rate("real"), Ok(Rate::ONE));
    }
}
