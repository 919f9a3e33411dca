//! The subject as processes that run: started on the clock of the run, watched, started again as a kubelet would, ended.
//!
//! Each replica has a thread of its own that waits for its end. A replica is a process group, so that nothing it has
//! started outlives it; and it is started by the clock, which takes it along when the harness itself is killed.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mock_clock::{Clock as _, SpawnError, VirtualClock};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::history::{LogEvent, Recorder, SubjectChange, SubjectEvent, What};

/// A kubelet starts a container that has ended again after so long, twice as long each time, up to the longest.
const RESTART_FIRST: Duration = Duration::from_secs(10);
const RESTART_LONGEST: Duration = Duration::from_secs(300);
/// One that ran for so long begins anew with the shortest.
const RESTART_FORGOTTEN: Duration = Duration::from_secs(600);
/// How long one that was told to end may take.
const GRACE: Duration = Duration::from_secs(30);
/// Lines longer than this are cut.
const LINE_MAX: usize = 8 * 1024;
/// So many lines of one process are recorded; the others stand in its log only.
const LINES_MAX: usize = 50_000;

/// How a replica is started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its environment; it has no other.
    pub environment: BTreeMap<String, String>,
    /// Its directory, in which its log is written.
    pub directory: PathBuf,
    /// Its host name, as the history tells it.
    pub host: String,
}

/// One replica, whether its process runs just now or not.
pub struct Replica {
    number: u32,
    launch: Launch,
    clock: VirtualClock,
    recorder: Recorder,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The process group that runs.
    group: Option<Pid>,
    /// It shall not be started again.
    over: bool,
    /// Its thread.
    keeper: Option<std::thread::JoinHandle<()>>,
}

impl Replica {
    /// Starts it, and whenever it ends starts it again, until it is told to stop.
    pub fn start(
        number: u32,
        launch: Launch,
        clock: &VirtualClock,
        recorder: &Recorder,
    ) -> Result<Arc<Self>, SubjectError> {
        let (clock, recorder) = (clock.clone(), recorder.clone());
        let replica = Arc::new(Self { number, launch, clock, recorder, state: Mutex::default() });
        let first = replica.run()?;
        let keeper = Arc::clone(&replica);
        let thread = std::thread::Builder::new().name(format!("subject-{number}"));
        let keep = thread.spawn(move || keeper.keep(first)).map_err(SubjectError::Thread)?;
        replica.state().keeper = Some(keep);
        Ok(replica)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, change: SubjectChange) {
        self.recorder.record(What::Subject(SubjectEvent { replica: self.number, change }));
    }

    /// Starts the process.
    fn run(&self) -> Result<Running, SubjectError> {
        let mut command = Command::new(&self.launch.program);
        command.args(&self.launch.arguments).env_clear().envs(&self.launch.environment);
        command.current_dir(&self.launch.directory).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = self.clock.spawn(command).map_err(SubjectError::Spawn)?;
        let log = self.launch.directory.join("log");
        let log = fs::File::options().create(true).append(true).open(log).map_err(SubjectError::Log)?;
        let log = Arc::new(Mutex::new(log));
        let mut readers = Vec::new();
        let pipes: [Option<Box<dyn Read + Send>>; 2] = [
            process.stdout.take().map(|it| Box::new(it) as _),
            process.stderr.take().map(|it| Box::new(it) as _),
        ];
        for pipe in pipes.into_iter().flatten() {
            let (recorder, log, number) = (self.recorder.clone(), Arc::clone(&log), self.number);
            readers.push(std::thread::spawn(move || read_lines(pipe, number, &recorder, &log)));
        }
        let pid = process.id();
        self.state().group = Pid::from_raw(pid.cast_signed());
        self.tell(SubjectChange::Started { pid, host: self.launch.host.clone() });
        Ok(Running { process, readers })
    }

    /// Waits for its end, again and again.
    fn keep(&self, first: Running) {
        let mut running = Some(first);
        let mut pause = RESTART_FIRST;
        while let Some(mut now) = running.take() {
            let began = self.clock.now();
            let ended = now.process.wait();
            for reader in now.readers {
                // A reader that panicked has told why.
                let _ = reader.join();
            }
            self.state().group = None;
            self.tell(exited(&ended));
            if self.clock.now() - began >= RESTART_FORGOTTEN {
                pause = RESTART_FIRST;
            }
            if self.state().over {
                return;
            }
            self.clock.sleep(pause).wait();
            pause = (pause * 2).min(RESTART_LONGEST);
            if self.state().over {
                return;
            }
            match self.run() {
                Ok(started) => running = Some(started),
                Err(e) => self.recorder.record(What::Trouble(format!("failed to {e}"))),
            }
        }
    }

