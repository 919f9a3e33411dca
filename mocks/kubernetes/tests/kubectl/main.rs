//! kubectl, every one the machine has, does what users do with it and is answered as by a real cluster.
//!
//! Each `*.yaml` beside this file is a script: commands, and what is expected of each. Every kubectl found runs every
//! script against a control plane of its own.
//!
//! - `KUBECTL=/a/kubectl:/b/kubectl` names them; otherwise they are `kubectl`, `kubectl-1.30`, `kubectl.v1.30` on the
//!   `PATH`. Without any, the tests are ignored and say so.
//! - `REPLAY_KUBECONFIG=…` runs the scripts against the cluster there instead, one after the other. It must be fresh,
//!   have controllers and scheduler but no nodes, and let its administrator in.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

mod find;
mod kubelet;
mod run;
mod script;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use run::Cluster;
use script::Script;

/// Informers of client-go, which kubectl waits with, ask for the list as a part of the watch when this is set.
const STREAMED: (&str, &str) = ("KUBE_FEATURE_WatchListClient", "true");

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let real = env::var_os("REPLAY_KUBECONFIG").map(PathBuf::from);
    if real.is_some() {
        arguments.test_threads = Some(1);
    }
    let scripts: Vec<Arc<Script>> = Script::all().unwrap().into_iter().map(Arc::new).collect();
    let mut trials = vec![
        rule("words_are_split_as_a_shell_does", script::words_are_split_as_a_shell_does),
        rule("plugins_are_no_kubectls", find::plugins_are_no_kubectls),
        rule("expectations_convict", run::expectations_convict),
    ];
    let kubectls = find::kubectls();
    for kubectl in &kubectls {
        for script in scripts.iter().filter(|script| !script.ours || real.is_none()) {
            trials.push(trial(kubectl, script, &[], real.clone()));
            if script.watches {
                trials.push(trial(kubectl, script, &[STREAMED], real.clone()));
            }
        }
    }
    if kubectls.is_empty() {
        eprintln!(
            "SKIPPED: the scripts in mocks/kubernetes/tests/kubectl, because there is no kubectl. Install one from \
             https://kubernetes.io/docs/tasks/tools/ on the PATH, or name it: KUBECTL=/path/to/kubectl"
        );
        let skipped = |script: &Arc<Script>| rule(&format!("no kubectl::{}", script.name), || ());
        trials.extend(scripts.iter().map(|script| skipped(script).with_ignored_flag(true)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn rule(name: &str, run: fn()) -> Trial {
    Trial::test(name, move || {
        run();
        Ok(())
    })
}

fn trial(
    kubectl: &Path,
    script: &Arc<Script>,
    env: &'static [(&'static str, &'static str)],
    real: Option<PathBuf>,
) -> Trial {
    let streamed = if env.is_empty() { "" } else { "::streamed lists" };
    let file = kubectl.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{file}::{}{streamed}", script.name);
    let (kubectl, script) = (kubectl.to_owned(), script.clone());
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let held = runtime.block_on(async {
            let cluster = Cluster::start(&script, real.as_deref()).await;
            cluster.hold(&kubectl, &script, env).await
        });
        held.map_err(Failed::from)
    })
}
