//! Runs the commands of a script and judges what they print.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::api::{DeleteParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use mock_clock::{Clock as _, Mode, VirtualClock};
use mock_kubernetes::ControlPlane;
use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

use crate::kubelet;
use crate::script::{Script, Step};

/// No command of any script takes that long.
const COMMAND_MAX: Duration = Duration::from_secs(25);

/// What is awaited of controllers is there by then, asked this often.
const SOON: (u32, Duration) = (150, Duration::from_millis(100));

/// Where a script runs, and the kubelets of its nodes.
pub(crate) struct Cluster {
    kubeconfig: Value,
    client: Client,
    clock: VirtualClock,
    _plane: Option<ControlPlane>,
    _kubelets: JoinSet<()>,
}

/// What a command printed.
#[derive(Default)]
struct Printed {
    out: String,
    err: String,
}

/// A command beside the others.
struct Beside<'a> {
    step: &'a Step,
    child: Child,
    printed: Printed,
}

impl Cluster {
    pub(crate) async fn start(script: &Script, real: Option<&Path>) -> Self {
        let clock = VirtualClock::start(Mode::Real, None).unwrap();
        let plane = match real {
            Some(_) => None,
            None => {
                let builder = ControlPlane::builder().clock(clock.clone());
                let builder = if script.full { builder } else { builder.bare() };
                Some(builder.start().await.unwrap())
            }
        };
        let text = plane.as_ref().map(ControlPlane::kubeconfig);
        let text = text.unwrap_or_else(|| fs::read_to_string(real.unwrap()).unwrap());
        let parsed = Kubeconfig::from_yaml(&text).unwrap();
        let kubeconfig = serde_yaml::from_str(&text).unwrap();
        let config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await.unwrap();
        let client = Client::try_from(config).unwrap();
        let mut kubelets = JoinSet::new();
        if script.full {
            kubelets.spawn(kubelet::all(client.clone()));
        }
        Self { kubeconfig, client, clock, _plane: plane, _kubelets: kubelets }
    }

    pub(crate) async fn hold(
        mut self,
        kubectl: &Path,
        script: &Script,
        env: &[(&str, &str)],
    ) -> Result<(), String> {
        let directory = Directory::new(&script.name);
        let namespace = self.namespace(script).await;
        for (name, text) in &script.files {
            fs::write(directory.0.join(name), text.replace("{{namespace}}", &namespace)).unwrap();
        }
        for context in self.kubeconfig["contexts"].as_array_mut().unwrap() {
            context["context"]["namespace"] = json!(namespace);
        }
        fs::write(directory.0.join("kubeconfig"), self.kubeconfig.to_string()).unwrap();
        self.kubeconfig["users"] = json!([]);
        fs::write(directory.0.join("nobody"), self.kubeconfig.to_string()).unwrap();
        let session = Session { kubectl, directory: &directory.0, env, clock: &self.clock };
        let held = session.run(script).await;
        let namespaces = Api::<Namespace>::all(self.client.clone());
        let _ = namespaces.delete(&namespace, &DeleteParams::default()).await;
        held
    }

    /// A namespace of this script, ready for pods.
    async fn namespace(&self, script: &Script) -> String {
        let object = json!({"metadata": {"generateName": format!("{}-", script.name)}});
        let namespaces = Api::<Namespace>::all(self.client.clone());
        let object = serde_json::from_value(object).unwrap();
        let namespace = namespaces.create(&PostParams::default(), &object).await.unwrap();
        let name = namespace.metadata.name.unwrap();
        let accounts = Api::<ServiceAccount>::namespaced(self.client.clone(), &name);
        for _ in 0..SOON.0 {
            if !script.full || accounts.get_opt("default").await.unwrap().is_some() {
                break;
            }
            self.clock.sleep(SOON.1).await;
        }
        name
    }
}

/// One kubectl in its directory.
struct Session<'a> {
    kubectl: &'a Path,
    directory: &'a Path,
    env: &'a [(&'a str, &'a str)],
    clock: &'a VirtualClock,
}

