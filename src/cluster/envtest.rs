//! The programs of a real control plane, unmodified, on the clock of the run: etcd, kube-apiserver, and the two that
//! make pods run, kube-controller-manager and kube-scheduler.
//!
//! They are found in one folder, as those who test controllers have them. Each run has its own: ports of its own, data in
//! its own directory, and nothing of it is left but the logs. It has no kubelets; nodes are the world's.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use kube::config::Kubeconfig;
use mock_clock::{Clock as _, Foreign, VirtualClock};
use rcgen::KeyPair;

use super::readiness::until_ready;
use super::{Access, Cluster, ClusterError, Pending};

const ETCD: &str = "etcd";
const API_SERVER: &str = "kube-apiserver";
const CONTROLLERS: &str = "kube-controller-manager";
const SCHEDULER: &str = "kube-scheduler";

/// How long the API server may take until it shows its certificate, and any of them until it has ended.
const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// The number of the signal that asks a program to end.
const TERMINATE: i32 = 15;

const ADMINISTRATOR: &str = "administrator-of-the-run";
const SUBJECT: &str = "subject-of-the-run";

/// A control plane of real programs.
#[derive(Debug)]
pub struct Envtest {
    folder: PathBuf,
    directory: PathBuf,
    clock: Option<VirtualClock>,
    /// In the order in which they were started.
    programs: Vec<Foreign>,
}

impl Envtest {
    /// One of the programs in a folder, that stores what it must in a directory.
    pub fn new(folder: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), directory: directory.into(), clock: None, programs: Vec::new() }
    }

    async fn bring_up(&mut self, clock: &VirtualClock) -> Result<Access, ClusterError> {
        for program in [ETCD, API_SERVER, CONTROLLERS, SCHEDULER] {
            if !self.folder.join(program).is_file() {
                return Err(ClusterError::NoProgram { program, folder: self.folder.clone() });
            }
        }
        self.clock = Some(clock.clone());
        let files = Files::write(&self.directory).map_err(|e| self.no_file(e))?;
        let [store, peer, api] = ports().map_err(|e| self.no_file(e))?;
        let (store, peer) = (format!("http://127.0.0.1:{store}"), format!("http://127.0.0.1:{peer}"));
        self.program(ETCD, &etcd(&files, &store, &peer))?;
        self.program(API_SERVER, &api_server(&files, &store, api))?;
        let url = format!("https://127.0.0.1:{api}");
        let certificate = self.certificate(&files, clock).await?;
        let text = kubeconfig(&url, &certificate);
        fs::write(&files.kubeconfig, &text).map_err(|e| self.no_file(e))?;
        let kubeconfig = Kubeconfig::from_yaml(&text).map_err(|e| ClusterError::Kubeconfig(e.to_string()))?;
        let mut access = self.answer(kubeconfig, &text, clock).await?;
        self.program(CONTROLLERS, &controllers(&files))?;
        self.program(SCHEDULER, &scheduler(&files))?;
        access.subject_token = Some(SUBJECT.to_owned());
        until_ready(&access, clock).await?;
        Ok(access)
    }

    fn no_file(&self, source: io::Error) -> ClusterError {
        ClusterError::File { directory: self.directory.clone(), source }
    }

    /// Starts a program. What it says goes into a file of its name.
    fn program(&mut self, name: &'static str, arguments: &[OsString]) -> Result<(), ClusterError> {
        let mut command = Command::new(self.folder.join(name));
        let log = File::create(log(&self.directory, name)).map_err(|e| self.no_file(e))?;
        command.args(arguments).stderr(log.try_clone().map_err(|e| self.no_file(e))?).stdout(log);
        command.stdin(std::process::Stdio::null());
        let clock = self.clock.as_ref().expect("it is there before the first program");
        let started =
            clock.spawn(command).map_err(|e| ClusterError::Program { program: name, why: e.to_string() });
        self.programs.push(started?);
        Ok(())
    }

    /// The certificate that the API server makes itself, with that of the authority it has made for it.
    async fn certificate(&mut self, files: &Files, clock: &VirtualClock) -> Result<String, ClusterError> {
        let end = clock.now() + PATIENCE;
        loop {
            match fs::read_to_string(files.certificates.join("apiserver.crt")) {
                Ok(text) if text.matches("-----END").count() >= 2 => return Ok(text),
                _ => self.wait_for_api(end, clock).await?,
            }
        }
    }

    async fn answer(
        &mut self,
        kubeconfig: Kubeconfig,
        text: &str,
        clock: &VirtualClock,
    ) -> Result<Access, ClusterError> {
        let end = clock.now() + PATIENCE;
        loop {
            match Access::new("envtest", kubeconfig.clone(), text.to_owned()).await {
                Err(ClusterError::Silent { .. }) => self.wait_for_api(end, clock).await?,
                done => return done,
            }
        }
    }

    /// A moment later, unless one of the programs has ended, or all of them are too slow.
    async fn wait_for_api(
        &mut self,
        end: mock_clock::Time,
        clock: &VirtualClock,
    ) -> Result<(), ClusterError> {
        let names = [ETCD, API_SERVER];
        for (name, program) in names.into_iter().zip(&mut self.programs) {
            if let Ok(Some(status)) = program.try_wait() {
                let log = log(&self.directory, name);
                let last = last_line(&log);
                let why = format!("it has ended ({status}): {last}; its log is {}", log.display());
                return Err(ClusterError::Program { program: name, why });
            }
        }
        if clock.now() >= end {
            let log = log(&self.directory, API_SERVER).display().to_string();
            let why = format!("it has not answered in {} s; its log is {log}", PATIENCE.as_secs());
            return Err(ClusterError::Program { program: API_SERVER, why });
        }
        clock.sleep(BETWEEN_LOOKS).await;
        Ok(())
    }
}

