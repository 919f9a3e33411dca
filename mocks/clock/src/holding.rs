//! Why time is not jumping right now, in words for whoever waits for it.

use std::fmt;
use std::time::Duration;

use crate::coordinator::sockets::OnItsWay;
use crate::coordinator::threads::ThreadName;
use crate::guards::Guard;
use crate::page::Thread;
use crate::page::calls::Name;

/// One reason. The coordinator finds one at each look; it prints after "not jumping: ".
#[derive(Clone, Debug)]
pub(crate) enum Holding {
    /// Guards of this process are held.
    Busy { guards: usize, oldest: Guard },
    /// Guards of another process are held.
    PeerBusy { pid: u32, guards: u64 },
    /// A thread is running.
    Running(ThreadName),
    /// All sleep, but not for long enough to be sure; and who has run, where it is known.
    Settling(Option<ThreadName>),
    /// Something is between two processes.
    OnItsWay(OnItsWay),
    /// Somebody's deadline has passed, and they have not been woken yet.
    Overdue { whose: Whose, by: Duration },
    /// The next deadline is so near that waiting is cheaper.
    Soon { in_virtual: Duration },
    /// No timer is set anywhere.
    NothingAwaited,
    /// More processes than slots.
    TableFull { turned_away: u64 },
    /// More threads that wait than entries for them.
    Crowded { threads: u64 },
    /// The kernel did not tell what must be known.
    Blind(String),
    /// The coordinator has only just started.
    NotLookedYet,
}

/// Whose deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// A timer of this process, and the source line that set it.
    Ours(&'static std::panic::Location<'static>),
    /// Another process.
    Process(u32),
    /// A thread of a foreign process, and the system call in which it waits.
    Thread(Thread, u64),
    /// A timer of a foreign process, and the system call that has set it.
    Alarm(u32, u32),
}

impl fmt::Display for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Whose::Ours(at) => write!(f, "this process, set at {at}"),
            Whose::Process(pid) => write!(f, "process {pid}"),
            Whose::Thread(Thread { tid, pid }, call) => {
                write!(f, "thread {tid} of process {pid}, in {}", Name(*call))
            }
            Whose::Alarm(pid, call) => write!(f, "process {pid}, which has called {}", Name((*call).into())),
        }
    }
}

impl fmt::Display for Holding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holding::Busy { guards, oldest } => {
                write!(f, "guards held here: {guards}, the oldest taken at {}", oldest.taken_at)
            }
            Holding::PeerBusy { pid, guards } => write!(f, "guards held by process {pid}: {guards}"),
            Holding::Running(thread) => thread.fmt(f),
            Holding::Settling(None) => f.write_str("all have just fallen asleep"),
            Holding::Settling(Some(thread)) => write!(f, "all have just fallen asleep: {thread}"),
            Holding::OnItsWay(what) => what.fmt(f),
            Holding::Overdue { whose, by } => {
                write!(f, "a deadline passed {by:.1?} ago and has not been served yet: {whose}")
            }
            Holding::Soon { in_virtual } => write!(f, "the next deadline is only {in_virtual:.1?} away"),
            Holding::NothingAwaited => f.write_str("nobody waits for a deadline"),
            Holding::TableFull { turned_away } => write!(
                f,
                "the slot table is full: whoever came after that ({turned_away} so far) runs without a slot, and nobody knows what it waits for"
            ),
            Holding::Crowded { threads } => write!(
                f,
                "the table of waits is full: nobody knows until when {threads} more threads of foreign processes wait"
            ),
            Holding::Blind(why) => write!(f, "cannot see whether all sleep: {why}"),
            Holding::NotLookedYet => f.write_str("the coordinator has not looked yet"),
        }
    }
}

impl Holding {
    /// Whether it is the same reason as before, whatever its details.
    pub(crate) fn is_like(&self, other: &Holding) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}