    /// Its host name.
    pub fn host(&self) -> &str {
        &self.launch.host
    }

    /// Whether its process runs.
    pub fn runs(&self) -> bool {
        self.state().group.is_some()
    }

    /// Kills it; it is started again.
    pub fn kill(&self) {
        self.tell(SubjectChange::Killed);
        self.signal(Signal::KILL);
    }

    /// Tells it to end; it is started again.
    pub fn restart(&self) {
        self.tell(SubjectChange::Killed);
        self.signal(Signal::TERM);
    }

    /// Stops it where it is.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
        self.tell(SubjectChange::Paused);
    }

    /// Lets it go on.
    pub fn resume(&self) {
        self.tell(SubjectChange::Resumed);
        self.signal(Signal::CONT);
    }

    /// Tells it to end for good, and waits until it has; not for ever.
    pub fn stop(&self) {
        self.state().over = true;
        self.signal(Signal::CONT);
        self.signal(Signal::TERM);
        let deadline = self.clock.now() + GRACE;
        while self.runs() && self.clock.now() < deadline {
            self.clock.sleep(Duration::from_millis(50)).wait();
        }
        self.signal(Signal::KILL);
        let keeper = self.state().keeper.take();
        if let Some(keeper) = keeper {
            let _ = keeper.join();
        }
    }

    fn signal(&self, signal: Signal) {
        let state = self.state();
        if let Some(group) = state.group {
            // It may have ended in this moment.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// A process with the threads that read what it writes.
struct Running {
    process: mock_clock::Foreign,
    readers: Vec<std::thread::JoinHandle<()>>,
}

fn exited(ended: &io::Result<ExitStatus>) -> SubjectChange {
    match ended {
        Ok(status) => SubjectChange::Exited { code: status.code(), signal: status.signal() },
        Err(_) => SubjectChange::Exited { code: None, signal: None },
    }
}

/// Records what a process writes, line by line, and keeps all of it in its log.
fn read_lines(pipe: Box<dyn Read + Send>, replica: u32, recorder: &Recorder, log: &Mutex<fs::File>) {
    let mut pipe = BufReader::new(pipe);
    let (mut bytes, mut lines) = (Vec::new(), 0);
    while pipe.read_until(b'\n', &mut bytes).is_ok_and(|length| length > 0) {
        let mut file = log.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk must not stop the subject.
        let _ = io::Write::write_all(&mut *file, &bytes);
        drop(file);
        let cut = &bytes[..bytes.len().min(LINE_MAX)];
        let line = String::from_utf8_lossy(cut).trim_end().to_owned();
        lines += 1;
        match lines {
            ..LINES_MAX => recorder.record(What::Log(LogEvent { replica, line })),
            LINES_MAX => recorder.record(What::Log(LogEvent {
                replica,
                line: "(more than can be told here: the rest stands in its log)".to_owned(),
            })),
            _ => {}
        }
        bytes.clear();
    }
}

/// What a program is, byte by byte: its SHA-256.
pub fn digest(program: &Path) -> io::Result<String> {
    let mut file = fs::File::open(program)?;
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    let mut bytes = vec![0; 1 << 20];
    loop {
        let length = file.read(&mut bytes)?;
        if length == 0 {
            break;
        }
        context.update(&bytes[..length]);
    }
    Ok(hexadecimal(context.finish().as_ref()))
}

/// The SHA-256 of a text.
pub fn digest_of(text: &str) -> String {
    hexadecimal(ring::digest::digest(&ring::digest::SHA256, text.as_bytes()).as_ref())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Why there is no subject. Reads after "failed to".
#[derive(Debug)]
pub enum SubjectError {
    /// The program cannot be started, or not on this clock.
    Spawn(SpawnError),
    /// Its log cannot be written.
    Log(io::Error),
    /// There is no thread for it.
    Thread(io::Error),
}

impl fmt::Display for SubjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn(e) => write!(f, "{e}"),
            Self::Log(e) => write!(f, "write the log of the subject: {e}"),
            Self::Thread(e) => write!(f, "start a thread for the subject: {e}"),
        }
    }
}

impl std::error::Error for SubjectError {}
