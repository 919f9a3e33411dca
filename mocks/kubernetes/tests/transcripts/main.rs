//! Conversations with an API server, held with ours and compared with what a real one answered.
//!
//! Each `fixtures/kubernetes/transcripts/*.yaml` is one conversation: our own requests, one after the other. Beside it
//! stands `*.golden.json`, the real answers with everything that differs between two runs replaced by a placeholder.
//! Where ours is known to differ, `known.yaml` names the place and the reason.
//!
//! - by default each conversation is held with a control plane of ours, without controllers and scheduler;
//! - `REPLAY_KUBECONFIG=…` holds them with whatever answers there, and compares;
//! - `RECORD_KUBECONFIG=…` writes the answers down as the new golden files. The server must be fresh, and have neither
//!   controllers nor scheduler nor `ServiceAccount` admission.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

mod compare;
mod golden;
mod known;
mod path;
mod placeholders;
mod rules;
mod script;
mod talk;

use std::any::Any;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use libtest_mimic::{Arguments, Failed, Trial};
use mock_kubernetes::ControlPlane;

use golden::Golden;
use script::Script;
use talk::Server;

/// Who is at the other end of a conversation.
#[derive(Clone)]
enum Peer {
    Ours,
    Replay(PathBuf),
    Record(PathBuf),
}

impl Peer {
    fn chosen() -> Self {
        let kubeconfig = |name: &str| env::var_os(name).map(PathBuf::from);
        if let Some(path) = kubeconfig("RECORD_KUBECONFIG") {
            Self::Record(path)
        } else if let Some(path) = kubeconfig("REPLAY_KUBECONFIG") {
            Self::Replay(path)
        } else {
            Self::Ours
        }
    }

    /// Conversations with one and the same server must not see each other's objects change.
    fn is_shared(&self) -> bool {
        !matches!(self, Self::Ours)
    }
}

/// A control plane of ours, bare.
async fn start_ours() -> ControlPlane {
    ControlPlane::builder().bare().start().await.unwrap()
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let peer = Peer::chosen();
    if peer.is_shared() {
        arguments.test_threads = Some(1);
    }
    let scripts = Script::paths().into_iter();
    let mut trials: Vec<Trial> = scripts.map(|path| trial(path, peer.clone())).collect();
    let rule = |name: &str, run: fn()| {
        Trial::test(name, move || {
            run();
            Ok(())
        })
    };
    trials.extend([
        rule("rules::places_are_found", rules::places_are_found),
        rule("rules::placeholders_stand_for_what_differs", rules::placeholders_stand_for_what_differs),
        rule("rules::differences_convict", rules::differences_convict),
        rule(
            "rules::known_differences_are_allowed_until_they_go",
            rules::known_differences_are_allowed_until_they_go,
        ),
    ]);
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(path: PathBuf, peer: Peer) -> Trial {
    let name = script::name_of(&path);
    Trial::test(name, move || hold(&path, &peer).map_err(Failed::from))
}

fn hold(path: &Path, peer: &Peer) -> Result<(), String> {
    let script = Script::read(path)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (kubeconfig, _running): (String, Box<dyn Any>) = match peer {
            Peer::Replay(path) | Peer::Record(path) => (fs::read_to_string(path).unwrap(), Box::new(())),
            Peer::Ours => {
                let running = start_ours().await;
                (running.kubeconfig(), Box::new(running))
            }
        };
        let server = Server::reach(&kubeconfig).await;
        let answers = golden::settle(&script, server.converse(&script).await);
        if matches!(peer, Peer::Record(_)) {
            return Golden { server: server.version().await, answers }.write(path);
        }
        compare::judge(&script.name, &Golden::read(path)?, &answers, &known::read())
    })
}
