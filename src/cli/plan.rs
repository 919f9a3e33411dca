//! `scaleproof plan`: the schedule of everything that a run will do, without doing it.

use std::path::PathBuf;

use super::{complain, files, flavour, say, seed};
use crate::cloud;
use crate::exit::Exit;
use crate::plan;

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof plan incidents/s3-a-server-that-never-comes
  scaleproof plan my-scenario.yaml --subject cluster-autoscaler-hetzner --seed 7";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The scenario
    scenario: PathBuf,
    /// The profile of the subject: a path, or the name of one that comes along; the autoscaler that comes along,
    /// if left out
    #[arg(long, value_name = "PROFILE")]
    subject: Option<String>,
    /// What everything is drawn from; drawn and told if left out
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// As JSON, as it stands in a history
    #[arg(long)]
    json: bool,
}

pub(super) fn plan(arguments: &Arguments) -> Result<Exit, Exit> {
    // Both are read, so that the mistakes of both are told.
    let scenario = files::scenario(&arguments.scenario);
    let named = arguments.subject.as_deref().map(files::profile);
    let scenario = scenario?;
    let profile = named.unwrap_or_else(|| files::profile(flavour::of(&scenario)?))?;
    let seed = arguments.seed.unwrap_or_else(seed::drawn);
    let plan = plan::make(&scenario, &profile, seed, &cloud::room).map_err(|error| {
        complain(&format!("error: {}: failed to {error}", arguments.scenario.display()));
        Exit::BadInput
    })?;
    if arguments.json {
        say(&serde_json::to_string_pretty(&plan).unwrap_or_default())?;
    } else {
        say(&format!("{}\n{plan}", scenario.title))?;
    }
    Ok(Exit::Held)
}
