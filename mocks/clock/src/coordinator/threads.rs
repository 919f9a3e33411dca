//! Whether a process sleeps: every thread asleep, and none has run since the last look.
//!
//! One look at many threads is no snapshot: the first can wake while the last is read. Two looks are one. If a
//! thread is off its processor at the second look, and its scheduling counters are what they were at the first, it
//! slept all the time between: whoever is woken must run before it sleeps again, and running counts. So there was a
//! moment, between the end of the first look and the start of the second, at which all of them slept. A thread that
//! is runnable and waits for a processor counts nothing, but shows its state, so a starved machine does not fool the
//! two looks. New threads need no second listing: whoever started one has run.
//!
//! The state alone is not enough: a thread about to wait is shown as asleep some hundred nanoseconds before it leaves
//! its processor, or finds that it need not wait and runs on, and its counters stand still until then. But only of a
//! thread that has left does the kernel tell in which function it waits (`wchan`). One of which it does not tell is
//! doubted for some looks, and believed then if it still has not run; so a kernel that never tells costs some looks.
//!
//! # Threads of foreign processes that wait
//!
//! Such a thread waits in many short chunks: it wakes each millisecond, and its counters always grow. What stands
//! still is its entry in [`crate::page::waits`], with a number that no other wait has. The table is read before the
//! first look, before the second, and after it. Let the entry be the same each time, and the thread asleep, off
//! its processor, at the second look. Then:
//!
//! - All the time it has been within one wait. A wait that ends empties its entry before any of its program's code
//!   runs, and the next has another number. So it has woken nobody.
//! - Nothing it waits for had come before the second look, at the moment when all others slept. It would have been
//!   found at the latest when the next chunk began, and from there on the thread is awake until its entry is
//!   empty. It cannot have been found later than the look either and be missed: the table is read again.
//! - A signal interrupts the chunk, and its handler is the program's code. A handler that is at work is seen
//!   awake, or has an entry of its own if it waits. When it returns, the chunk ends as interrupted, and the wait with it.
//!
//! What is not seen: a handler that has something done, in the moment between two looks, and then sleeps without a
//! deadline. Nor one that leaves by a long jump: its thread's entry stays, and covers what it does from there on, until
//! it is overdue and emptied ([`super::forsaken`]). Nor one in a call that the kernel then takes up again by itself
//! (`mq_timedsend`, `mq_timedreceive`, `recvmmsg`, `futex_wait`, `futex_waitv` under `SA_RESTART`, `FUTEX_LOCK_PI`
//! always): the wait goes on under the same number.
//!
//! A thread between two chunks is awake for some microseconds, and with many of them there is always one. It is
//! looked at again, some moments later: for its part, any moment before the table is read again will do.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use super::family;
use crate::{machine, page};

/// So often a thread that seems asleep, but may be on its processor, is not believed.
const DOUBTS: u32 = 3;
/// How often a thread between two chunks of its wait is looked at, and how far apart.
const CHANCES: u32 = 5;
const MOMENT: Duration = Duration::from_micros(20);

/// One process, with open files for each of its threads.
#[derive(Debug)]
pub(crate) struct Process {
    pid: u32,
    threads: Vec<Thread>,
    /// The list of threads must be read again.
    stale: bool,
    /// Who waited at the last look, and the numbers of their waits.
    waits: BTreeMap<u32, u64>,
    /// Somebody has run since the children of this process were last listed.
    may_have_forked: bool,
}

#[derive(Debug)]
struct Thread {
    tid: u32,
    stat: File,
    schedstat: File,
    /// Not every kernel has it.
    wchan: Option<File>,
    /// Nor this.
    children: Option<File>,
    ran: Ran,
    /// What it did when its state was last read; it does so still if it has not run since.
    state: char,
    /// What the last look found: that it had run since the one before, or was awake.
    had_run: bool,
    /// How many full looks in a row have found it asleep, but perhaps on its processor.
    doubts: u32,
    /// The kernel has told where it waits between two looks at the table of waits.
    told: bool,
}