impl Cluster for Envtest {
    fn start<'a>(&'a mut self, clock: &'a VirtualClock) -> Pending<'a, Result<Access, ClusterError>> {
        Box::pin(self.bring_up(clock))
    }

    fn stop(self: Box<Self>) -> Pending<'static, ()> {
        Box::pin(async move {
            let Self { clock, programs, directory, .. } = *self;
            let Some(clock) = clock else { return };
            // Those first who talk to the others.
            for mut program in programs.into_iter().rev() {
                end(&mut program, &clock).await;
            }
            for stored in ["etcd", "certificates"] {
                // What cannot be removed is as good as a log.
                let _ = fs::remove_dir_all(directory.join(stored));
            }
        })
    }
}

/// Asks a program to end, and makes it.
async fn end(program: &mut Foreign, clock: &VirtualClock) {
    let _ = program.signal(TERMINATE);
    let last = clock.now() + PATIENCE;
    while matches!(program.try_wait(), Ok(None)) {
        if clock.now() >= last {
            let _ = program.kill();
        }
        clock.sleep(BETWEEN_LOOKS).await;
    }
}

/// What the programs read and write.
struct Files {
    data: PathBuf,
    certificates: PathBuf,
    tokens: PathBuf,
    key: PathBuf,
    public_key: PathBuf,
    kubeconfig: PathBuf,
}

impl Files {
    fn write(directory: &Path) -> io::Result<Self> {
        let files = Self {
            data: directory.join("etcd"),
            certificates: directory.join("certificates"),
            tokens: directory.join("certificates/tokens.csv"),
            key: directory.join("certificates/accounts.key"),
            public_key: directory.join("certificates/accounts.pub"),
            kubeconfig: directory.join("kubeconfig"),
        };
        for folder in [&files.data, &files.certificates] {
            fs::create_dir_all(folder)?;
        }
        let key = KeyPair::generate().map_err(io::Error::other)?;
        fs::write(&files.key, key.serialize_pem())?;
        fs::write(&files.public_key, key.public_key_pem())?;
        let account = "system:serviceaccount:kube-system:cluster-autoscaler";
        let tokens = format!(
            "{ADMINISTRATOR},administrator,1,\"system:masters\"\n{SUBJECT},{account},2,\"system:masters\"\n"
        );
        fs::write(&files.tokens, tokens)?;
        Ok(files)
    }
}

fn etcd(files: &Files, store: &str, peer: &str) -> Vec<OsString> {
    let mut arguments = vec![option("data-dir", &files.data)];
    arguments.extend(
        [
            "--name=run".to_owned(),
            format!("--listen-client-urls={store}"),
            format!("--advertise-client-urls={store}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster=run={peer}"),
            // Nothing of it is to outlive the run.
            "--unsafe-no-fsync".to_owned(),
        ]
        .map(OsString::from),
    );
    arguments
}

fn api_server(files: &Files, store: &str, port: u16) -> Vec<OsString> {
    let mut arguments = vec![
        option("cert-dir", &files.certificates),
        option("token-auth-file", &files.tokens),
        option("service-account-key-file", &files.public_key),
        option("service-account-signing-key-file", &files.key),
    ];
    arguments.extend(
        [
            format!("--etcd-servers={store}"),
            format!("--secure-port={port}"),
            "--bind-address=127.0.0.1".to_owned(),
            "--advertise-address=127.0.0.1".to_owned(),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            "--endpoint-reconciler-type=none".to_owned(),
        ]
        .map(OsString::from),
    );
    arguments
}

fn controllers(files: &Files) -> Vec<OsString> {
    let mut arguments = vec![
        option("kubeconfig", &files.kubeconfig),
        option("service-account-private-key-file", &files.key),
        option("root-ca-file", &files.certificates.join("apiserver.crt")),
    ];
    arguments.extend(["--leader-elect=false", "--secure-port=0"].map(OsString::from));
    arguments
}

fn scheduler(files: &Files) -> Vec<OsString> {
    let mut arguments = vec![option("kubeconfig", &files.kubeconfig)];
    arguments.extend(["--leader-elect=false", "--secure-port=0"].map(OsString::from));
    arguments
}

fn option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(format!("--{name}="));
    option.push(path);
    option
}

/// Three ports that are free just now.
fn ports() -> io::Result<[u16; 3]> {
    let bind = || TcpListener::bind("127.0.0.1:0");
    // All at once, so that they differ.
    let bound = [bind()?, bind()?, bind()?];
    let mut ports = [0; 3];
    for (port, listener) in ports.iter_mut().zip(&bound) {
        *port = listener.local_addr()?.port();
    }
    Ok(ports)
}

fn log(directory: &Path, program: &str) -> PathBuf {
    directory.join(format!("{program}.log"))
}

fn last_line(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it has said nothing").to_owned()
}

fn kubeconfig(url: &str, certificate: &str) -> String {
    use base64::Engine as _;
    let authority = base64::prelude::BASE64_STANDARD.encode(certificate);
    format!(
        "apiVersion: v1
kind: Config
current-context: run
clusters:
- name: run
  cluster: {{server: {url:?}, certificate-authority-data: {authority}}}
contexts:
- name: run
  context: {{cluster: run, user: administrator}}
users:
- name: administrator
  user: {{token: {ADMINISTRATOR}}}
"
    )
}
