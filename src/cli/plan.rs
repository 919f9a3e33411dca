//! `scaleproof plan`: the schedule of everything that a run will do, without doing it.

use std::path::PathBuf;

use super::{complain, files, say};
use crate::cloud;
use crate::exit::Exit;
use crate::plan;

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof plan suites/incidents/s3-a-server-that-never-comes.yaml
  scaleproof plan suites/incidents/s1-a-minimum-with-the-flag.yaml --subject cluster-autoscaler-hetzner --seed 7";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The scenario
    scenario: PathBuf,
    /// The profile of the subject: a path, or the name of one under fixtures/autoscalers
    #[arg(long, value_name = "PROFILE", default_value = "mock-autoscaler-hetzner")]
    subject: String,
    /// What everything is drawn from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// As JSON, as it stands in a history
    #[arg(long)]
    json: bool,
}

pub(super) fn plan(arguments: &Arguments) -> Result<Exit, Exit> {
    // Both are read, so that the mistakes of both are told.
    let (scenario, profile) = (files::scenario(&arguments.scenario), files::profile(&arguments.subject));
    let (scenario, profile) = (scenario?, profile?);
    let plan = plan::make(&scenario, &profile, arguments.seed, &cloud::room).map_err(|error| {
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
