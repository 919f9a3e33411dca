//! `scaleproof schema`: the JSON schemas, for editors.

use super::say;
use crate::exit::Exit;
use crate::{scenario, subject};

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof schema > scenario.schema.json
  scaleproof schema profile > profile.schema.json

A first line such as `# yaml-language-server: $schema=scenario.schema.json` makes editors complete a scenario.";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Of what
    #[arg(value_enum, default_value = "scenario")]
    of: Of,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Of {
    Scenario,
    Profile,
}

pub(super) fn schema(arguments: &Arguments) -> Result<Exit, Exit> {
    let schema = match arguments.of {
        Of::Scenario => scenario::schema(),
        Of::Profile => subject::schema(),
    };
    say(&serde_json::to_string_pretty(&schema).unwrap_or_default())?;
    Ok(Exit::Held)
}