/// How much one look reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// The counters, and the states of those who have run or were awake: cheaper, and enough for a first look.
    Glance,
    /// Also whether it is off its processor, and the state of those who may not be: what a second look needs.
    Full,
}

/// What one look has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Somebody is running, or waits for a processor or a disk.
    Awake(ThreadName),
    /// All sleep, but somebody, perhaps this one, has run since the last look.
    Stirred(Option<ThreadName>),
    /// All sleep, and none has run since the last look.
    Asleep,
    /// All are stopped, by a signal or a debugger.
    Stopped,
    /// The process has ended.
    Gone,
}

/// A thread, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ThreadName {
    pid: u32,
    tid: u32,
    name: String,
    state: char,
}

impl fmt::Display for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let doing = match self.state {
            'R' => "is running",
            'D' => "is in the kernel and cannot be interrupted",
            _ => "has just run",
        };
        write!(f, "thread {} ({}) of process {} {doing}", self.tid, self.name, self.pid)
    }
}

impl Process {
    pub(crate) fn new(pid: u32) -> Self {
        Self { pid, threads: Vec::new(), stale: true, waits: BTreeMap::new(), may_have_forked: true }
    }

    /// Whether the kernel counts what threads run: some have the file, and count nothing.
    pub(crate) fn is_counted(&self) -> bool {
        self.threads.iter().any(|thread| thread.ran.times > 0)
    }

    /// Looks at every thread but those to be skipped. `waits`: whose entry in the table of waits tells more than
    /// their counters, and the numbers there.
    pub(crate) fn look(
        &mut self,
        care: Care,
        skip: impl Fn(u32) -> bool,
        waits: &BTreeMap<u32, u64>,
    ) -> io::Result<Look> {
        let seen = self.look_at_each(care, skip, waits)?;
        if seen != Look::Asleep || self.waits != *waits {
            self.may_have_forked = true;
            self.waits.clone_from(waits);
        }
        Ok(seen)
    }

    /// The processes that this one has started, and `None` if it has not run since they were last listed.
    pub(crate) fn new_children(&mut self) -> io::Result<Option<BTreeSet<u32>>> {
        if !self.may_have_forked {
            return Ok(None);
        }
        // Before they are listed: whoever runs meanwhile is seen to have run at the next look.
        self.may_have_forked = false;
        let mut children = BTreeSet::new();
        for thread in &self.threads {
            let Some(list) = &thread.children else { return family::searched(self.pid).map(Some) };
            children.append(&mut family::listed(list)?);
        }
        Ok(Some(children))
    }

    fn look_at_each(
        &mut self,
        care: Care,
        skip: impl Fn(u32) -> bool,
        waits: &BTreeMap<u32, u64>,
    ) -> io::Result<Look> {
        let mut stale = self.stale;
        if stale && !self.list()? {
            return Ok(Look::Gone);
        }
        let (mut seen, mut stopped, mut dead, mut stirred) = (0, 0, 0, None);
        let (pid, listed) = (self.pid, self.threads.len());
        let name = |tid, stat: &Stat| ThreadName { pid, tid, name: stat.name.clone(), state: stat.state };
        for thread in self.threads.iter_mut().filter(|thread| !skip(thread.tid)) {
            let waits = waits.contains_key(&thread.tid);
            let found = if waits { thread.look_between_chunks(care)? } else { thread.look(care)? };
            let Some(found) = found else {
                self.stale = true;
                continue;
            };
            seen += 1;
            stopped += usize::from(thread.is_stopped());
            dead += usize::from(matches!(thread.state, 'Z' | 'X'));
            let Some(stat) = found.stat else { continue };
            self.stale |= stat.threads != listed;
            if stat.is_awake() {
                return Ok(Look::Awake(name(thread.tid, &stat)));
            }
            if found.ran {
                stirred = stirred.or_else(|| Some(name(thread.tid, &stat)));
            }
        }
        stale |= self.stale;
        Ok(match seen {
            _ if seen > 0 && dead == seen => Look::Gone,
            _ if stopped > 0 && stopped + dead == seen => Look::Stopped,
            _ if stale || stirred.is_some() => Look::Stirred(stirred),
            _ => Look::Asleep,
        })
    }

