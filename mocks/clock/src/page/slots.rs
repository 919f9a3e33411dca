//! The slot table of the page: one slot for each clock that was joined, in which its process publishes what it waits
//! for and whether it is busy.
//!
//! | in a slot | type | content |
//! |---|---|---|
//! | 0 | u32 | process id; 0 is a free slot |
//! | 4 | u32 | thread id of its timer thread; 0 has none yet |
//! | 8 | u64 | virtual monotonic nanosecond of its next deadline; 0 waits for nothing |
//! | 16 | u64 | guards it holds: not 0 is busy |
//! | 24 | u64 | activity: 0 until its process has joined, then grows with every guard taken |
//!
//! Slots are taken under a file lock, which dies with its holder. Afterwards each word has one writer. A reader
//! can see a word half written, so the coordinator trusts a table only when two readings some time apart agree.

use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::layout::{self, SHARED, head};
use super::{Page, half_word, index, word};
use crate::machine;

const TURNED_AWAY: u64 = SHARED + head::TURNED_AWAY;
const HEAD: usize = index(layout::SLOTS);
const TABLE: u64 = SHARED + layout::SLOTS;
const LENGTH: usize = 32;
/// Where the table ends in the shared part.
pub(super) const END: usize = HEAD + SLOTS * LENGTH;
/// The activity of a process that has just joined.
const JOINED: u64 = 1;
/// How often, and how far apart, the lock is tried: for a second, where a microsecond is usual.
const LOCK_TRIES: u32 = 5_000;
const LOCK_PAUSE: Duration = Duration::from_micros(200);

/// How many can take part.
pub(crate) const SLOTS: usize = 64;

/// One clock of one process, as that describes itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) pid: u32,
    pub(crate) timer_thread: Option<u32>,
    pub(crate) deadline: Option<u64>,
    pub(crate) guards: u64,
    pub(crate) activity: u64,
}

/// All taken slots, and whether everybody found one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) slots: Vec<Slot>,
    pub(crate) turned_away: u64,
}

impl Table {
    /// Reads it from the shared part, up to its own end.
    pub(super) fn read(shared: &[u8; END]) -> Self {
        let (head, slots) = shared.split_at(HEAD);
        let some = |value: u64| (value != 0).then_some(value);
        let slot = |at: &[u8]| Slot {
            pid: half_word(at, 0),
            timer_thread: Some(half_word(at, 4)).filter(|tid| *tid != 0),
            deadline: some(word(at, 8)),
            guards: word(at, 16),
            activity: word(at, 24),
        };
        let taken = slots.chunks_exact(LENGTH).filter(|at| half_word(at, 0) != 0);
        Self { slots: taken.map(slot).collect(), turned_away: word(head, 0) }
    }
}

/// A slot, to be written by its process.
#[derive(Debug)]
pub(crate) struct OwnSlot {
    page: Arc<Page>,
    at: u64,
    pid: u32,
}

impl OwnSlot {
    /// Says which thread wakes this process's sleepers.
    pub(crate) fn set_timer_thread(&self, tid: u32) {
        self.write(4, &tid.to_ne_bytes());
    }

    /// Says what this process waits for.
    pub(crate) fn set_deadline(&self, deadline: Option<u64>) {
        self.write(8, &deadline.unwrap_or(0).to_ne_bytes());
    }

    /// Says how many guards are held, and how many ever were.
    pub(crate) fn set_guards(&self, guards: u64, taken: u64) {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&guards.to_ne_bytes());
        bytes[8..].copy_from_slice(&(taken + JOINED).to_ne_bytes());
        self.write(16, &bytes);
    }

    fn write(&self, at: u64, bytes: &[u8]) {
        self.page.file.write_all_at(bytes, self.at + at).expect("a file in memory can be written");
    }
}

impl Drop for OwnSlot {
    fn drop(&mut self) {
        self.page.free(self.at, self.pid);
    }
}

impl Page {
    /// Gives `pid` a slot of its own: the one it was enrolled in, or a free one. `None`: the table is full, and
    /// says so from now on.
    pub(crate) fn take_slot(self: &Arc<Self>, pid: u32) -> io::Result<Option<OwnSlot>> {
        let _lock = Lock::new(self)?;
        let table = self.raw_table()?;
        let enrolled = (0..SLOTS).find(|n| {
            let slot = &table[n * LENGTH..(n + 1) * LENGTH];
            half_word(slot, 0) == pid && word(slot, 24) == 0
        });
        let Some(at) = enrolled.map(place).map_or_else(|| self.new_slot(&table, pid), |at| Ok(Some(at)))?
        else {
            return Ok(None);
        };
        let slot = OwnSlot { page: Arc::clone(self), at, pid };
        slot.set_guards(0, 0);
        Ok(Some(slot))
    }

