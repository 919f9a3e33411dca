//! `scaleproof schema`: the JSON schemas, for editors.

use super::say;
use crate::exit::Exit;
use crate::{scenario, subject};

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