    /// Lists the threads anew; false if there is no such process.
    fn list(&mut self) -> io::Result<bool> {
        let tasks = format!("/proc/{}/task", self.pid);
        let Some(entries) = unless_gone(std::fs::read_dir(&tasks))? else { return Ok(false) };
        let known = std::mem::take(&mut self.threads);
        let mut known: BTreeMap<u32, Thread> = known.into_iter().map(|thread| (thread.tid, thread)).collect();
        for entry in entries {
            let Some(entry) = unless_gone(entry)? else { continue };
            let Some(tid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let thread = match known.remove(&tid) {
                Some(thread) => Some(thread),
                None => Thread::open(&tasks, tid)?,
            };
            self.threads.extend(thread);
        }
        self.stale = false;
        Ok(!self.threads.is_empty())
    }
}

impl Thread {
    fn open(tasks: &str, tid: u32) -> io::Result<Option<Self>> {
        let open = |name: &str| unless_gone(File::open(format!("{tasks}/{tid}/{name}")));
        let (Some(stat), Some(schedstat)) = (open("stat")?, open("schedstat")?) else { return Ok(None) };
        let (wchan, children, ran) = (open("wchan")?, open("children")?, Ran::default());
        Ok(Some(Self {
            tid,
            stat,
            schedstat,
            wchan,
            children,
            ran,
            state: '?',
            had_run: true,
            doubts: 0,
            told: false,
        }))
    }

    /// `None` if the thread has ended.
    fn look(&mut self, care: Care) -> io::Result<Option<Found>> {
        // The counters come last: one who is off its processor, and is then seen not to have run, slept on. Its state is
        // the dearest to read, and need not be: who sleeps and has not run since it was read sleeps as it did then.
        let on_processor = care == Care::Full && self.may_be_on_processor()?;
        let mut stat = None;
        if self.had_run || on_processor {
            let Some(now) = self.stat()? else { return Ok(None) };
            stat = Some(now);
        }
        let Some(text) = read(&self.schedstat)? else { return Ok(None) };
        let counted = Ran::parse(&text)?;
        let ran = counted != self.ran;
        self.ran = counted;
        if ran && stat.is_none() {
            let Some(now) = self.stat()? else { return Ok(None) };
            stat = Some(now);
        }
        let doubtful = on_processor && self.doubts < DOUBTS;
        self.doubts = if on_processor && !ran { self.doubts.saturating_add(1) } else { 0 };
        self.had_run = ran || stat.as_ref().is_some_and(Stat::is_awake);
        Ok(Some(Found { ran: ran || doubtful, stat }))
    }

    /// The same for one whose wait is in the table. A glance says nothing of it: its counters grow all the time.
    fn look_between_chunks(&mut self, care: Care) -> io::Result<Option<Found>> {
        // When it waits no more, its counters tell nothing until they have been read again.
        self.had_run = true;
        let mut found = Found { ran: false, stat: None };
        // Once seen stopped it is looked at, or nobody would find out that it goes on.
        if care == Care::Glance && !self.is_stopped() {
            return Ok(Some(found));
        }
        for chance in 0..CHANCES {
            if chance > 0 {
                machine::pause(MOMENT);
            }
            let Some(stat) = self.stat()? else { return Ok(None) };
            let on_processor = self.may_be_on_processor()?;
            self.told |= !on_processor;
            let doubtful = on_processor && (self.told || self.doubts < DOUBTS);
            self.doubts = if on_processor { self.doubts.saturating_add(1) } else { 0 };
            let at_rest = !doubtful && !stat.is_awake();
            found = Found { ran: doubtful, stat: Some(stat) };
            if at_rest {
                break;
            }
        }
        Ok(Some(found))
    }

    /// What it does; `None` if it has ended.
    fn stat(&mut self) -> io::Result<Option<Stat>> {
        let Some(text) = read(&self.stat)? else { return Ok(None) };
        let stat = Stat::parse(&text)?;
        self.state = stat.state;
        Ok(Some(stat))
    }

