//! The usher: the one thread that brings foreign programs onto a clock, and sees them out.
//!
//! The kernel lets only the thread that traces a process stop it, and kills a child when the thread that started it
//! ends. So all of that is one thread's work, which lives as long as the clock: it starts programs, stands by when one
//! of them starts another, fires their timers, and notes how they have ended.
//!
//! It looks at the page every millisecond, because nobody can call it from a process that has none of our files open.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;
use rustix::process::{getpid, getppid, set_parent_process_death_signal};

use super::error::{SpawnError, Unsupported};
use super::foreign::{Foreign, Life};
use super::injection::{Filter, Refusal, inject};
use super::trace::{self, Stop};
use super::{alarms, exec};
use crate::coordinator::Watchful;
use crate::machine;
use crate::page::Page;
use crate::page::slots::is_alive;
use crate::shared::{Mover, Shared};
use crate::virtual_clock::{PAGE_VARIABLE, VirtualClock};

/// How often it looks at the page.
const PACE: Duration = Duration::from_millis(1);
/// For so many looks after a program was started it looks sooner: others are next in line.
const SOON: u32 = 50;
const PACE_SOON: Duration = Duration::from_micros(50);
/// After so many looks it looks for what the dead have left.
const SWEEP: u32 = 250;
/// So often it looks for somebody to be ended with the clock.
const ENDINGS: u32 = 10;
/// What a child reports that must not be traced: no program fails to start for this reason.
const CANNOT_BE_TRACED: i32 = libc::ENOTRECOVERABLE;

/// How to reach the usher of a clock.
#[derive(Debug, Default)]
pub(crate) struct Door {
    orders: OnceLock<Sender<Order>>,
}

/// A program to be started.
struct Order {
    command: Command,
    clock: VirtualClock,
    reply: Sender<Result<Foreign, SpawnError>>,
}

impl Door {
    /// Has a program started.
    pub(crate) fn spawn(&self, clock: &VirtualClock, command: Command) -> Result<Foreign, SpawnError> {
        let program = name(&command);
        let orders = self.orders.get_or_init(|| open(Arc::clone(clock.shared())));
        let (reply, answer) = channel();
        let gone = || SpawnError::Foreign {
            program,
            why: Unsupported::new("the clock's own thread has died of a bug"),
        };
        // Until the child can say itself what it waits for.
        let _busy = clock.busy();
        if orders.send(Order { command, clock: clock.clone(), reply }).is_err() {
            return Err(gone());
        }
        answer.recv().unwrap_or_else(|_| Err(gone()))
    }
}

fn name(command: &Command) -> String {
    command.get_program().display().to_string()
}

fn open(shared: Arc<Shared>) -> Sender<Order> {
    let (send, receive) = channel();
    let usher = Usher {
        shared,
        orders: receive,
        children: BTreeMap::new(),
        called: BTreeMap::new(),
        unburied: BTreeSet::new(),
    };
    let started = std::thread::Builder::new().name("clock-brings".into()).spawn(move || usher.run());
    started.expect("a process that cannot start one more thread cannot go on");
    send
}

/// What the thread knows.
pub(super) struct Usher {
    pub(super) shared: Arc<Shared>,
    orders: Receiver<Order>,
    /// Those it has started itself.
    children: BTreeMap<Pid, Arc<Life>>,
    /// Threads that were told to stop for their process's timers, and have not done so yet: by process.
    pub(super) called: BTreeMap<u32, Pid>,
    /// Traced threads that have ended and cannot be buried before others have.
    unburied: BTreeSet<Pid>,
}

impl Usher {
    fn run(mut self) {
        let _watchful = Watchful::new();
        let mut served_at = 0;
        for look in SOON.. {
            if self.shared.is_closed() {
                break;
            }
            match self.orders.try_recv() {
                Ok(Order { command, clock, reply }) => {
                    // Nobody waits for it any more, perhaps; then the child ends with the clock.
                    let _ = reply.send(self.spawn(command, clock));
                }
                // The door is part of the clock.
                Err(TryRecvError::Disconnected) => break,
                Err(TryRecvError::Empty) => {
                    self.reap();
                    alarms::fire_due(&mut self);
                    if exec::stand_by(&mut self) {
                        served_at = look;
                    }
                    machine::pause(if look - served_at < SOON { PACE_SOON } else { PACE });
                }
            }
            if look % SWEEP == 0 {
                self.sweep();
            }
        }
        self.end_all();
    }

    /// Frees what those have published who have ended unseen: children of others.
    fn sweep(&self) {
        // What cannot be read or freed now is freed later.
        let Ok(published) = self.page().published() else { return };
        let slots = published.table.slots.iter().map(|slot| slot.pid);
        let all: BTreeSet<u32> = slots.chain(published.foreign_pids()).collect();
        for pid in all.into_iter().filter(|pid| !is_alive(*pid)) {
            let _ = self.page().free_all(pid);
        }
    }

