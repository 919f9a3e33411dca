//! The page: a small file in memory through which every process of a run shares one clock.
//!
//! It is a memfd, reached by other processes as `/proc/<owner>/fd/<n>`, and is read and written like any file,
//! so no process of ours maps memory and a crash leaves nothing on disk. All numbers are native-endian.
//!
//! Foreign processes cannot read files for that: they map two parts of it, the clock to read and the shared part to
//! write. Where everything stands is listed in [`layout`].
//!
//! | offset | who writes | content |
//! |---|---|---|
//! | `0x0000` | nobody | nothing |
//! | `0x2000` | owner | the clock: see below |
//! | `0x3000` | everybody | counters, and how foreign programs are started by others: [`exec`] |
//! | `0x3080` | joined processes | what they wait for: [`slots`] |
//! | `0x3900` | foreign processes | what they do that this clock does not move: [`remarks`] |
//! | `0x4000` | foreign processes | their timers in the kernel: [`alarms`] |
//! | `0x5000` | foreign processes | what their threads wait for: [`waits`] |
//!
//! # The clock
//!
//! | at `0x2000` + | type | content |
//! |---|---|---|
//! | 0 | u32 | sequence: odd while the owner writes |
//! | 4 | u32 | `floor_ns`: no real wait is cut shorter than this |
//! | 8, 16, 24 | u64 | `real0`, `virt0`, `mult` of the line |
//! | 32 | u64 | `inv`: 2^40 / rate |
//! | 40 | u64 | `cap_ns`: no real wait without a look at the page is longer than this |
//! | 48 … 168 | u64 × 16 | what to add to virtual monotonic time, by clock id |
//! | 200 | u64 | magic |
//! | 208, 212 | u32 | version of this layout, process id of the owner |
//!
//! Readers take the sequence, the line and the sequence again, and start over when it was odd or has changed.
//! A torn read of the sequence itself does no harm: from even to odd only one byte changes, and while it goes
//! from odd to even the line beside it is already complete.

pub(crate) mod alarms;
pub(crate) mod calls;
pub(crate) mod exec;
pub(crate) mod layout;
pub(crate) mod remarks;
pub(crate) mod slots;
pub(crate) mod waits;

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rustix::fs::MemfdFlags;

use self::alarms::Alarm;
use self::layout::{CLOCK, LENGTH, SHARED, clock, head};
use self::slots::Table;
use self::waits::Waits;
use crate::line::Line;
use crate::machine;

const SEQUENCE: u64 = CLOCK + clock::SEQUENCE;
const FLOOR: u64 = CLOCK + clock::FLOOR;
/// Its three words and the inverse of its rate follow each other.
const LINE: u64 = CLOCK + clock::REAL0;
const CAP: u64 = CLOCK + clock::CAP;
const OFFSETS: u64 = CLOCK + clock::OFFSETS;
/// The version and the owner follow it.
const MAGIC_AT: u64 = CLOCK + clock::MAGIC;
const VERSION_AT: u64 = CLOCK + clock::VERSION;
const OWNER_AT: u64 = CLOCK + clock::OWNER;

/// Where the number of traps stands in the shared part.
const TRAPS: usize = index(head::TRAPS);

const MAGIC: u64 = u64::from_be_bytes(*b"mockclok");
const VERSION: u32 = 2;

/// Clock ids of Linux that show wall time, time since boot, and atomic time.
const WALL_IDS: [usize; 4] = [0, 5, 8, 11];
const BOOT_IDS: [usize; 2] = [7, 9];

/// The longest a waiting thread of another process goes without looking at the page.
pub(crate) const CAP_REAL: Duration = Duration::from_millis(1);
/// The shortest real wait: below it a sleeping thread becomes a spinning one.
const FLOOR_REAL: Duration = Duration::from_micros(50);

/// What a page says once and for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) owner: u32,
    /// Wall time minus monotonic time, both virtual.
    pub(crate) wall_offset: u64,
}

/// What everybody publishes on the page: who waits for what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Published {
    pub(crate) table: Table,
    pub(crate) waits: Waits,
    pub(crate) alarms: Vec<Alarm>,
}

