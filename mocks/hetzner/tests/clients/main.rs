//! The clients that Hetzner publishes do what their users do with them, each deed in an empty project of its own.
//!
//! - `cli/*.yaml`: commands of the `hcloud` CLI, and what is expected of each. Every CLI found runs every script:
//!   those that `HCLOUD=/an/hcloud:/another` names, otherwise the one on the `PATH`.
//! - `python/lives/*.py`: what a user of hcloud-python writes, with asserts. They run in the virtual environment that
//!   `.ci/clients` made, or by the interpreter that `HCLOUD_PYTHON` names.
//!
//! Where a client is missing its deeds are ignored, and that is said; with `CLIENTS=required` they fail.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

mod cli;
mod cloud;
mod find;
mod judge;
mod python;
mod script;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use cloud::Cloud;
use script::Script;

/// What a client does, and its name.
#[derive(Clone)]
enum Deed {
    Commands(Arc<Script>),
    Life(PathBuf),
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        rule("words_are_split_as_a_shell_does", script::words_are_split_as_a_shell_does),
        rule("expectations_convict", judge::expectations_convict),
    ];
    let commands: Vec<_> = Script::all().unwrap().into_iter().map(Arc::new).map(Deed::Commands).collect();
    let lives: Vec<_> = python::lives().unwrap().into_iter().map(Deed::Life).collect();
    trials.extend(trials_of("hcloud", &find::clis(), &commands));
    trials.extend(trials_of("python", find::python().as_slice(), &lives));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn rule(name: &str, run: fn()) -> Trial {
    Trial::test(name, move || {
        run();
        Ok(())
    })
}

/// Each client does each deed. If there is no client, that is said in their place.
fn trials_of(kind: &str, clients: &[PathBuf], deeds: &[Deed]) -> Vec<Trial> {
    if clients.is_empty() {
        return deeds.iter().map(|deed| missing(kind, deed)).collect();
    }
    let pairs = clients.iter().flat_map(|client| deeds.iter().map(move |deed| (client, deed)));
    pairs.map(|(client, deed)| trial(client, deed)).collect()
}

fn trial(client: &Path, deed: &Deed) -> Trial {
    let file = client.file_name().unwrap_or_default().to_string_lossy();
    let (client, deed) = (client.to_owned(), deed.clone());
    Trial::test(format!("{file}::{}", deed.name()), move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let held = runtime.block_on(async {
            let cloud = Cloud::start().await;
            match &deed {
                Deed::Commands(script) => cli::hold(&cloud, &client, script).await,
                Deed::Life(file) => python::live(&cloud, &client, file).await,
            }
        });
        held.map_err(Failed::from)
    })
}

fn missing(kind: &str, deed: &Deed) -> Trial {
    let required = env::var_os("CLIENTS").is_some_and(|wish| wish == "required");
    let said = format!(
        "there is no client of the kind {kind}: `bash .ci/clients` installs it, or says why it cannot"
    );
    if !required {
        eprintln!("SKIPPED: {kind}::{}, because {said}", deed.name());
    }
    let skipped = move || if required { Err(Failed::from(said)) } else { Ok(()) };
    Trial::test(format!("no {kind}::{}", deed.name()), skipped).with_ignored_flag(!required)
}

impl Deed {
    fn name(&self) -> String {
        match self {
            Self::Commands(script) => script.name.clone(),
            Self::Life(file) => file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        }
    }
}
