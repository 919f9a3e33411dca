//! `scaleproof explain`: what an expectation means, in the words of the file that decides it.

use super::{complain, say};
use crate::check;
use crate::code::Code;
use crate::exit::Exit;

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof explain SU-01
  scaleproof list             shows all codes";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The code of an expectation
    #[arg(value_name = "CODE")]
    code: String,
}

pub(super) fn explain(arguments: &Arguments) -> Result<Exit, Exit> {
    let code: Code = arguments.code.to_uppercase().parse().map_err(|error| {
        complain(&format!("error: failed to {error}"));
        Exit::BadInput
    })?;
    let Some(words) = check::explain(&code) else {
        complain(&format!(
            "error: failed to find {code}: there is no such expectation; `scaleproof list` shows all"
        ));
        return Err(Exit::BadInput);
    };
    if let Some(expectation) = check::catalogue().into_iter().find(|one| one.code == code) {
        let providers: Vec<String> = expectation.providers.iter().map(ToString::to_string).collect();
        let providers = providers.join(", ");
        say(&format!("{code} {}: {} ({providers})\n", expectation.level, expectation.promise))?;
    }
    say(&words)?;
    Ok(Exit::Held)
}
