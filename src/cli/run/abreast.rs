//! Errands side by side, each a process of its own: so many at a time, seen as they go, given in the order in which
//! they were asked for. It prints nothing and judges nothing.
//!
//! Whoever interrupts is obeyed in good order: nothing more begins, and what runs is told to end, which leaves its
//! history. Whoever interrupts twice does not want to wait.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::errand::{Errand, WORD, Word};
use crate::cli::interruption::Interruption;
use crate::exit::Exit;
use crate::report::{Progress, Telling};

/// What is seen of errands while they go; each by its number.
pub(super) enum Seen<'a> {
    /// It begins.
    Begun(usize, &'a Errand),
    /// It goes on.
    Going(usize, &'a Progress),
    /// It is over.
    Over(usize),
    /// The next one in the order of asking is done.
    Next(&'a Errand, &'a Done),
    /// Somebody wants all this to end.
    Interrupted,
}

/// What came out of an errand, or the exit code and why nothing did, which reads after "failed to".
pub(super) type Done = Result<Telling, (Exit, String)>;

/// What is heard from a process.
enum Heard {
    Going(Progress),
    /// It says no more; the last that it said, and what it has complained of.
    Over(Option<Word>, String),
}

/// Errands on their way.
struct Abreast<'a> {
    program: &'a Path,
    errands: &'a [Errand],
    /// How many have been begun.
    begun: usize,
    /// No more are begun.
    stopped: bool,
    /// What runs was told to end.
    interrupted: bool,
    running: BTreeMap<usize, Child>,
    /// What is done, and not yet the next.
    early: BTreeMap<usize, Done>,
    done: Vec<Done>,
    tell: UnboundedSender<(usize, Heard)>,
}

/// Does them, so many at a time. Those at the end that were not begun because of an interruption, or because one has
/// failed for a reason that would fail them all, are missing.
pub(super) fn all(
    program: &Path,
    errands: &[Errand],
    jobs: usize,
    see: &mut dyn FnMut(Seen<'_>),
) -> Result<Vec<Done>, std::io::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (tell, heard) = unbounded_channel();
    let (running, early) = (BTreeMap::new(), BTreeMap::new());
    let abreast = Abreast {
        program,
        errands,
        begun: 0,
        stopped: false,
        interrupted: false,
        running,
        early,
        done: Vec::new(),
        tell,
    };
    Ok(runtime.block_on(abreast.go(jobs, heard, see)))
}

impl Abreast<'_> {
    async fn go(
        mut self,
        jobs: usize,
        mut heard: UnboundedReceiver<(usize, Heard)>,
        see: &mut dyn FnMut(Seen<'_>),
    ) -> Vec<Done> {
        let mut interruption = Interruption::listen();
        let mut signal = Signal::TERM;
        loop {
            while !self.stopped && self.running.len() < jobs && self.begun < self.errands.len() {
                see(Seen::Begun(self.begun, &self.errands[self.begun]));
                self.begin();
            }
            while let Some(next) = self.early.remove(&self.done.len()) {
                see(Seen::Next(&self.errands[self.done.len()], &next));
                self.done.push(next);
            }
            if self.running.is_empty() {
                return self.done;
            }
            tokio::select! {
                Some((number, heard)) = heard.recv() => match heard {
                    Heard::Going(progress) => see(Seen::Going(number, &progress)),
                    Heard::Over(last, complaints) => {
                        see(Seen::Over(number));
                        self.end(number, last, &complaints);
                    }
                },
                () = interruption.next() => {
                    (self.stopped, self.interrupted) = (true, true);
                    self.running.values().for_each(|child| send(child, signal));
                    signal = Signal::KILL;
                    see(Seen::Interrupted);
                }
            }
        }
    }

    /// Begins the next. All are begun by one thread, for with this thread they end.
    fn begin(&mut self) {
        let number = self.begun;
        self.begun += 1;
        match start(self.program) {
            Ok(mut child) => {
                attend(number, &self.errands[number], &mut child, &self.tell);
                self.running.insert(number, child);
            }
            Err(e) => {
                self.stopped = true;
                let why = format!("start a process for a run: {e}");
                self.early.insert(number, Err((Exit::Missing, why)));
            }
        }
    }

    /// It says no more: it ends, or has ended.
    fn end(&mut self, number: usize, last: Option<Word>, complaints: &str) {
        let ended = self.running.remove(&number).map(|mut child| child.wait());
        let with = |why: String| {
            if complaints.is_empty() { why } else { format!("{why}\n{complaints}") }
        };
        let done = match last {
            Some(Word::Told(telling)) => Ok(*telling),
            Some(Word::Failed(code, why)) => Err((Exit::of(code), with(why))),
            Some(Word::Going(_)) | None => {
                let directory = self.errands[number].directory.display();
                let ended = ended.and_then(Result::ok);
                // Told to end before it could listen, or not waited for.
                if self.interrupted && ended.is_some_and(|ended| ended.signal().is_some()) {
                    Err((
                        Exit::Unknown,
                        with(format!("run it to its end: it was interrupted; see {directory}")),
                    ))
                } else {
                    let how = ended.map_or_else(String::new, |ended| format!(" ({ended})"));
                    let why = format!("run it to its end: its process has ended early{how}; see {directory}");
                    Err((Exit::Bug, with(why)))
                }
            }
        };
        self.stopped |= matches!(done, Err((Exit::Missing | Exit::BadInput, _)));
        self.early.insert(number, done);
    }
}

fn start(program: &Path) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    // A Ctrl-C comes to this program only, which passes it on.
    command.arg(WORD).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// Tells a process what to do, and listens to it.
fn attend(number: usize, errand: &Errand, child: &mut Child, tell: &UnboundedSender<(usize, Heard)>) {
    let order = serde_json::to_vec(errand).unwrap_or_default();
    let (input, output, error) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let complaints = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        error.map(|mut error| error.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    });
    let tell = tell.clone();
    std::thread::spawn(move || {
        // One that does not listen has ended, and its end is told below.
        input.map(|mut input| input.write_all(&order));
        let mut last = None;
        for line in output.into_iter().flat_map(|output| BufReader::new(output).lines().map_while(Result::ok))
        {
            match serde_json::from_str(&line) {
                Ok(Word::Going(progress)) => drop(tell.send((number, Heard::Going(progress)))),
                Ok(word) => last = Some(word),
                Err(_) => {}
            }
        }
        let _ = tell.send((number, Heard::Over(last, complaints.join().unwrap_or_default())));
    });
}

/// Only this thread waits for children, so the number is still this one's.
fn send(child: &Child, signal: Signal) {
    if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
        // It may just have ended.
        let _ = kill_process(pid, signal);
    }
}
