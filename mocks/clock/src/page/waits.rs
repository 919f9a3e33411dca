//! The table of waits: which threads of foreign processes wait, and until when.
//!
//! A thread takes a free entry for each wait, with a number that no other wait has, and empties it before it goes on.
//! As long as entry and number are the same, it has not gone on. Whoever finds no free entry is counted instead.
//!
//! Foreign processes write here what they like: nothing that is read is taken for granted.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::FileExt;

use super::layout::{SHARED, WAITS, WAITS_MAX, head, wait};
use super::{Page, Thread, index, word};

const TABLE: u64 = SHARED + WAITS;
const LENGTH: usize = index(wait::LENGTH);
/// Both ids of a thread are one word.
const _: () = assert!(wait::PID == wait::TID + 4);
const CROWDED: usize = index(head::CROWDED);
const TOP: usize = index(head::WAITS_TOP);
const COUNTERS: usize = TOP + 8;

/// A thread that waits for a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) thread: Thread,
    pub(crate) deadline: u64,
    /// No other wait has it.
    pub(crate) number: u64,
    /// The system call in which it waits.
    pub(crate) call: u64,
    /// Which entry it is.
    pub(crate) entry: u64,
}

/// All who wait for a deadline, and how many more there are of whom nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waits {
    /// Of each thread the last that it has begun.
    pub(crate) entries: Vec<Wait>,
    /// Those in the middle of which their thread has begun another: a signal handler waits, or has left by a long jump. Their
    /// deadline cannot be served before the other wait ends.
    pub(crate) superseded: Vec<Wait>,
    pub(crate) crowded: u64,
}

impl Waits {
    /// The threads of one process that wait, and the numbers of their waits.
    pub(crate) fn of(&self, pid: u32) -> BTreeMap<u32, u64> {
        let its = self.entries.iter().filter(|wait| wait.thread.pid == pid);
        its.map(|wait| (wait.thread.tid, wait.number)).collect()
    }
}

impl Page {
    /// Everybody who waits, as far as one reading can tell. An entry without a deadline is only being written.
    pub(crate) fn waits(&self) -> io::Result<Waits> {
        let mut bytes = [0; COUNTERS];
        self.file.read_exact_at(&mut bytes, SHARED)?;
        self.waits_with(&bytes)
    }

    /// The same, where what is shared has been read already, at least its counters.
    pub(super) fn waits_with(&self, shared: &[u8]) -> io::Result<Waits> {
        let [crowded, top] = [CROWDED, TOP].map(|at| word(shared, at));
        let entries = self.raw_waits(top)?;
        let entries = (0..).zip(entries.chunks_exact(LENGTH)).filter_map(|(entry, bytes)| read(entry, bytes));
        let waiting: Vec<Wait> = entries.filter(|wait| wait.deadline != 0).collect();
        let mut last = BTreeMap::new();
        for wait in &waiting {
            let number = last.entry(wait.thread).or_insert(wait.number);
            *number = wait.number.max(*number);
        }
        let (entries, superseded) = waiting.into_iter().partition(|wait| last[&wait.thread] == wait.number);
        Ok(Waits { entries, superseded, crowded })
    }

    /// Empties the entries of a process whose threads wait no more: it has ended, or has become another program.
    pub(crate) fn free_waits(&self, pid: u32) -> io::Result<()> {
        let entries = self.raw_waits(self.get_u64(SHARED + head::WAITS_TOP)?)?;
        let waits = (0..).zip(entries.chunks_exact(LENGTH)).filter_map(|(entry, bytes)| read(entry, bytes));
        waits.filter(|wait| wait.thread.pid == pid).try_for_each(|wait| self.free_wait(&wait))
    }

    /// Empties the entry of a wait that has ended without doing so, unless it is another's by now.
    pub(crate) fn free_wait(&self, wait: &Wait) -> io::Result<()> {
        let mut bytes = [0; LENGTH];
        self.file.read_exact_at(&mut bytes, place(wait.entry))?;
        let still = read(wait.entry, &bytes)
            .is_some_and(|now| (now.thread, now.number) == (wait.thread, wait.number));
        if still {
            self.put_u64(place(wait.entry) + wait::DEADLINE, 0)?;
            self.put_u64(place(wait.entry) + wait::TID, 0)?;
        }
        Ok(())
    }

    /// The entries that were ever used, if it is true that there are `top`.
    fn raw_waits(&self, top: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; index(top.min(WAITS_MAX)) * LENGTH];
        if !bytes.is_empty() {
            self.file.read_exact_at(&mut bytes, TABLE)?;
        }
        Ok(bytes)
    }
}

fn place(entry: u64) -> u64 {
    TABLE + entry * wait::LENGTH
}

