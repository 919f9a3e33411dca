//! `scaleproof completions`: what a shell needs to complete words, files and flags.

use clap_complete::Shell;

use super::say;
use crate::exit::Exit;

pub(super) const EXAMPLES: &str = "Examples:
  source <(scaleproof completions bash)
  scaleproof completions zsh > ~/.zfunc/_scaleproof
  scaleproof completions fish > ~/.config/fish/completions/scaleproof.fish";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// For this shell
    #[arg(value_enum)]
    shell: Shell,
}

/// `command` is the whole command line.
pub(super) fn completions(arguments: &Arguments, mut command: clap::Command) -> Result<Exit, Exit> {
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    say(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Held)
}
