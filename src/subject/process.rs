//! The subject as processes that run: started on the clock of the run, asked how it is, started again as a kubelet would,
//! ended.
//!
//! Each replica has a task of its own that sees its processes come and go. A process ends with all that it has started,
//! as in a container; and the clock, which starts it, takes it along when the harness itself is killed.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mock_clock::{Busy, Clock as _, SpawnError, VirtualClock};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::{mpsc, watch};

use super::kin::Kin;
use super::log::Log;
use super::port::Port;
use super::{Health, health, hosts, program};
use crate::history::{Recorder, SubjectChange, SubjectEvent, What};

/// A kubelet starts a container that has ended again after so long, twice as long each time, up to the longest.
const RESTART_FIRST: Duration = Duration::from_secs(10);
const RESTART_LONGEST: Duration = Duration::from_secs(300);
/// One that ran for so long begins anew with the shortest.
const RESTART_FORGOTTEN: Duration = Duration::from_secs(600);
/// One whose machine is lost comes again on another after so long.
const REPLACED: Duration = Duration::from_secs(300);
/// How long one that was told to end may take.
const GRACE: Duration = Duration::from_secs(30);
/// How long what it wrote last may take to be read when it has ended.
const READING: Duration = Duration::from_secs(1);

/// How a replica is started.
#[derive(Debug)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its environment; but for a mark of ours it has no other.
    pub environment: BTreeMap<String, String>,
    /// Its directory, in which its log is written.
    pub directory: PathBuf,
    /// A host name of its own; otherwise it has that of the machine.
    pub host: Option<String>,
    /// The port it answers at.
    pub port: Port,
    /// How it is asked for its health.
    pub health: Option<Health>,
}

/// One replica, whether its process runs just now or not. When it is dropped, it is killed and not started again.
pub struct Replica {
    kept: Arc<Kept>,
}

/// What the replica and its task share.
struct Kept {
    number: u32,
    host: String,
    launch: Launch,
    kin: Kin,
    log: Log,
    clock: VirtualClock,
    recorder: Recorder,
    state: watch::Sender<State>,
}

/// How a replica is.
#[derive(Debug, Default)]
struct State {
    /// The process group that runs.
    group: Option<Pid>,
    /// It stands still by plan.
    paused: bool,
    /// What it answered when it was last asked how it is; nothing if it was not asked since it was started.
    health: Option<u16>,
    /// It is being ended, because it is unwell.
    unwell: bool,
    /// How often it has ended without being ended as unwell, and how it did last.
    ends: u32,
    last_end: String,
    /// What follows when it ends.
    next: Next,
    /// Its task has ended.
    gone: bool,
    /// A kill is on its way: time must not jump before it has arrived.
    dying: Option<Busy>,
}

/// What follows when a process ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Next {
    /// It is started again.
    #[default]
    Again,
    /// Its machine is lost: it is started again, and not soon.
    Elsewhere,
    /// Nothing.
    Nothing,
}

impl Replica {
    /// Starts it, and whenever it ends starts it again, until it is told to stop.
    pub fn start(
        number: u32,
        launch: Launch,
        clock: &VirtualClock,
        recorder: &Recorder,
    ) -> Result<Self, SubjectError> {
        let program = launch.program.display();
        match program::unfit(&launch.program) {
            Ok(None) => {}
            Ok(Some(why)) => return Err(SubjectError::Unfit(program.to_string(), why)),
            Err(source) => {
                let program = program.to_string();
                return Err(SubjectError::Spawn(SpawnError::Program { program, source }));
            }
        }
        let log = Log::create(&launch.directory.join("log"), number, recorder).map_err(SubjectError::Log)?;
        let kept = Arc::new(Kept {
            number,
            host: launch.host.clone().unwrap_or_else(hosts::of_machine),
            kin: Kin::of(&launch.directory),
            launch,
            log,
            clock: clock.clone(),
            recorder: recorder.clone(),
            state: watch::Sender::default(),
        });
        kept.tell(SubjectChange::Prepared { command: kept.command(), environment: kept.environment() });
        let first = kept.run()?;
        tokio::spawn(Arc::clone(&kept).keep(first));
        Ok(Self { kept })
    }