/// One entry; `None` if it is free.
fn read(entry: u64, bytes: &[u8]) -> Option<Wait> {
    let at = |field: u64| word(bytes, index(field));
    Some(Wait {
        thread: Thread::read(bytes, index(wait::TID))?,
        deadline: at(wait::DEADLINE),
        number: at(wait::NUMBER),
        call: at(wait::CALL),
        entry,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::line::Line;

    fn page() -> Page {
        Page::create(Line::still(0, 0), 0, 0).unwrap()
    }

    /// Writes what a waiting thread writes, in its order.
    pub(crate) fn begin(page: &Page, wait: &Wait) {
        let at = place(wait.entry);
        page.put_u64(at + wait::TID, wait.thread.word()).unwrap();
        let top = SHARED + head::WAITS_TOP;
        page.put_u64(top, page.get_u64(top).unwrap().max(wait.entry + 1)).unwrap();
        page.put_u64(at + wait::NUMBER, wait.number).unwrap();
        page.put_u64(at + wait::CALL, wait.call).unwrap();
        page.put_u64(at + wait::DEADLINE, wait.deadline).unwrap();
    }

    pub(crate) fn end(page: &Page, wait: &Wait) {
        page.put_u64(place(wait.entry) + wait::DEADLINE, 0).unwrap();
        page.put_u64(place(wait.entry) + wait::TID, 0).unwrap();
    }

    pub(crate) fn crowd(page: &Page, threads: u64) {
        page.put_u64(SHARED + head::CROWDED, threads).unwrap();
    }

    fn wait(entry: u64, thread: Thread) -> Wait {
        Wait { thread, deadline: 1_000 + entry, number: entry + 7, call: 202, entry }
    }

    fn waits() -> impl Strategy<Value = Vec<Wait>> {
        let thread = (1_u32.., any::<u32>()).prop_map(|(tid, pid)| Thread { tid, pid });
        let wait = (0..WAITS_MAX, thread, 1_u64.., any::<u64>(), any::<u64>()).prop_map(
            |(entry, thread, deadline, number, call)| Wait { thread, deadline, number, call, entry },
        );
        prop::collection::btree_map(0..WAITS_MAX, wait, 0..40)
            .prop_map(|waits| waits.into_iter().map(|(entry, wait)| Wait { entry, ..wait }).collect())
    }

    proptest! {
        /// What was written is read, in the order of the entries, and nothing once it has ended.
        #[test]
        fn whoever_waits_is_read(waits in waits(), pick: prop::sample::Index) {
            let page = page();
            for wait in &waits {
                begin(&page, wait);
            }
            prop_assert_eq!(&page.waits().unwrap().entries, &waits);
            if !waits.is_empty() {
                let one = waits[pick.index(waits.len())];
                page.free_waits(one.thread.pid).unwrap();
                let rest: Vec<_> =
                    waits.iter().filter(|wait| wait.thread.pid != one.thread.pid).copied().collect();
                prop_assert_eq!(page.waits().unwrap().entries, rest);
            }
            for wait in &waits {
                end(&page, wait);
            }
            prop_assert_eq!(page.waits().unwrap(), Waits::default());
        }

        /// Whatever a child writes into what is shared, reading it is no panic and no long work.
        #[test]
        fn any_bytes_are_read(
            at in 0..crate::page::layout::SHARED_LENGTH - 64,
            bytes in prop::collection::vec(any::<u8>(), 1..64),
            top: u64,
        ) {
            let page = page();
            page.put_u64(SHARED + head::WAITS_TOP, top).unwrap();
            page.file.write_all_at(&bytes, SHARED + at).unwrap();
            prop_assert!(page.published().unwrap().waits.entries.len() <= 1024);
            page.remarks().unwrap();
            page.exec_request().unwrap();
            page.free_waits(0).unwrap();
        }
    }

    #[test]
    fn a_wait_without_a_deadline_has_only_begun() {
        let page = page();
        let begun = Wait { deadline: 0, ..wait(3, Thread { tid: 5, pid: 4 }) };
        begin(&page, &begun);
        assert_eq!(page.waits().unwrap(), Waits::default());
        page.free_waits(4).unwrap();
        let taken = page.get_u64(place(3)).unwrap();
        assert_eq!(taken, 0, "it is emptied all the same");
        crowd(&page, 2);
        assert_eq!(page.waits().unwrap().crowded, 2);
    }

    #[test]
    fn an_entry_that_is_anothers_by_now_is_left_alone() {
        let page = page();
        let thread = Thread { tid: 5, pid: 4 };
        let (old, new) = (wait(0, thread), Wait { number: 99, ..wait(0, thread) });
        begin(&page, &new);
        page.free_wait(&old).unwrap();
        assert_eq!(page.waits().unwrap().entries, [new]);
        page.free_wait(&new).unwrap();
        assert_eq!(page.waits().unwrap().entries, []);
    }

    #[test]
    fn of_a_thread_only_its_last_wait_counts() {
        let page = page();
        let wait = |entry, tid, number| Wait {
            thread: Thread { tid, pid: 7 },
            deadline: 9,
            number,
            call: 35,
            entry,
        };
        let (outer, other, inner) = (wait(0, 70, 4), wait(1, 71, 5), wait(2, 70, 6));
        for wait in [&outer, &other, &inner] {
            begin(&page, wait);
        }
        let waits = page.waits().unwrap();
        assert_eq!((waits.entries, waits.superseded), (vec![other, inner], vec![outer]));
        page.free_wait(&inner).unwrap();
        assert_eq!(page.waits().unwrap().entries, [outer, other]);
    }
}
