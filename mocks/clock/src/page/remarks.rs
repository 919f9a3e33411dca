//! Remarks: what foreign processes do that this clock does not move.
//!
//! As many as there is room for stand in a table, each once; all are counted.

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

/// The remarks in the table, and how many there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Remarks {
    /// How many were ever made.
    pub(crate) made: u64,
    pub(crate) named: BTreeSet<Remark>,
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
        let named = bytes.chunks_exact(LENGTH).map(read).filter(|remark| remark.pid != 0).collect();
        Ok(Remarks { made, named })
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
        if made >= REMARKS_MAX {
            return;
        }
        let at = SHARED + REMARKS + made * remark::LENGTH;
        page.put_u32(at + remark::CALL, remark.call).unwrap();
        page.put_u32(at + remark::PID, remark.pid).unwrap();
    }

    #[test]
    fn a_full_table_is_told_and_all_are_counted() {
        let page = Page::create(Line::still(0, 0), 0, 0).unwrap();
        for call in 0..40 {
            make(&page, Remark { pid: 12, call });
        }
        let remarks = page.remarks().unwrap();
        assert_eq!((remarks.made, remarks.named.len()), (40, 32));
        assert!((0..32).all(|call| remarks.named.contains(&Remark { pid: 12, call })));
    }

    #[test]
    fn a_remark_is_a_sentence() {
        let told = |call| Remark { pid: 12, call }.to_string();
        assert_eq!(told(54), "process 12 uses setsockopt(SO_RCVTIMEO), which stays real");
        assert_eq!(told(9_999), "process 12 uses system call 9999, which stays real");
    }
}