    /// Its host name.
    pub fn host(&self) -> &str {
        &self.kept.host
    }

    /// Whether its process runs.
    pub fn runs(&self) -> bool {
        self.kept.state.borrow().group.is_some()
    }

    /// What is wrong with it, if anything is, as far as it was asked.
    pub fn complaint(&self) -> Option<String> {
        let (number, state) = (self.kept.number, self.kept.state.borrow());
        if state.group.is_none() {
            return Some(format!("replica {number} {}", state.last_end));
        }
        match (&self.kept.launch.health, state.health) {
            (None, _) => None,
            (Some(_), Some(status)) if health::is_well(status) => None,
            (Some(asked), Some(0)) => Some(format!("replica {number} does not answer at {}", asked.path)),
            (Some(asked), Some(status)) => {
                Some(format!("replica {number} answers {status} at {}", asked.path))
            }
            (Some(_), None) => Some(format!("replica {number} was not yet asked for its health")),
        }
    }

    /// How often it has ended without being ended as unwell, how it did last, and what it wrote before.
    pub fn ends(&self) -> (u32, SubjectError) {
        let state = self.kept.state.borrow();
        let (end, words) = (state.last_end.clone(), self.kept.log.last_words());
        (state.ends, SubjectError::Ends { replica: self.kept.number, times: state.ends, end, words })
    }

    /// Kills it; it is started again.
    pub fn kill(&self) {
        self.kept.tell(SubjectChange::Killed);
        self.kept.kill();
    }

    /// Kills it as if its machine were lost: it is started again, but not before somebody else can have taken over.
    pub fn lose(&self) {
        self.kept.state.send_modify(|state| state.next = Next::Elsewhere);
        self.kill();
    }

    /// Tells it to end; it is started again.
    pub fn restart(&self) {
        self.kept.tell(SubjectChange::Killed);
        self.kept.signal(Signal::TERM);
    }

    /// Stops it where it is. Nobody asks it for its health meanwhile: its whole machine stands still.
    pub fn pause(&self) {
        self.kept.state.send_modify(|state| state.paused = true);
        self.kept.signal(Signal::STOP);
        self.kept.tell(SubjectChange::Paused);
    }

    /// Lets it go on.
    pub fn resume(&self) {
        self.kept.tell(SubjectChange::Resumed);
        self.kept.signal(Signal::CONT);
        self.kept.state.send_modify(|state| state.paused = false);
    }

    /// Tells it to end for good, and waits until it has; kills it if it does not come to an end.
    pub async fn stop(&self) {
        self.kept.state.send_modify(|state| state.next = Next::Nothing);
        self.kept.signal(Signal::CONT);
        self.kept.signal(Signal::TERM);
        if !self.kept.is_gone_within(GRACE).await {
            self.end().await;
        }
    }

    /// Kills it for good, and waits until it is gone.
    pub async fn end(&self) {
        self.kept.state.send_modify(|state| state.next = Next::Nothing);
        self.kept.kill();
        // A process in the kernel's hands ends when the kernel lets it: not waited for for ever.
        self.kept.is_gone_within(GRACE).await;
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.kept.state.send_modify(|state| state.next = Next::Nothing);
        self.kept.signal(Signal::KILL);
        self.kept.kin.end();
    }
}

impl fmt::Debug for Replica {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replica").field("number", &self.kept.number).finish_non_exhaustive()
    }
}

impl Kept {
    fn tell(&self, change: SubjectChange) {
        self.recorder.record(What::Subject(SubjectEvent { replica: self.number, change }));
    }

