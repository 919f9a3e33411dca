//! `scaleproof explain`: what an expectation means, in the words of the file that decides it, or what a fault does.

use serde_json::Value;

use super::fields::Grammar;
use super::{complain, say};
use crate::check::{self, Expectation};
use crate::code::Code;
use crate::document::meant;
use crate::exit::Exit;
use crate::fault::{self, Described};
use crate::scenario;

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof explain SU-01    an expectation
  scaleproof explain F102     a fault, and all that can be written of it
  scaleproof explain calls    the same by its name
  scaleproof explain sold_out a trouble of the cloud
  scaleproof list             shows all codes";

/// What can hurt, in the grammar of scenarios.
const HURT: &str = "Hurt";
/// The fault that is a trouble of the cloud.
const CLOUD: &str = "cloud";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The code of an expectation or a fault, the name of a fault, or the kind of a trouble of the cloud
    #[arg(value_name = "CODE")]
    code: String,
}

pub(super) fn explain(arguments: &Arguments) -> Result<Exit, Exit> {
    let asked = arguments.code.as_str();
    let grammar = Grammar::new(scenario::schema());
    if let Some(fault) = fault::catalogue().iter().find(|fault| fault.name == asked) {
        return say(&of_fault(fault, &grammar)).map(|()| Exit::Held);
    }
    let troubles = grammar.of(HURT, CLOUD).unwrap_or(&Value::Null);
    if let Some(told) = grammar.named(troubles, asked) {
        return say(&format!("a trouble of the cloud: `hurt: {{cloud: {{…}}}}`\n\n{told}"))
            .map(|()| Exit::Held);
    }
    let code: Code = asked.to_uppercase().parse().map_err(|_| {
        let faults = fault::catalogue().iter().map(|fault| fault.name);
        let near = meant(asked, faults.chain(grammar.words(troubles)));
        complain(&format!(
            "error: failed to find {asked}: it is no code such as SU-01, no fault and no trouble of the cloud; {near}"
        ));
        Exit::BadInput
    })?;
    let expectations = check::catalogue();
    if let Some(expectation) = expectations.iter().find(|expectation| expectation.code == code) {
        say(&heading(expectation))?;
        say(&check::explain(&code).unwrap_or_default())?;
        return Ok(Exit::Held);
    }
    if let Some(fault) = fault::catalogue().iter().find(|fault| fault.code == code.as_str()) {
        return say(&of_fault(fault, &grammar)).map(|()| Exit::Held);
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

/// What a fault does, and all that a scenario can write of it.
fn of_fault(fault: &Described, grammar: &Grammar) -> String {
    let Described { code, name, does } = fault;
    let told = grammar.of(HURT, name).map(|schema| grammar.told(schema)).unwrap_or_default();
    let what = if told.is_empty() { String::new() } else { format!(" What stands there:\n\n{told}") };
    format!("{code} {name}: {does}\n\nA scenario begins it with `hurt: {{{name}: …}}`.{what}")
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
