//! Remarks: what foreign processes do that this clock does not move.
//!
//! The last of them stand in a ring; all are counted.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::os::unix::fs::FileExt;

use super::layout::{REMARKS, REMARKS_MAX, SHARED, head, remark};
use super::{Page, calls, half_word, index};

const LENGTH: usize = index(remark::LENGTH);
const ALL: usize = index(REMARKS_MAX);

/// One process, and one system call of its that keeps real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Remark {
    pub(crate) pid: u32,
    pub(crate) call: u32,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} uses {}, which stays real", self.pid, calls::Name(self.call.into()))
    }
}

/// The last remarks, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Remarks {
    /// How many were ever made.
    pub(crate) made: u64,
    pub(crate) last: BTreeSet<Remark>,
}

impl Page {
    /// What has been remarked.
    pub(crate) fn remarks(&self) -> io::Result<Remarks> {
        let made = self.get_u64(SHARED + head::REMARKS_MADE)?;
        let mut bytes = [0; ALL * LENGTH];
        self.file.read_exact_at(&mut bytes, SHARED + REMARKS)?;
        let read = |bytes: &[u8]| Remark {
            pid: half_word(bytes, index(remark::PID)),
            call: half_word(bytes, index(remark::CALL)),
        };
        let last = bytes.chunks_exact(LENGTH).map(read).filter(|remark| remark.pid != 0).collect();
        Ok(Remarks { made, last })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::line::Line;

    /// Writes what a process writes that makes a remark.
    pub(crate) fn make(page: &Page, remark: Remark) {
        let made = page.get_u64(SHARED + head::REMARKS_MADE).unwrap();
        page.put_u64(SHARED + head::REMARKS_MADE, made + 1).unwrap();
        let at = SHARED + REMARKS + made % REMARKS_MAX * remark::LENGTH;
        page.put_u32(at + remark::CALL, remark.call).unwrap();
        page.put_u32(at + remark::PID, remark.pid).unwrap();
    }

    #[test]
    fn the_last_are_told_and_all_are_counted() {
        let page = Page::create(Line::still(0, 0), 0, 0).unwrap();
        for call in 0..40 {
            make(&page, Remark { pid: 12, call });
        }
        make(&page, Remark { pid: 12, call: 39 });
        let remarks = page.remarks().unwrap();
        assert_eq!((remarks.made, remarks.last.len()), (41, 31));
        assert_eq!(remarks.last.first(), Some(&Remark { pid: 12, call: 9 }));
    }

    #[test]
    fn a_remark_is_a_sentence() {
        let told = |call| Remark { pid: 12, call }.to_string();
        assert_eq!(told(54), "process 12 uses setsockopt(SO_RCVTIMEO), which stays real");
        assert_eq!(told(9_999), "process 12 uses system call 9999, which stays real");
    }
}