    /// Gives `pid` a slot that it may take over later. False: the table is full.
    pub(crate) fn enrol(&self, pid: u32) -> io::Result<bool> {
        let _lock = Lock::new(self)?;
        let table = self.raw_table()?;
        if (0..SLOTS).any(|n| half_word(&table, n * LENGTH) == pid) {
            return Ok(true);
        }
        Ok(self.new_slot(&table, pid)?.is_some())
    }

    fn new_slot(&self, table: &[u8; SLOTS * LENGTH], pid: u32) -> io::Result<Option<u64>> {
        let pid_of = |n: &usize| half_word(table, n * LENGTH);
        let free = (0..SLOTS).find(|n| pid_of(n) == 0);
        let Some(n) = free.or_else(|| (0..SLOTS).find(|n| !is_alive(pid_of(n)))) else {
            self.put_u64(TURNED_AWAY, self.get_u64(TURNED_AWAY)?.saturating_add(1))?;
            return Ok(None);
        };
        // The pid last: before it, nobody looks at the rest.
        self.file.write_all_at(&[0; LENGTH], place(n))?;
        self.file.write_all_at(&pid.to_ne_bytes(), place(n))?;
        Ok(Some(place(n)))
    }

    /// Frees the slots of a process that is gone.
    pub(crate) fn expel(&self, pid: u32) -> io::Result<()> {
        let table = self.raw_table()?;
        (0..SLOTS).filter(|n| half_word(&table, n * LENGTH) == pid).for_each(|n| self.free(place(n), pid));
        Ok(())
    }

    fn free(&self, at: u64, pid: u32) {
        // A page that cannot be locked or read belongs to a process that is ending: nothing to free.
        let Ok(_lock) = Lock::new(self) else { return };
        let mut holder = [0; 4];
        if self.file.read_exact_at(&mut holder, at).is_ok() && u32::from_ne_bytes(holder) == pid {
            let _ = self.file.write_all_at(&[0; LENGTH], at);
        }
    }

    /// Everybody who takes part, as far as one reading can tell.
    pub(crate) fn table(&self) -> io::Result<Table> {
        let mut bytes = [0; END];
        self.file.read_exact_at(&mut bytes, SHARED)?;
        Ok(Table::read(&bytes))
    }

    fn raw_table(&self) -> io::Result<[u8; SLOTS * LENGTH]> {
        let mut bytes = [0; SLOTS * LENGTH];
        self.file.read_exact_at(&mut bytes, TABLE)?;
        Ok(bytes)
    }
}

/// Where slot `n` begins.
fn place(n: usize) -> u64 {
    TABLE + (n * LENGTH) as u64
}

/// Whether a process lives; one that has ended and waits to be reaped does not. One whose first thread has ended
/// lives on with its others.
pub(crate) fn is_alive(pid: u32) -> bool {
    let Some(stat) = stat(pid) else { return false };
    let mut fields = stat.split(' ');
    let ended = matches!(fields.next(), Some("Z" | "X"));
    let threads = fields.nth(16).and_then(|threads| threads.parse::<u32>().ok());
    !ended || threads.is_some_and(|threads| threads > 1)
}

/// The letter by which the kernel tells what a process does, if there is such a process.
pub(crate) fn state(pid: u32) -> Option<char> {
    stat(pid)?.chars().next()
}

/// What the kernel tells of a process, after its name.
fn stat(pid: u32) -> Option<String> {
    // Names may hold any bytes.
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    Some(String::from_utf8_lossy(&stat).rsplit_once(") ")?.1.to_owned())
}

/// The lock under which slots change hands: among the threads that share this open file, and among processes.
struct Lock<'a> {
    page: &'a Page,
    _threads: MutexGuard<'a, ()>,
}

