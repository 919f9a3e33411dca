//! `scaleproof explain`: what an expectation means, in the words of the file that decides it, or what a fault does.

use super::{complain, say};
use crate::check::{self, Expectation};
use crate::code::Code;
use crate::document::meant;
use crate::exit::Exit;
use crate::fault;

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof explain SU-01    an expectation
  scaleproof explain F102     a fault
  scaleproof list             shows all codes";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The code of an expectation or a fault
    #[arg(value_name = "CODE")]
    code: String,
}

pub(super) fn explain(arguments: &Arguments) -> Result<Exit, Exit> {
    let code: Code = arguments.code.to_uppercase().parse().map_err(|error| {
        complain(&format!("error: failed to {error}"));
        Exit::BadInput
    })?;
    let expectations = check::catalogue();
    if let Some(expectation) = expectations.iter().find(|expectation| expectation.code == code) {
        say(&heading(expectation))?;
        say(&check::explain(&code).unwrap_or_default())?;
        return Ok(Exit::Held);
    }
    if let Some(fault) = fault::catalogue().iter().find(|fault| fault.code == code.as_str()) {
        say(&format!(
            "{code} {name}: {}\n\nA scenario begins it with `hurt: {{{name}: …}}`.",
            fault.does,
            name = fault.name
        ))?;
        return Ok(Exit::Held);
    }
    let known = expectations.iter().map(|expectation| expectation.code.as_str());
    let known = known.chain(fault::catalogue().iter().map(|fault| fault.code));
    let family = letters(code.as_str());
    let near: Vec<&str> = known.filter(|known| letters(known) == family).collect();
    let hint = if near.is_empty() { String::new() } else { format!("; {}", meant(code.as_str(), near)) };
    complain(&format!(
        "error: failed to find {code}: no expectation and no fault is called so{hint}; `scaleproof list` shows all"
    ));
    Err(Exit::BadInput)
}

/// A code without its number.
fn letters(code: &str) -> &str {
    code.trim_end_matches(|char: char| char.is_ascii_digit())
}

/// What it promises, who promises it, and from which version on.
fn heading(expectation: &Expectation) -> String {
    let Expectation { code, level, promise, providers, versions, .. } = expectation;
    let providers: Vec<String> = providers.iter().map(ToString::to_string).collect();
    format!("{code} {level}: {promise} ({}; versions: {versions})\n", providers.join(", "))
}