impl Published {
    /// The foreign processes that publish what they wait for.
    pub(crate) fn foreign_pids(&self) -> BTreeSet<u32> {
        let waits = self.waits.entries.iter().map(|wait| wait.thread.pid);
        waits.chain(self.alarms.iter().map(|alarm| alarm.pid)).collect()
    }

    /// Whether one process keeps the others waiting at the virtual moment `now`.
    pub(crate) fn holds_up(&self, pid: u32, now: u64) -> bool {
        let due = |deadline: u64| deadline <= now;
        let mut slots = self.table.slots.iter().filter(|slot| slot.pid == pid);
        let mut waits = self.waits.entries.iter().filter(|wait| wait.thread.pid == pid);
        let mut alarms = self.alarms.iter().filter(|alarm| alarm.pid == pid);
        slots.any(|slot| slot.guards > 0 || slot.deadline.is_some_and(due))
            || waits.any(|wait| due(wait.deadline))
            || alarms.any(|alarm| due(alarm.deadline))
    }

    /// Leaves out what one process has published.
    pub(crate) fn leave_out(&mut self, pid: u32) {
        self.table.slots.retain(|slot| slot.pid != pid);
        self.waits.entries.retain(|wait| wait.thread.pid != pid);
        self.alarms.retain(|alarm| alarm.pid != pid);
    }
}

/// A thread of some process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Thread {
    pub(crate) tid: u32,
    pub(crate) pid: u32,
}

impl Thread {
    /// As both ids stand on the page, in one word; `None` is nobody.
    fn read(bytes: &[u8], at: usize) -> Option<Self> {
        let (tid, pid) = (half_word(bytes, at), half_word(bytes, at + 4));
        (tid != 0).then_some(Self { tid, pid })
    }

    fn word(self) -> u64 {
        u64::from(self.tid) | u64::from(self.pid) << 32
    }
}

/// An open page, ours or another process's.
#[derive(Debug)]
pub(crate) struct Page {
    file: File,
    place: PathBuf,
    slots_change: Mutex<()>,
}

impl Page {
    /// A new page of this process.
    pub(crate) fn create(line: Line, inverse: u64, wall_offset: u64) -> io::Result<Page> {
        let file = File::from(rustix::fs::memfd_create("mock-clock", MemfdFlags::CLOEXEC)?);
        file.set_len(LENGTH)?;
        let owner = std::process::id();
        let place = PathBuf::from(format!("/proc/{owner}/fd/{}", file.as_raw_fd()));
        let page = Page { file, place, slots_change: Mutex::new(()) };
        page.write_constants(owner, wall_offset)?;
        page.write_line(line, inverse)?;
        Ok(page)
    }

    fn write_constants(&self, owner: u32, wall_offset: u64) -> io::Result<()> {
        let floor = u32::try_from(FLOOR_REAL.as_nanos()).expect("a few microseconds");
        self.put_u32(FLOOR, floor)?;
        self.put_u64(CAP, crate::time::nanos(CAP_REAL))?;
        for id in WALL_IDS {
            self.put_u64(OFFSETS + 8 * id as u64, wall_offset)?;
        }
        let since_boot = machine::boot().saturating_sub(machine::monotonic());
        for id in BOOT_IDS {
            self.put_u64(OFFSETS + 8 * id as u64, since_boot)?;
        }
        // One microsecond, or one nanosecond.
        self.put_u64(SHARED + layout::SOON + 24, 1)?;
        self.put_u32(VERSION_AT, VERSION)?;
        self.put_u32(OWNER_AT, owner)?;
        self.put_u64(MAGIC_AT, MAGIC)
    }