impl<'a> Lock<'a> {
    fn new(page: &'a Page) -> io::Result<Self> {
        let threads = page.slots_change.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever holds it may be stopped for good, and must not take us with him.
        for _ in 0..LOCK_TRIES {
            match flock(&page.file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { page, _threads: threads }),
                Err(Errno::WOULDBLOCK) => machine::pause(LOCK_PAUSE),
                Err(e) => return Err(e.into()),
            };
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "a process keeps the slot table locked; is it stopped?"))
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        let _ = flock(&self.page.file, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Barrier, mpsc};

    use proptest::prelude::*;

    use super::*;
    use crate::line::Line;

    fn page() -> Arc<Page> {
        Arc::new(Page::create(Line::still(0, 0), 0, 0).unwrap())
    }

    #[derive(Clone, Debug)]
    enum Step {
        Enrol,
        Take,
        Write { which: prop::sample::Index, deadline: Option<u64>, guards: u64 },
        Leave(prop::sample::Index),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let deadline = prop::option::of(1..u64::MAX);
        let step = prop_oneof![
            1 => Just(Step::Enrol),
            4 => Just(Step::Take),
            4 => (any::<prop::sample::Index>(), deadline, any::<u64>())
                .prop_map(|(which, deadline, guards)| Step::Write { which, deadline, guards }),
            2 => any::<prop::sample::Index>().prop_map(Step::Leave),
        ];
        prop::collection::vec(step, 0..150)
    }

    proptest! {
        /// Whoever comes, writes and leaves: the table shows those who are there, each with what it wrote last.
        #[test]
        fn the_table_shows_what_a_plain_list_would(steps in steps()) {
            let page = page();
            let me = std::process::id();
            let (mut enrolled, mut turned_away) = (false, 0);
            let mut there: Vec<(OwnSlot, Option<u64>, u64)> = Vec::new();
            for step in steps {
                match step {
                    Step::Enrol => {
                        // It has a slot already if it joined; otherwise there is always room for the first.
                        enrolled |= there.is_empty();
                        prop_assert!(page.enrol(me).unwrap());
                    }
                    Step::Take => match page.take_slot(me).unwrap() {
                        Some(slot) => {
                            enrolled = false;
                            there.push((slot, None, 0));
                        }
                        None => turned_away += 1,
                    },
                    Step::Write { .. } | Step::Leave(_) if there.is_empty() => {}
                    Step::Write { which, deadline, guards } => {
                        let which = which.index(there.len());
                        there[which].0.set_deadline(deadline);
                        there[which].0.set_guards(guards, 0);
                        (there[which].1, there[which].2) = (deadline, guards);
                    }
                    Step::Leave(which) => drop(there.swap_remove(which.index(there.len()))),
                }
                let table = page.table().unwrap();
                let mut shown: Vec<_> = table.slots.iter().map(|slot| (slot.deadline, slot.guards)).collect();
                let mut expected: Vec<_> = there.iter().map(|(_, deadline, guards)| (*deadline, *guards)).collect();
                expected.extend(enrolled.then_some((None, 0)));
                shown.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(shown, expected);
                prop_assert_eq!(table.turned_away, turned_away);
                prop_assert!(table.slots.len() <= SLOTS);
            }
        }
    }

    #[test]
    fn a_slot_says_what_its_process_waits_for() {
        let page = page();
        let me = std::process::id();
        let slot = page.take_slot(me).unwrap().unwrap();
        slot.set_deadline(Some(99));
        slot.set_guards(2, 7);
        slot.set_timer_thread(5);
        let expected = Slot { pid: me, timer_thread: Some(5), deadline: Some(99), guards: 2, activity: 8 };
        assert_eq!(page.table().unwrap().slots, [expected]);
        drop(slot);
        assert_eq!(page.table().unwrap(), Table::default());
    }

    #[test]
    fn a_process_takes_over_the_slot_it_was_enrolled_in() {
        let page = page();
        let me = std::process::id();
        assert!(page.enrol(me).unwrap());
        let _slot = page.take_slot(me).unwrap().unwrap();
        assert_eq!(page.table().unwrap().slots.len(), 1);
        let _second_clock = page.take_slot(me).unwrap().unwrap();
        assert_eq!(page.table().unwrap().slots.len(), 2, "a second clock has its own deadlines");
    }

    #[test]
    fn a_full_table_remembers_whom_it_turned_away() {
        let page = page();
        let living = Barrier::new(SLOTS + 2);
        std::thread::scope(|scope| {
            // Threads have ids of the same kind, and these live as long as the test needs them.
            let (tell, told) = mpsc::channel();
            for _ in 0..=SLOTS {
                let (tell, living) = (tell.clone(), &living);
                scope.spawn(move || {
                    tell.send(machine::thread_id()).unwrap();
                    living.wait();
                });
            }
            let enrolled = told.iter().take(SLOTS + 1).filter(|id| page.enrol(*id).unwrap()).count();
            living.wait();
            assert_eq!(enrolled, SLOTS);
        });
        assert_eq!(page.table().unwrap().turned_away, 1);
    }

    #[test]
    fn a_lock_that_is_never_released_is_no_hang() {
        let page = page();
        let (other, _) = Page::open(page.place()).unwrap();
        flock(&other.file, FlockOperation::LockExclusive).unwrap();
        assert_eq!(page.enrol(1).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn the_slot_of_the_dead_is_given_away() {
        let page = page();
        for n in 0..u32::try_from(SLOTS).unwrap() {
            assert!(page.enrol(4_194_304 + n).unwrap());
        }
        assert!(page.enrol(std::process::id()).unwrap());
        assert_eq!(page.table().unwrap().slots.len(), SLOTS);
        assert_eq!(page.table().unwrap().turned_away, 0);
        page.expel(4_194_310).unwrap();
        assert_eq!(page.table().unwrap().slots.len(), SLOTS - 1);
    }
}