    /// By a signal or a debugger, when its state was last read.
    fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }

    /// Only of a thread off its processor does the kernel tell where it waits.
    fn may_be_on_processor(&self) -> io::Result<bool> {
        let function = self.wchan.as_ref().map(read).transpose()?.flatten();
        Ok(function.is_none_or(|function| function == "0"))
    }
}

/// What one thread does, and what it has run, now; `None` if it has ended.
pub(super) fn sample(thread: page::Thread) -> io::Result<Option<(char, Ran)>> {
    let Some(thread) = Thread::open(&format!("/proc/{}/task", thread.pid), thread.tid)? else {
        return Ok(None);
    };
    let (Some(stat), Some(ran)) = (read(&thread.stat)?, read(&thread.schedstat)?) else { return Ok(None) };
    Ok(Some((Stat::parse(&stat)?.state, Ran::parse(&ran)?)))
}

/// What a look at one thread has found.
struct Found {
    /// It has run since the last look, or may be running on.
    ran: bool,
    stat: Option<Stat>,
}

/// What `stat` says of a thread.
struct Stat {
    name: String,
    state: char,
    /// How many threads its process has.
    threads: usize,
}

impl Stat {
    /// `tid (name) state …`, and the name may hold anything.
    fn parse(text: &str) -> io::Result<Self> {
        let parsed = || {
            let (before, after) = text.rsplit_once(") ")?;
            let (_, name) = before.split_once('(')?;
            let mut fields = after.split(' ');
            let state = fields.next()?.chars().next()?;
            Some(Self { name: name.to_owned(), state, threads: fields.nth(16)?.parse().ok()? })
        };
        parsed().ok_or_else(|| unreadable("stat"))
    }

    fn is_awake(&self) -> bool {
        matches!(self.state, 'R' | 'D')
    }
}

/// What the scheduler counts for a thread: nanoseconds on a processor, and how often it was given one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ran {
    nanoseconds: u64,
    times: u64,
}

impl Ran {
    fn parse(text: &str) -> io::Result<Self> {
        let mut fields = text.split_ascii_whitespace().map(|field| field.parse().ok());
        let mut parsed = || {
            let (nanoseconds, _waited, times) = (fields.next()??, fields.next()?, fields.next()??);
            Some(Self { nanoseconds, times })
        };
        parsed().ok_or_else(|| unreadable("schedstat"))
    }
}

/// Reads a file of a thread; `None` if the thread has ended.
fn read(file: &File) -> io::Result<Option<String>> {
    let mut bytes = [0; 1024];
    let Some(length) = unless_gone(file.read_at(&mut bytes, 0))? else { return Ok(None) };
    // Names may hold any bytes.
    Ok(Some(String::from_utf8_lossy(&bytes[..length]).into_owned()))
}

