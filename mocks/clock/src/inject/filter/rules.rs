//! Which system calls of foreign programs are trapped, and with which arguments: the list.
//!
//! Trapped is what waits, reads a clock or sets a timer, what would start a program without a clock, and what would
//! close the door to the trap itself: a program that blocks its signal would be killed by the next one.
//! It does not say what becomes of a trapped call.

use nix::libc;

use When::{All, Always, Any, Unknown};

/// When a call is trapped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) number: i64,
    pub(super) when: When,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum When {
    Always,
    /// No test fails.
    All(&'static [Test]),
    /// At least one test passes.
    Any(&'static [Test]),
    /// It is not trapped: it is answered as by a kernel that does not know it.
    Unknown,
}

/// A test of one argument, the first of which is 0.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    /// All 64 bits: a pointer leads somewhere.
    Given(u32),
    /// As a signed number of 32 bits.
    Positive(u32),
    /// The 32 bits, or those of them that the mask leaves, are one of the values.
    Among { argument: u32, mask: u32, values: &'static [u32] },
}

use Test::{Given, Positive};

const fn among(argument: u32, values: &'static [u32]) -> Test {
    masked(argument, u32::MAX, values)
}

const fn masked(argument: u32, mask: u32, values: &'static [u32]) -> Test {
    Test::Among { argument, mask, values }
}

const fn rule(number: i64, when: When) -> Rule {
    Rule { number, when }
}

// Numbers that `libc` does not name.
const SYS_IO_PGETEVENTS: i64 = 333;
const SYS_FUTEX_WAIT: i64 = 455;

/// `FUTEX_WAIT`, `FUTEX_LOCK_PI`, `FUTEX_WAIT_BITSET`, `FUTEX_WAIT_REQUEUE_PI` and `FUTEX_LOCK_PI2`: for all others the
/// fourth argument is no time.
const FUTEX_WAITS: &[u32] = &[0, 6, 9, 11, 13];
/// Without `FUTEX_PRIVATE_FLAG` and `FUTEX_CLOCK_REALTIME`.
const FUTEX_OPERATION: u32 = 0x7f;
const ITIMER_REAL: u32 = 0;
const IORING_ENTER_EXT_ARG: u32 = 8;
const SIGSYS: u32 = 31;
const SOL_SOCKET: u32 = 1;
/// `SO_RCVTIMEO` and `SO_SNDTIMEO`, the old ones and the new ones.
const SOCKET_TIMEOUTS: &[u32] = &[20, 21, 66, 67];
const PR_SET_SECCOMP: u32 = 22;
/// `SECCOMP_SET_MODE_STRICT` and `SECCOMP_SET_MODE_FILTER`.
const SECCOMP_SET_MODES: &[u32] = &[0, 1];

/// The list. It is searched from its beginning, so what programs call most comes first.
pub(super) const RULES: &[Rule] = &[
    rule(libc::SYS_futex, All(&[masked(1, FUTEX_OPERATION, FUTEX_WAITS), Given(3)])),
    rule(libc::SYS_epoll_pwait, Any(&[Positive(3), Given(4)])),
    rule(libc::SYS_epoll_wait, All(&[Positive(3)])),
    rule(libc::SYS_rt_sigprocmask, All(&[Given(1)])),
    rule(libc::SYS_rt_sigaction, Any(&[among(0, &[SIGSYS]), Given(1)])),
    // Clocks that are read without the vDSO.
    rule(libc::SYS_clock_gettime, Always),
    rule(libc::SYS_gettimeofday, Always),
    rule(libc::SYS_time, Always),
    // Sleeps.
    rule(libc::SYS_nanosleep, Always),
    rule(libc::SYS_clock_nanosleep, Always),
    // Waits for files and sockets.
    rule(libc::SYS_poll, All(&[Positive(2)])),
    rule(libc::SYS_ppoll, Any(&[Given(2), Given(3)])),
    rule(libc::SYS_select, All(&[Given(4)])),
    rule(libc::SYS_pselect6, Always),
    rule(libc::SYS_epoll_pwait2, Any(&[Given(3), Given(4)])),
    rule(libc::SYS_recvmmsg, All(&[Given(4)])),
    rule(libc::SYS_setsockopt, All(&[among(1, &[SOL_SOCKET]), among(2, SOCKET_TIMEOUTS)])),
    rule(
        libc::SYS_io_uring_enter,
        All(&[masked(3, IORING_ENTER_EXT_ARG, &[IORING_ENTER_EXT_ARG]), Given(4)]),
    ),
    rule(libc::SYS_io_getevents, All(&[Given(4)])),
    rule(SYS_IO_PGETEVENTS, Any(&[Given(4), Given(5)])),
    // Waits for other threads and processes.
    rule(SYS_FUTEX_WAIT, All(&[Given(4)])),
    rule(libc::SYS_futex_waitv, All(&[Given(3)])),
    rule(libc::SYS_semtimedop, All(&[Given(3)])),
    rule(libc::SYS_mq_timedsend, All(&[Given(4)])),
    rule(libc::SYS_mq_timedreceive, All(&[Given(4)])),
    // Waits for signals: they replace the mask, or name what they wait for.
    rule(libc::SYS_rt_sigsuspend, Always),
    rule(libc::SYS_rt_sigtimedwait, Always),
    // Timers in the kernel.
    rule(libc::SYS_timerfd_create, Always),
    rule(libc::SYS_timerfd_settime, Always),
    rule(libc::SYS_timerfd_gettime, Always),
    rule(libc::SYS_timer_settime, Always),
    rule(libc::SYS_timer_gettime, Always),
    rule(libc::SYS_timer_create, Always),
    rule(libc::SYS_timer_delete, Always),
    rule(libc::SYS_setitimer, All(&[among(0, &[ITIMER_REAL])])),
    rule(libc::SYS_getitimer, All(&[among(0, &[ITIMER_REAL])])),
    rule(libc::SYS_alarm, Always),
    // It can take a child's signal handlers away, ours among them. Whoever makes it knows what to do without.
    rule(libc::SYS_clone3, Unknown),
    // Other programs, and filters of their own.
    rule(libc::SYS_execve, Always),
    rule(libc::SYS_execveat, Always),
    rule(libc::SYS_prctl, All(&[among(0, &[PR_SET_SECCOMP])])),
    rule(libc::SYS_seccomp, All(&[among(0, SECCOMP_SET_MODES)])),
];
