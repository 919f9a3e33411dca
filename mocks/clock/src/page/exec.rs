//! How a foreign process starts another program: it asks, because the new one must be brought onto the clock.
//!
//! Some words, each with one writer at a time:
//!
//! 1. The thread that wants to blocks all signals, so that nothing leads it away. It writes itself into the request, by
//!    comparing and swapping, when that is empty.
//! 2. The owner makes ready, and writes the thread into the answer. Or it empties the request without an answer: that
//!    is no.
//! 3. The thread, which has waited for an answer that names it, writes the signals that it blocked before, and starts
//!    the program.
//! 4. If the program could not be started, it writes itself into `failed`, and waits until that names it no more.
//! 5. The owner, once it sees the new program, or `failed`, or that the thread is gone, has [`Page::exec_done`].
//!
//! Nobody waits for a thread that may be stopped by others, and the program is given back the signals it had blocked.
//! The request is emptied last, so whoever is next in line finds no answer, and no failure, that is not for it: not
//! even the same thread, which may try again at once.

use std::io;

use super::layout::{SHARED, head};
use super::{Page, Thread};

const REQUEST: u64 = SHARED + head::EXEC_REQUEST;
const ANSWER: u64 = SHARED + head::EXEC_ANSWER;
const MASK: u64 = SHARED + head::EXEC_MASK;
const FAILED: u64 = SHARED + head::EXEC_FAILED;

impl Page {
    /// Who wants to start another program.
    pub(crate) fn exec_request(&self) -> io::Result<Option<Thread>> {
        self.thread(REQUEST)
    }

    /// Lets a thread that has asked go on.
    pub(crate) fn exec_answer(&self, who: Thread) -> io::Result<()> {
        self.put_u64(ANSWER, who.word())
    }

    /// The signals that the thread which has asked blocked before.
    pub(crate) fn exec_mask(&self) -> io::Result<u64> {
        self.get_u64(MASK)
    }

    /// Whose program could not be started.
    pub(crate) fn exec_failed(&self) -> io::Result<Option<Thread>> {
        self.thread(FAILED)
    }

    /// Makes room for whoever is next.
    pub(crate) fn exec_done(&self) -> io::Result<()> {
        self.put_u64(ANSWER, 0)?;
        self.put_u64(FAILED, 0)?;
        self.put_u64(REQUEST, 0)
    }

    /// The thread that is named there. One that is just being written is not there yet.
    fn thread(&self, at: u64) -> io::Result<Option<Thread>> {
        let read = || self.get_u64(at).map(|word| Thread::read(&word.to_ne_bytes(), 0));
        let first = read()?;
        Ok(if first.is_some() && first == read()? { first } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Line;

    #[test]
    fn the_next_in_line_finds_nothing_of_the_last() {
        let page = Page::create(Line::still(0, 0), 0, 0).unwrap();
        let who = Thread { tid: 8, pid: 7 };
        let words = || [REQUEST, ANSWER, MASK, FAILED].map(|at| page.get_u64(at).unwrap());
        assert_eq!(page.exec_request().unwrap(), None);
        page.put_u64(REQUEST, who.word()).unwrap();
        page.put_u64(MASK, 13).unwrap();
        assert_eq!(page.exec_request().unwrap(), Some(who));
        page.exec_answer(who).unwrap();
        assert_eq!(words(), [who.word(), who.word(), 13, 0]);
        assert_eq!(page.exec_mask().unwrap(), 13);
        assert_eq!(page.exec_failed().unwrap(), None);
        page.put_u64(FAILED, who.word()).unwrap();
        assert_eq!(page.exec_failed().unwrap(), Some(who));
        page.exec_done().unwrap();
        assert_eq!(words(), [0, 0, 13, 0]);
    }
}
