//! Names of the system calls that have to do with time, for people.

use std::fmt;

/// A system call of x86-64 by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name(pub(crate) u64);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match name(self.0) {
            Some(name) => f.write_str(name),
            None => write!(f, "system call {}", self.0),
        }
    }
}

fn name(call: u64) -> Option<&'static str> {
    Some(match call {
        7 => "poll",
        23 => "select",
        35 => "nanosleep",
        37 => "alarm",
        38 => "setitimer",
        // Only these options of theirs have to do with time.
        54 => "setsockopt(SO_RCVTIMEO)",
        157 => "prctl(PR_SET_SECCOMP)",
        128 => "rt_sigtimedwait",
        202 => "futex",
        208 => "io_getevents",
        220 => "semtimedop",
        223 => "timer_settime",
        230 => "clock_nanosleep",
        232 => "epoll_wait",
        242 => "mq_timedsend",
        243 => "mq_timedreceive",
        270 => "pselect6",
        271 => "ppoll",
        281 => "epoll_pwait",
        286 => "timerfd_settime",
        299 => "recvmmsg",
        317 => "seccomp",
        333 => "io_pgetevents",
        426 => "io_uring_enter",
        441 => "epoll_pwait2",
        449 => "futex_waitv",
        455 => "futex_wait",
        _ => return None,
    })
}