impl Session<'_> {
    async fn run(&self, script: &Script) -> Result<(), String> {
        let minor = self.minor().await?;
        let (mut beside, mut wrong) = (Vec::new(), Vec::new());
        for step in script.steps.iter().filter(|step| step.is_for(minor)) {
            let held = match &step.beside {
                Some(ready) => self.begin(step, ready).await.map(|running| beside.push(running)),
                None if step.soon => self.soon(step).await,
                None => self.step(step).await,
            };
            wrong.extend(held.err().map(|error| told(step, &error)));
        }
        for running in beside {
            let step = running.step;
            wrong.extend(self.finish(running).await.err().map(|error| told(step, &error)));
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }

    /// `30` of a kubectl 1.30.
    async fn minor(&self) -> Result<u32, String> {
        let words = ["version", "--client", "--output=json"].map(str::to_owned);
        let (_, printed) = self.ended(&words, &BTreeMap::new(), "").await?;
        let version: Value =
            serde_json::from_str(&printed.out).map_err(|error| format!("{error}: {}", printed.err))?;
        let minor = version["clientVersion"]["minor"].as_str().unwrap_or_default();
        minor.trim_end_matches('+').parse().map_err(|error| format!("minor {minor:?}: {error}"))
    }

    fn command(&self, words: &[String], env: &BTreeMap<String, String>) -> Command {
        let mut command = Command::new(self.kubectl);
        let settings = [("HOME", self.directory), ("KUBECONFIG", &self.directory.join("kubeconfig"))];
        command.args(words).envs(settings).envs(self.env.iter().copied()).envs(env);
        command.current_dir(self.directory).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A command that ends by itself.
    async fn ended(
        &self,
        words: &[String],
        env: &BTreeMap<String, String>,
        stdin: &str,
    ) -> Result<(i32, Printed), String> {
        let mut child = self.command(words, env).spawn().map_err(|error| error.to_string())?;
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).await.map_err(|error| error.to_string())?;
        let output = self.clock.timeout(COMMAND_MAX, child.wait_with_output()).await;
        let output = output
            .map_err(|_| format!("still running after {COMMAND_MAX:?}"))?
            .map_err(|error| error.to_string())?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let printed = Printed { out: text(output.stdout), err: text(output.stderr) };
        Ok((output.status.code().unwrap_or(-1), printed))
    }

    async fn step(&self, step: &Step) -> Result<(), String> {
        let (code, printed) = self.ended(&step.words(), &step.env, &step.stdin).await?;
        judge(step, code, &printed)
    }

    async fn soon(&self, step: &Step) -> Result<(), String> {
        for _ in 1..SOON.0 {
            if self.step(step).await.is_ok() {
                return Ok(());
            }
            self.clock.sleep(SOON.1).await;
        }
        self.step(step).await
    }

    async fn begin<'a>(&self, step: &'a Step, ready: &str) -> Result<Beside<'a>, String> {
        let child = self.command(&step.words(), &step.env).spawn().map_err(|error| error.to_string())?;
        let mut running = Beside { step, child, printed: Printed::default() };
        let ready = regex(ready);
        self.until(&mut running, |printed| ready.is_match(&printed.out) || ready.is_match(&printed.err))
            .await;
        Ok(running)
    }

    async fn finish(&self, mut running: Beside<'_>) -> Result<(), String> {
        let Step { out, err, .. } = running.step;
        let done =
            |printed: &Printed| missing(out, &printed.out).or_else(|| missing(err, &printed.err)).is_none();
        self.until(&mut running, done).await;
        let _ = running.child.kill().await;
        judge(running.step, running.step.code, &running.printed)
    }

    /// Reads on until this is printed, or nothing more comes.
    async fn until(&self, running: &mut Beside<'_>, done: impl Fn(&Printed) -> bool) {
        let Beside { child, printed, .. } = running;
        let (stdout, stderr) = (child.stdout.as_mut().unwrap(), child.stderr.as_mut().unwrap());
        let read = async {
            let (mut out, mut err) = ([0; 4096], [0; 4096]);
            let (mut more_out, mut more_err) = (true, true);
            while !done(printed) {
                let (text, more, read) = tokio::select! {
                    count = stdout.read(&mut out), if more_out =>
                        (&mut printed.out, &mut more_out, &out[..count.unwrap_or(0)]),
                    count = stderr.read(&mut err), if more_err =>
                        (&mut printed.err, &mut more_err, &err[..count.unwrap_or(0)]),
                    else => break,
                };
                text.push_str(&String::from_utf8_lossy(read));
                *more = !read.is_empty();
            }
        };
        let _ = self.clock.timeout(COMMAND_MAX, read).await;
    }
}

fn told(step: &Step, error: &str) -> String {
    format!("$ kubectl {}\n{error}", step.run.trim())
}

/// Why this is not what was expected.
fn judge(step: &Step, code: i32, printed: &Printed) -> Result<(), String> {
    let mut wrong = Vec::new();
    if code != step.code {
        wrong.push(format!("ended with {code}, expected {}", step.code));
    }
    wrong.extend(missing(&step.out, &printed.out).map(|line| format!("stdout: {line}")));
    wrong.extend(missing(&step.err, &printed.err).map(|line| format!("stderr: {line}")));
    if let Some(without) = &step.without {
        let found = [&printed.out, &printed.err].into_iter().any(|text| regex(without).is_match(text));
        wrong.extend(found.then(|| format!("there is {without:?}")));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{}\n--- stdout\n{}--- stderr\n{}", wrong.join("\n"), printed.out, printed.err))
}

/// The first expected line that is not there behind the one before.
fn missing(expected: &str, printed: &str) -> Option<String> {
    let mut rest = printed;
    for line in expected.lines().filter(|line| !line.is_empty()) {
        let Some(found) = regex(line).find(rest) else { return Some(format!("no {line:?}")) };
        rest = &rest[found.end()..];
    }
    None
}

fn regex(text: &str) -> Regex {
    RegexBuilder::new(text).multi_line(true).build().unwrap_or_else(|error| panic!("{error}"))
}

/// Gone with its owner.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("kubectl-{name}-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn expectations_convict() {
    let step = json!({"run": "get pods", "out": "^a\n^b", "err": "", "without": "panic"});
    let step: Step = serde_json::from_value(step).unwrap();
    let wrong = |code, out: &str, err: &str| {
        judge(&step, code, &Printed { out: out.to_owned(), err: err.to_owned() }).is_err()
    };
    assert!(!wrong(0, "a\nb\n", ""));
    assert!(wrong(1, "a\nb\n", ""), "the exit code");
    assert!(wrong(0, "b\na\n", ""), "the order");
    assert!(wrong(0, "a\n", ""), "a line is missing");
    assert!(wrong(0, "a\nb\n", "panic"), "what must not be there");
}
