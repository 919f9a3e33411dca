//! Where everything stands on the page: the one list, for the code that reads files and for the code in assembly
//! that foreign processes are given.
//!
//! Foreign processes map two parts of the page: the clock, which they may read, and what is shared, which they may
//! write. Offsets within the file; all numbers are native-endian, words are aligned.

/// How long the page is.
pub(crate) const LENGTH: u64 = SHARED + SHARED_LENGTH;

/// The clock: one page of memory that only the owner writes.
pub(crate) const CLOCK: u64 = 0x2000;
pub(crate) const CLOCK_LENGTH: u64 = 0x1000;

/// What stands in the clock, from its beginning.
pub(crate) mod clock {
    pub(crate) const SEQUENCE: u64 = 0;
    pub(crate) const FLOOR: u64 = 4;
    pub(crate) const REAL0: u64 = 8;
    pub(crate) const VIRT0: u64 = 16;
    pub(crate) const MULT: u64 = 24;
    pub(crate) const INVERSE: u64 = 32;
    pub(crate) const CAP: u64 = 40;
    pub(crate) const OFFSETS: u64 = 48;
    pub(crate) const MAGIC: u64 = 200;
    pub(crate) const VERSION: u64 = 208;
    pub(crate) const OWNER: u64 = 212;
}

/// What everybody writes.
pub(crate) const SHARED: u64 = 0x3000;
pub(crate) const SHARED_LENGTH: u64 = WAITS + WAITS_MAX * wait::LENGTH;

/// Counters, from the beginning of the shared part.
pub(crate) mod head {
    /// u64: processes that found no free slot, ever.
    pub(crate) const TURNED_AWAY: u64 = 0;
    /// u64: waits ever begun; each gets its number from here.
    pub(crate) const WAITS_BEGUN: u64 = 8;
    /// u64: system calls that were ever trapped.
    pub(crate) const TRAPS: u64 = 16;
    /// u64: threads that wait now and found no free entry.
    pub(crate) const CROWDED: u64 = 24;
    /// u64: entries of the table of waits that were ever used; the others are empty.
    pub(crate) const WAITS_TOP: u64 = 32;
    /// u64: remarks ever made; the first of them stand in their table.
    pub(crate) const REMARKS_MADE: u64 = 40;
    /// u64: the thread that wants to start another program (thread id, process id above it); 0 is nobody.
    pub(crate) const EXEC_REQUEST: u64 = 64;
    /// u64: the thread that may now go on with it.
    pub(crate) const EXEC_ANSWER: u64 = 72;
    /// u64: the signals that it blocked before; it blocks all while it waits.
    pub(crate) const EXEC_MASK: u64 = 80;
    /// u64: the thread whose program could not be started.
    pub(crate) const EXEC_FAILED: u64 = 88;
}

/// The slots of processes, from the beginning of the shared part.
pub(crate) const SLOTS: u64 = 128;

/// What foreign processes do that this clock does not move: see [`remark`].
pub(crate) const REMARKS: u64 = 0x900;
pub(crate) const REMARKS_MAX: u64 = 32;

/// One remark.
pub(crate) mod remark {
    pub(crate) const LENGTH: u64 = 8;
    /// u32: process id; 0 is an empty one.
    pub(crate) const PID: u64 = 0;
    /// u32: the number of the system call.
    pub(crate) const CALL: u64 = 4;
}

/// Four u64: a timer that fires once, at once, as the kernel wants to be told.
pub(crate) const SOON: u64 = 0xb00;

/// Timers that foreign processes have set in the kernel: see [`alarm`].
pub(crate) const ALARMS: u64 = 0x1000;
pub(crate) const ALARMS_MAX: u64 = 64;

/// One timer in the kernel, of which the kernel does not know when it is due.
pub(crate) mod alarm {
    pub(crate) const LENGTH: u64 = 48;
    /// u32: process id; 0 is an empty one.
    pub(crate) const PID: u64 = 0;
    /// u32: the number of the system call that sets it.
    pub(crate) const CALL: u64 = 4;
    /// u64: that call's first argument: which timer.
    pub(crate) const WHICH: u64 = 8;
    /// u64: virtual monotonic nanosecond at which it is due; 0 is not set.
    pub(crate) const DEADLINE: u64 = 16;
    /// u64: virtual nanoseconds after which it is due again; 0 is once.
    pub(crate) const INTERVAL: u64 = 24;
    /// u64: how often it was set or taken back.
    pub(crate) const SET: u64 = 32;
    /// u64: the clock by which it was made, of a POSIX timer.
    pub(crate) const CLOCK: u64 = 40;
}

/// Threads of foreign processes that wait for a deadline: see [`wait`].
pub(crate) const WAITS: u64 = 0x2000;
pub(crate) const WAITS_MAX: u64 = 1024;

/// One waiting thread. It takes an entry for each wait, writes the deadline last, and empties it before it goes on.
pub(crate) mod wait {
    pub(crate) const LENGTH: u64 = 32;
    /// u32: thread id; taken together with the process id, as one word; 0 is a free entry.
    pub(crate) const TID: u64 = 0;
    /// u32: process id.
    pub(crate) const PID: u64 = 4;
    /// u64: virtual monotonic nanosecond; 0 until it is known.
    pub(crate) const DEADLINE: u64 = 8;
    /// u64: the number of this wait, which no other has.
    pub(crate) const NUMBER: u64 = 16;
    /// u64: the number of the system call.
    pub(crate) const CALL: u64 = 24;
}
