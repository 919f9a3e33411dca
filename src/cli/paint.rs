//! Whether results are coloured: what the environment asks for, then whether a terminal shows them.
//!
//! `NO_COLOR` (<https://no-color.org>) wins over `CLICOLOR_FORCE`, and both over what is known of the terminal.

use std::io::IsTerminal as _;

use crate::report::text::Paint;

/// For standard output.
pub(super) fn paint() -> Paint {
    chosen(|name| std::env::var(name).ok(), std::io::stdout().is_terminal())
}

/// What the variables ask for; one that is set to nothing is not set.
fn chosen(variable: impl Fn(&str) -> Option<String>, terminal: bool) -> Paint {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let is = |name: &str, value: &str| set(name).is_some_and(|set| set == value);
    let forced = set("CLICOLOR_FORCE").is_some_and(|force| force != "0");
    let shows = terminal && !is("CLICOLOR", "0") && !is("TERM", "dumb");
    if set("NO_COLOR").is_none() && (forced || shows) { Paint::Ansi } else { Paint::Plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_asked_before_the_terminal() {
        for (variables, terminal, paint) in [
            (&[][..], true, Paint::Ansi),
            (&[], false, Paint::Plain),
            (&[("NO_COLOR", "1")], true, Paint::Plain),
            (&[("NO_COLOR", "")], true, Paint::Ansi),
            (&[("CLICOLOR_FORCE", "1")], false, Paint::Ansi),
            (&[("CLICOLOR_FORCE", "0")], false, Paint::Plain),
            (&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], true, Paint::Plain),
            (&[("CLICOLOR", "0")], true, Paint::Plain),
            (&[("TERM", "dumb")], true, Paint::Plain),
        ] {
            let variable = |name: &str| {
                let set = variables.iter().find(|(known, _)| *known == name);
                set.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(chosen(variable, terminal), paint, "{variables:?}");
        }
    }
}