    /// Opens the page at `place`, which another process made.
    pub(crate) fn open(place: &Path) -> Result<(Page, Header), PageError> {
        let file = File::options().read(true).write(true).open(place).map_err(PageError::Open)?;
        let page = Page { file, place: place.to_owned(), slots_change: Mutex::new(()) };
        let mut bytes = [0; 16];
        page.file.read_exact_at(&mut bytes, MAGIC_AT).map_err(|_| PageError::NoPage)?;
        if word(&bytes, 0) != MAGIC {
            return Err(PageError::NoPage);
        }
        let version = half_word(&bytes, 8);
        if version != VERSION {
            return Err(PageError::Version(version));
        }
        let mut offset = [0; 8];
        page.file.read_exact_at(&mut offset, OFFSETS).map_err(PageError::Open)?;
        Ok((page, Header { owner: half_word(&bytes, 12), wall_offset: word(&offset, 0) }))
    }

    /// Where another process finds this page.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// The sequence number; odd while the owner writes.
    pub(crate) fn sequence(&self) -> u32 {
        let mut bytes = [0; 4];
        self.file.read_exact_at(&mut bytes, SEQUENCE).expect("a file in memory can be read");
        u32::from_ne_bytes(bytes)
    }

    pub(crate) fn set_sequence(&self, sequence: u32) {
        self.put_u32(SEQUENCE, sequence).expect("a file in memory can be written");
    }

    /// The line; only a reading between two equal, even sequence numbers is whole.
    pub(crate) fn line(&self) -> Line {
        let mut bytes = [0; 24];
        self.file.read_exact_at(&mut bytes, LINE).expect("a file in memory can be read");
        Line { real0: word(&bytes, 0), virt0: word(&bytes, 8), mult: word(&bytes, 16) }
    }

    pub(crate) fn write_line(&self, line: Line, inverse: u64) -> io::Result<()> {
        let mut bytes = [0; 32];
        for (i, value) in [line.real0, line.virt0, line.mult, inverse].into_iter().enumerate() {
            bytes[8 * i..8 * i + 8].copy_from_slice(&value.to_ne_bytes());
        }
        self.file.write_all_at(&bytes, LINE)
    }

    /// All that everybody has published, as far as one reading can tell.
    pub(crate) fn published(&self) -> io::Result<Published> {
        let mut shared = [0; slots::END];
        self.file.read_exact_at(&mut shared, SHARED)?;
        let waits = self.waits_with(&shared)?;
        // Who sets an alarm has been trapped.
        let alarms = if word(&shared, TRAPS) == 0 { Vec::new() } else { self.alarms()? };
        Ok(Published { table: Table::read(&shared), waits, alarms })
    }

    /// Frees what one process has published that is gone.
    pub(crate) fn free_all(&self, pid: u32) -> io::Result<()> {
        self.expel(pid)?;
        self.free_waits(pid)?;
        self.free_alarms(pid)
    }

    /// How long no waiting thread goes without a look at the page, from now on.
    pub(crate) fn set_cap(&self, cap: Duration) -> io::Result<()> {
        self.put_u64(CAP, crate::time::nanos(cap))
    }

    /// Forgets the threads that wait without an entry.
    pub(crate) fn forget_crowd(&self) -> io::Result<()> {
        self.put_u64(SHARED + head::CROWDED, 0)
    }

    /// How many system calls of foreign processes were ever trapped.
    pub(crate) fn traps(&self) -> io::Result<u64> {
        self.get_u64(SHARED + head::TRAPS)
    }

    fn get_u64(&self, at: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(word(&bytes, 0))
    }

    fn put_u32(&self, at: u64, value: u32) -> io::Result<()> {
        self.file.write_all_at(&value.to_ne_bytes(), at)
    }

    fn put_u64(&self, at: u64, value: u64) -> io::Result<()> {
        self.file.write_all_at(&value.to_ne_bytes(), at)
    }
}

/// Why a file cannot be used as a clock's page. Reads after "failed to join the clock at …: ".
#[derive(Debug)]
pub enum PageError {
    /// It cannot be opened.
    Open(io::Error),
    /// It is something else.
    NoPage,
    /// It was made by another version of this crate; the number is that of its layout.
    Version(u32),
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageError::Open(e) => write!(f, "{e}; is the process that made it still there?"),
            PageError::NoPage => f.write_str("this file is not a clock's page"),
            PageError::Version(v) => {
                write!(
                    f,
                    "its layout is version {v}, this build reads version {VERSION}: build both from one source"
                )
            }
        }
    }
}

