//! How a foreign process starts another program: it asks, because the new one must be brought onto the clock.
//!
//! Four words, each with one writer at a time:
//!
//! 1. The thread that wants to writes itself into the request, by comparing and swapping, when that is empty.
//! 2. The owner makes ready, writes the error (0: go on), and then the thread into the answer.
//! 3. The thread, which has waited for an answer that names it, reads the error. If that is 0 it starts the program.
//! 4. If it was refused, or the program could not be started, it writes itself into `failed`, and waits until that
//!    names it no more.
//! 5. The owner, once it sees the new program, or `failed`, or that the thread is gone, has [`Page::exec_done`].
//!
//! The request is emptied last, so whoever is next in line finds no answer, and no failure, that is not for it: not
//! even the same thread, which may try again at once.

use std::io;

use super::layout::{SHARED, head};
use super::{Page, Thread};

const REQUEST: u64 = SHARED + head::EXEC_REQUEST;
const ANSWER: u64 = SHARED + head::EXEC_ANSWER;
const ERROR: u64 = SHARED + head::EXEC_ERROR;
const FAILED: u64 = SHARED + head::EXEC_FAILED;

impl Page {
    /// Who wants to start another program.
    pub(crate) fn exec_request(&self) -> io::Result<Option<Thread>> {
        self.thread(REQUEST)
    }

    /// Lets a thread that has asked go on, or makes it give up with the number of an error.
    pub(crate) fn exec_answer(&self, who: Thread, error: Option<i32>) -> io::Result<()> {
        let error = error.map_or(0, |error| error.unsigned_abs().max(1));
        self.put_u64(ERROR, error.into())?;
        self.put_u64(ANSWER, who.word())
    }

    /// Who has given up.
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
        let words = || [REQUEST, ANSWER, ERROR, FAILED].map(|at| page.get_u64(at).unwrap());
        assert_eq!(page.exec_request().unwrap(), None);
        page.put_u64(REQUEST, who.word()).unwrap();
        assert_eq!(page.exec_request().unwrap(), Some(who));
        page.exec_answer(who, Some(13)).unwrap();
        assert_eq!(words(), [who.word(), who.word(), 13, 0]);
        assert_eq!(page.exec_failed().unwrap(), None);
        page.put_u64(FAILED, who.word()).unwrap();
        assert_eq!(page.exec_failed().unwrap(), Some(who));
        page.exec_done().unwrap();
        assert_eq!(words(), [0, 0, 13, 0]);
        page.exec_answer(who, None).unwrap();
        assert_eq!(words(), [0, who.word(), 0, 0], "no error is left of the last");
    }
}