    /// Ends whoever has this clock: children of children too, which nobody would serve any more.
    fn end_all(&self) {
        let page = self.page().place();
        let Ok(inode) = std::fs::metadata(page).map(|page| page.ino().to_string()) else { return };
        // Some may be starting others just now.
        for _ in 0..ENDINGS {
            let ended = exec::all_with(&inode).into_iter().filter(|pid| kill(*pid, Signal::SIGKILL).is_ok());
            if ended.count() == 0 {
                return;
            }
        }
    }

    pub(super) fn page(&self) -> &Arc<Page> {
        self.shared.own().expect("only an owner has an usher").page()
    }

    fn spawn(&mut self, mut command: Command, clock: VirtualClock) -> Result<Foreign, SpawnError> {
        let program = name(&command);
        let foreign = |why: Unsupported| SpawnError::Foreign { program: program.clone(), why };
        if self.shared.mover == Mover::Machine {
            let child =
                start(&mut command, || Ok(())).map_err(|source| SpawnError::Program { program, source })?;
            return Ok(self.welcome(child, clock));
        }
        command.env_remove(PAGE_VARIABLE);
        let child = start(&mut command, be_traced).map_err(|e| match e.raw_os_error() {
            Some(CANNOT_BE_TRACED) => foreign(Unsupported::new(
                "ptrace is forbidden here, or this process is itself being traced with its children",
            )),
            _ => SpawnError::Program { program: program.clone(), source: e },
        })?;
        let pid = Pid::from_raw(child.id().cast_signed());
        if let Err(refusal) = self.bring_in(pid) {
            end(child);
            return Err(foreign(refusal.into()));
        }
        Ok(self.welcome(child, clock))
    }

    fn welcome(&mut self, child: Child, clock: VirtualClock) -> Foreign {
        let life = Arc::new(Life::new(Pid::from_raw(child.id().cast_signed())));
        self.children.insert(life.pid(), Arc::clone(&life));
        Foreign { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, life, _clock: clock }
    }

    /// Gives a child that has just been started the clock, and counts it in.
    fn bring_in(&self, pid: Pid) -> Result<(), Refusal> {
        let step = |e: Errno| Refusal::Step("stop at its first instruction", e.into());
        loop {
            match trace::stop(pid).map_err(step)? {
                Stop::Signal(libc::SIGTRAP) => break,
                other => trace::go_on(pid, other).map_err(step)?,
            }
        }
        ptrace::setoptions(pid, ptrace::Options::PTRACE_O_EXITKILL).map_err(step)?;
        self.enrol(pid)?;
        inject(pid, self.page().place(), Filter::Missing)
    }

    pub(super) fn enrol(&self, pid: Pid) -> Result<(), Refusal> {
        self.shared.ensure_governor();
        let enrolled = self.page().enrol(pid.as_raw().unsigned_abs());
        if enrolled.map_err(|e| Refusal::Step("be counted in", e))? {
            Ok(())
        } else {
            Err(Refusal::Unsupported(Unsupported::new(
                "as many processes as there is room for have it already",
            )))
        }
    }

    /// Notes who has ended, and frees what they had.
    fn reap(&mut self) {
        let page = Arc::clone(self.page());
        let called = &self.called;
        self.children.retain(|pid, life| {
            // To look at one that is called would take the stop for us that it is called for.
            let alive = called.values().any(|thread| thread == pid) || life.look();
            if !alive {
                // What cannot be freed now is freed later.
                let _ = page.free_all(pid.as_raw().unsigned_abs());
            }
            alive
        });
        self.unburied.retain(|thread| !trace::bury(*thread));
    }

    /// A thread that was traced has ended, or may have.
    pub(super) fn bury(&mut self, thread: Pid) {
        if !self.children.contains_key(&thread) && !trace::bury(thread) {
            self.unburied.insert(thread);
        }
    }
}

/// Has a program stop at its first instruction.
fn be_traced() -> io::Result<()> {
    ptrace::traceme().map_err(|_| io::Error::from_raw_os_error(CANNOT_BE_TRACED))
}

/// Starts a program that ends when this thread does. It blocks no signals, whatever this process blocks.
#[expect(unsafe_code, reason = "code between fork and exec must be declared safe there")]
fn start(command: &mut Command, also: fn() -> io::Result<()>) -> io::Result<Child> {
    let parent = getpid();
    let prepare = move || {
        set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        if getppid() != Some(parent) {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        SigSet::empty().thread_set_mask()?;
        also()
    };
    // SAFETY: it makes four system calls at most, takes no lock and no memory.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}

fn end(mut child: Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}