impl std::error::Error for PageError {}

/// A place on the page as an index into what was read of it.
#[expect(clippy::cast_possible_truncation, reason = "the page is short")]
const fn index(at: u64) -> usize {
    at as usize
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn half_word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::waits::Wait;
    use super::*;

    fn page(line: Line) -> Page {
        Page::create(line, 1 << 40, 77).unwrap()
    }

    proptest! {
        #[test]
        fn a_line_comes_back_as_it_was_written(real0: u64, virt0: u64, mult: u64) {
            let line = Line { real0, virt0, mult };
            let page = page(line);
            prop_assert_eq!(page.line(), line);
            let (other, header) = Page::open(page.place()).unwrap();
            prop_assert_eq!(other.line(), line);
            prop_assert_eq!(header, Header { owner: std::process::id(), wall_offset: 77 });
        }

        /// A file with any bytes in it is refused or read, never a panic.
        #[test]
        fn any_bytes_are_refused_or_read(at in CLOCK..CLOCK + 216, bytes in prop::collection::vec(any::<u8>(), 1..16)) {
            let page = page(Line::still(1, 2));
            page.file.write_all_at(&bytes, at).unwrap();
            let _ = Page::open(page.place());
        }
    }

    #[test]
    fn the_layout_is_the_documented_one() {
        let page = page(Line { real0: 1, virt0: 2, mult: 3 });
        let read = |at: u64| {
            let mut bytes = [0; 8];
            page.file.read_exact_at(&mut bytes, at).unwrap();
            u64::from_ne_bytes(bytes)
        };
        assert_eq!(page.file.metadata().unwrap().len(), 0xd000);
        assert_eq!([read(0x2008), read(0x2010), read(0x2018), read(0x2020)], [1, 2, 3, 1 << 40]);
        assert_eq!(read(0x2028), 1_000_000, "cap_ns");
        assert_eq!(read(0x2000) >> 32, 50_000, "floor_ns");
        let offset = |id: u64| read(0x2030 + 8 * id);
        assert_eq!([0, 5, 8, 11].map(offset), [77; 4], "wall clocks");
        assert_eq!([1, 4, 6].map(offset), [0; 3], "monotonic clocks");
        assert_eq!(offset(7), offset(9));
    }

    #[test]
    fn what_is_no_page_is_refused() {
        let missing = Page::open(Path::new("/proc/self/fd/99999")).unwrap_err();
        assert!(matches!(missing, PageError::Open(_)), "{missing}");
        let other = Page::open(Path::new("/dev/zero")).unwrap_err();
        assert!(matches!(other, PageError::NoPage), "{other}");
        let old = page(Line::still(0, 0));
        old.put_u32(VERSION_AT, 9).unwrap();
        assert!(Page::open(old.place()).unwrap_err().to_string().contains("version 9"));
    }

    #[test]
    fn what_the_dead_have_published_is_freed() {
        let page = page(Line::still(0, 0));
        let wait =
            |entry, pid| Wait { thread: Thread { tid: 5, pid }, deadline: 9, number: 1, call: 35, entry };
        let alarm = |entry, pid| Alarm { pid, call: 37, which: 0, deadline: 9, interval: 0, set: 1, entry };
        for (entry, pid) in [(0, 4_194_304), (1, std::process::id()), (2, 4_194_305)] {
            assert!(page.enrol(pid).unwrap());
            waits::tests::begin(&page, &wait(entry, pid));
            alarms::tests::set(&page, &alarm(entry, pid));
        }
        for pid in [4_194_304, 4_194_305] {
            page.free_all(pid).unwrap();
        }
        let left = page.published().unwrap();
        assert_eq!(left.table.slots.len(), 1);
        assert_eq!(left.waits.entries, [wait(1, std::process::id())]);
        assert_eq!(left.alarms, [alarm(1, std::process::id())]);
    }
}