    fn command(&self) -> Vec<String> {
        let program = self.launch.program.display().to_string();
        std::iter::once(program).chain(self.launch.arguments.iter().cloned()).collect()
    }

    fn environment(&self) -> BTreeMap<String, String> {
        let (name, value) = self.kin.mark();
        let mut environment = self.launch.environment.clone();
        environment.insert(name.to_owned(), value.to_owned());
        environment
    }

    fn signal(&self, signal: Signal) {
        let state = self.state.borrow();
        if let Some(group) = state.group {
            // It may have ended in this moment.
            let _ = kill_process_group(group, signal);
        }
    }

    fn kill(&self) {
        let busy = self.clock.busy();
        self.state.send_modify(|state| state.dying = state.group.map(|_| busy));
        self.signal(Signal::KILL);
    }

    async fn is_gone_within(&self, time: Duration) -> bool {
        let mut state = self.state.subscribe();
        self.clock.timeout(time, state.wait_for(|state| state.gone)).await.is_ok()
    }

    /// Starts the process.
    fn run(&self) -> Result<Running, SubjectError> {
        let mut command = Command::new(&self.launch.program);
        command.args(&self.launch.arguments).env_clear().envs(self.environment());
        command.current_dir(&self.launch.directory).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(host) = &self.launch.host {
            hosts::give(&mut command, host);
        }
        let mut process = self.clock.spawn(command).map_err(SubjectError::Spawn)?;
        let (open, read) = mpsc::channel(1);
        if let Some(pipe) = process.stdout.take() {
            self.log.follow(pipe, open.clone());
        }
        if let Some(pipe) = process.stderr.take() {
            self.log.follow(pipe, open);
        }
        let pid = process.id();
        self.state.send_modify(|state| {
            state.group = Pid::from_raw(pid.cast_signed());
            (state.health, state.paused, state.unwell) = (None, false, false);
        });
        self.tell(SubjectChange::Started { pid, host: self.host.clone() });
        if self.state.borrow().next == Next::Nothing {
            self.kill();
        }
        Ok(Running { process, read })
    }

    /// Sees its processes out, and starts the next ones.
    async fn keep(self: Arc<Self>, first: Running) {
        let mut running = first;
        let mut pause = RESTART_FIRST;
        loop {
            let began = self.clock.now();
            self.see_out(running).await;
            if self.clock.now() - began >= RESTART_FORGOTTEN {
                pause = RESTART_FIRST;
            }
            let mut state = self.state.subscribe();
            let rest = if self.state.borrow().next == Next::Elsewhere { REPLACED } else { pause };
            let over =
                self.clock.timeout(rest, state.wait_for(|state| state.next == Next::Nothing)).await.is_ok();
            if over {
                break;
            }
            pause = (pause * 2).min(RESTART_LONGEST);
            self.state.send_modify(|state| {
                if state.next == Next::Elsewhere {
                    state.next = Next::Again;
                }
            });
            running = match self.run() {
                Ok(started) => started,
                Err(e) => {
                    self.recorder.record(What::Trouble(format!("failed to {e}")));
                    break;
                }
            };
        }
        self.state.send_modify(|state| state.gone = true);
    }

    /// From its start to its end, and that of whatever it has started.
    async fn see_out(&self, Running { mut process, mut read }: Running) {
        let mut waiting = tokio::task::spawn_blocking(move || process.wait());
        let ended = tokio::select! {
            ended = &mut waiting => ended,
            () = self.examine() => waiting.await,
        };
        // While what it has left behind is looked for, and its last words are read, it has not ended yet.
        let busy = self.clock.busy();
        self.kin.end();
        drop(busy);
        let _ = self.clock.timeout(READING, read.recv()).await;
        let (change, words) = exited(ended.unwrap_or_else(|e| Err(io::Error::other(e))));
        self.tell(change);
        self.state.send_modify(|state| {
            (state.group, state.dying) = (None, None);
            if state.unwell {
                "was unwell, and was ended for it".clone_into(&mut state.last_end);
            } else {
                state.ends += 1;
                state.last_end = words;
            }
        });
    }