/// Threads and processes end at any time; that is no error.
pub(super) fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    const NO_SUCH_PROCESS: i32 = rustix::io::Errno::SRCH.raw_os_error();
    match result {
        Ok(value) => Ok(Some(value)),
        Err(e) if e.kind() == io::ErrorKind::NotFound || e.raw_os_error() == Some(NO_SUCH_PROCESS) => {
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

fn unreadable(what: &str) -> io::Error {
    io::Error::other(format!("cannot make sense of this kernel's /proc/…/{what}"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::sync::mpsc;

    use super::*;

    /// Starts `script`, looks until it is seen as `wanted`, kills it, and looks again.
    fn see(care: Care, script: &str, signal: &str, wanted: &Look) {
        let mut child = std::process::Command::new("sh").args(["-c", script]).spawn().unwrap();
        let pid = child.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let mut process = Process::new(child.id());
        let seen = machine::comes(|| process.look(care, |_| false, &BTreeMap::new()).unwrap() == *wanted);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(seen, "never seen as {wanted:?} in a minute");
        let ended = process.look(care, |_| false, &BTreeMap::new()).unwrap();
        assert!(matches!(ended, Look::Stirred(_)), "its thread has ended: {ended:?}");
        assert_eq!(
            process.look(care, |_| false, &BTreeMap::new()).unwrap(),
            Look::Gone,
            "and there is no other"
        );
    }

    #[test]
    fn a_process_is_seen_asleep_stopped_and_gone() {
        see(Care::Full, "exec sleep 600", "-CONT", &Look::Asleep);
        see(Care::Glance, "exec sleep 600", "-CONT", &Look::Asleep);
        see(Care::Full, "exec sleep 600", "-STOP", &Look::Stopped);
    }

    /// A glance reads no state of one whose wait is in the table: it must not go on believing that it is stopped.
    #[test]
    fn one_who_waits_and_was_stopped_is_seen_to_go_on() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id();
        let signal = |name: &str| {
            std::process::Command::new("kill").args([name, &pid.to_string()]).status().unwrap();
        };
        let mut process = Process::new(pid);
        let waits = BTreeMap::from([(pid, 1)]);
        let mut sees =
            |care, wanted: Look| machine::comes(|| process.look(care, |_| false, &waits).unwrap() == wanted);
        signal("-STOP");
        let stopped = sees(Care::Full, Look::Stopped);
        signal("-CONT");
        let goes_on = sees(Care::Glance, Look::Asleep);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((stopped, goes_on), (true, true));
    }

    #[test]
    fn this_thread_is_awake_and_others_are_asleep() {
        let (tell, told) = mpsc::channel::<()>();
        let me = machine::thread_id();
        let other = std::thread::spawn(move || told.recv());
        let mut process = Process::new(std::process::id());
        for care in [Care::Glance, Care::Full] {
            let only_me = process.look(care, |tid| tid != me, &BTreeMap::new()).unwrap();
            assert!(matches!(&only_me, Look::Awake(name) if name.tid == me), "{only_me:?}");
        }
        drop(tell);
        let _ = other.join().unwrap();
    }

    /// One thread computes and parks, for times drawn without a generator, and tells how far it has come. Whenever
    /// two looks find it asleep, it must not have moved between them.
    #[test]
    #[ignore = "takes a minute of one processor"]
    fn two_looks_never_take_one_who_runs_for_asleep() {
        static RAN: AtomicU64 = AtomicU64::new(0);
        static DONE: AtomicBool = AtomicBool::new(false);
        let (tell, told) = mpsc::channel();
        let runner = std::thread::spawn(move || {
            tell.send(machine::thread_id()).unwrap();
            let mut drawn = 12_345_u64;
            while !DONE.load(Ordering::Relaxed) {
                drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                for _ in 0..(drawn >> 33) % 60_000 {
                    RAN.fetch_add(1, Ordering::SeqCst);
                }
                machine::pause(Duration::from_micros(60));
            }
        });
        let tid = told.recv().unwrap();
        let mut process = Process::new(std::process::id());
        let (mut wrong, none) = (Vec::new(), BTreeMap::new());
        for pair in 0..400_000 {
            let first = if pair % 2 == 0 { Care::Glance } else { Care::Full };
            if matches!(process.look(first, |t| t != tid, &none).unwrap(), Look::Awake(_)) {
                continue;
            }
            let before = RAN.load(Ordering::SeqCst);
            (0..2_000).for_each(|_| std::hint::spin_loop());
            let after = RAN.load(Ordering::SeqCst);
            if process.look(Care::Full, |t| t != tid, &none).unwrap() == Look::Asleep && before != after {
                wrong.push(first);
            }
        }
        DONE.store(true, Ordering::Relaxed);
        runner.join().unwrap();
        assert!(wrong.is_empty(), "{} of 400,000 pairs, after {wrong:?}", wrong.len());
    }

    #[test]
    fn names_may_hold_anything() {
        let text = "12 (a) R (b) S 1 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 9 0 33";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((&*stat.name, stat.state, stat.threads), ("a) R (b", 'S', 9));
        assert!(Stat::parse("12 (short) S 1").is_err());
        assert_eq!(Ran::parse("667461 51377 4\n").unwrap(), Ran { nanoseconds: 667_461, times: 4 });
        assert!(Ran::parse("667461").is_err());
    }
}