    /// Asks it how it is, again and again, and ends it when it is unwell.
    async fn examine(&self) {
        let Some(asked) = &self.launch.health else { return std::future::pending().await };
        let mut failures = 0;
        while failures < asked.failures {
            self.clock.sleep(asked.every.0).await;
            if self.state.borrow().paused {
                continue;
            }
            let status = health::ask(&self.clock, self.launch.port.number(), &asked.path).await;
            if self.state.borrow().paused {
                continue;
            }
            if self.state.send_if_modified(|state| state.health.replace(status) != Some(status)) {
                self.tell(SubjectChange::Health { status });
            }
            failures = if health::is_well(status) { 0 } else { failures + 1 };
        }
        self.tell(SubjectChange::Unwell { failures });
        self.state.send_modify(|state| state.unwell = true);
        self.signal(Signal::TERM);
        self.clock.sleep(GRACE).await;
        self.kill();
    }
}

/// A process, and whether what it writes is read to its end.
struct Running {
    process: mock_clock::Foreign,
    read: mpsc::Receiver<()>,
}

/// How it has ended, for the history and in words.
fn exited(ended: io::Result<ExitStatus>) -> (SubjectChange, String) {
    let (code, signal) = ended.map_or((None, None), |status| (status.code(), status.signal()));
    let words = match (code, signal) {
        (Some(code), _) => format!("exits with code {code}"),
        (None, Some(signal)) => format!("ends by signal {signal}"),
        (None, None) => "has ended, nobody knows how".to_owned(),
    };
    (SubjectChange::Exited { code, signal }, words)
}

/// Why there is no subject. Reads after "failed to".
#[derive(Debug)]
pub enum SubjectError {
    /// The program cannot be started, or not on this clock.
    Spawn(SpawnError),
    /// The program is none for this machine; why.
    Unfit(String, String),
    /// Its log cannot be written.
    Log(io::Error),
    /// There is no port for it.
    Port(io::Error),
    /// It does not stay: it ends again and again before it was ever well.
    Ends {
        /// Which replica.
        replica: u32,
        /// How often it has ended.
        times: u32,
        /// How it has ended last.
        end: String,
        /// What it wrote last, a line each.
        words: String,
    },
    /// Several replicas would take themselves for each other.
    Hosts,
}

impl SubjectError {
    /// Whether this machine lacks something; otherwise the subject itself is of no use.
    pub fn is_of_machine(&self) -> bool {
        match self {
            Self::Spawn(SpawnError::Program { source, .. }) => source.kind() == io::ErrorKind::NotFound,
            Self::Spawn(_) | Self::Log(_) | Self::Port(_) | Self::Hosts => true,
            Self::Unfit(..) | Self::Ends { .. } => false,
        }
    }
}

impl fmt::Display for SubjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn(SpawnError::Program { program, source }) => {
                write!(f, "start {program}: {source}{}", program::advice(source))
            }
            Self::Spawn(e) => write!(f, "{e}"),
            Self::Unfit(program, why) => write!(f, "start {program}: {why}"),
            Self::Log(e) => write!(f, "write the log of the subject: {e}"),
            Self::Port(e) => write!(f, "find a port for the subject: {e}"),
            Self::Ends { replica, times, end, words } => {
                let words = if words.is_empty() { ", and writes nothing" } else { words };
                write!(f, "keep the subject running: replica {replica} {end}, {times} times so far{words}")
            }
            Self::Hosts => f.write_str(
                "give each replica a host name of its own, without which they take each other for themselves: run as \
                 root, or allow user namespaces to everybody (sysctl user.max_user_namespaces, \
                 kernel.apparmor_restrict_unprivileged_userns)",
            ),
        }
    }
}

impl std::error::Error for SubjectError {}
