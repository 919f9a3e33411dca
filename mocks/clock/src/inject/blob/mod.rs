//! The code that foreign processes are given, in assembly, as bytes: it runs in them and never here.
//!
//! | file | what it does there |
//! |---|---|
//! | `reads.s` | tells virtual time: the clock functions of the substitute vDSO |
//! | `handler.s` | takes every trapped system call and gives its result |
//! | `calls.s` | what each call waits for |
//! | `waits.s` | waits for a virtual moment in chunks of real time, with the deadline in the table of waits |
//! | `alarms.s` | timers that the kernel would fire in real time |
//! | `signals.s` | keeps SIGSYS to itself, and unblocked |
//! | `exec.s` | asks the owner to be there when another program is started |
//!
//! It may lie at any address, and finds all else relative to itself: [`region`](super::region).
#![expect(unsafe_code, reason = "assembly, and a view of its bytes")]

use std::arch::global_asm;

use nix::libc;

use super::region::{CLOCK, LOCAL, SHARED, local};
use crate::page::layout::{self, alarm, clock, head, remark, wait};

/// All signals but those that the running code itself brings about, and SIGSYS: a mask.
pub(super) const ASYNCHRONOUS: i64 = !(bit(libc::SIGSYS)
    | bit(libc::SIGSEGV)
    | bit(libc::SIGBUS)
    | bit(libc::SIGFPE)
    | bit(libc::SIGILL)
    | bit(libc::SIGTRAP));

const fn bit(signal: i32) -> i64 {
    1 << (signal - 1)
}

macro_rules! blob {
    ($($name:ident = $value:expr,)*) => {
        global_asm!(
            ".pushsection .rodata.mock_clock_blob,\"a\",@progbits",
            $(concat!(".set ", stringify!($name), ", {", stringify!($name), "}"),)*
            ".globl mock_clock_blob",
            "mock_clock_blob:",
            include_str!("macros.s"),
            include_str!("reads.s"),
            include_str!("handler.s"),
            include_str!("calls.s"),
            include_str!("waits.s"),
            include_str!("alarms.s"),
            include_str!("signals.s"),
            include_str!("exec.s"),
            ".globl mock_clock_blob_end",
            "mock_clock_blob_end:",
            ".popsection",
            $($name = const $value,)*
        );
    };
}

blob! {
    // Where things are.
    CLOCK = CLOCK,
    SHARED = SHARED,
    LOCAL = LOCAL,
    CLOCK_SEQUENCE = clock::SEQUENCE,
    CLOCK_FLOOR = clock::FLOOR,
    CLOCK_REAL0 = clock::REAL0,
    CLOCK_VIRT0 = clock::VIRT0,
    CLOCK_MULT = clock::MULT,
    CLOCK_INVERSE = clock::INVERSE,
    CLOCK_CAP = clock::CAP,
    CLOCK_OFFSETS = clock::OFFSETS,
    CLOCK_OWNER = clock::OWNER,
    LOCAL_VDSO = local::VDSO,
    LOCAL_VDSO_END = local::VDSO_END,
    LOCAL_CLOCK_GETTIME = local::CLOCK_GETTIME,
    HEAD_WAITS_BEGUN = head::WAITS_BEGUN,
    HEAD_TRAPS = head::TRAPS,
    HEAD_CROWDED = head::CROWDED,
    HEAD_WAITS_TOP = head::WAITS_TOP,
    HEAD_REMARKS_MADE = head::REMARKS_MADE,
    HEAD_EXEC_REQUEST = head::EXEC_REQUEST,
    HEAD_EXEC_ANSWER = head::EXEC_ANSWER,
    HEAD_EXEC_MASK = head::EXEC_MASK,
    HEAD_EXEC_FAILED = head::EXEC_FAILED,
    WAITS = layout::WAITS,
    WAITS_MAX = layout::WAITS_MAX,
    WAIT_LENGTH = wait::LENGTH,
    WAIT_DEADLINE = wait::DEADLINE,
    WAIT_NUMBER = wait::NUMBER,
    WAIT_CALL = wait::CALL,
    ALARMS = layout::ALARMS,
    ALARMS_MAX = layout::ALARMS_MAX,
    ALARM_LENGTH = alarm::LENGTH,
    ALARM_WHICH = alarm::WHICH,
    ALARM_DEADLINE = alarm::DEADLINE,
    ALARM_INTERVAL = alarm::INTERVAL,
    ALARM_SET = alarm::SET,
    ALARM_CLOCK = alarm::CLOCK,
    REMARKS = layout::REMARKS,
    REMARKS_MAX = layout::REMARKS_MAX,
    REMARK_LENGTH = remark::LENGTH,

    // The frame of the handler.
    FRAME_ENTRY = 0,
    FRAME_CALL = 8,
    FRAME_A0 = 16,
    FRAME_A1 = 24,
    FRAME_A2 = 32,
    FRAME_A3 = 40,
    FRAME_A4 = 48,
    FRAME_A5 = 56,
    FRAME_CHUNK = 64,
    FRAME_CHUNK_END = 80,
    FRAME_CHUNKS = 88,
    FRAME_TIMED_OUT = 96,
    FRAME_KIND = 104,
    FRAME_CAP = 112,
    FRAME_ELAPSED = 120,
    FRAME_REST = 128,
    FRAME_MASK = 136,
    FRAME_NAMED = 144,
    FRAME_NAMED_CLOCK = 152,
    FRAME_REAL = 160,
    FRAME_COPY = 176,
    FRAME_PAIR = 208,
    FRAME_SETS = 224,
    FRAME_SET1 = 232,
    FRAME_SET2 = 360,
    FRAME_SET3 = 488,
    FRAME_MASKED = 616,
    FRAME_WHO = 624,
    FRAME_RESULT = 632,
    FRAME_BLOCKED = 640,
    FRAME_RESTARTS = 648,
    FRAME_LENGTH = 704,
    // What a chunk is told as: so long, until a moment of the monotonic clock, of the wall clock.
    RELATIVE = 0,
    UNTIL = 1,
    UNTIL_WALL = 2,

    // Our own numbers.
    ASYNCHRONOUS = ASYNCHRONOUS,
    // So many bytes below the stack pointer belong to whoever runs; so many words below them a signal writes into.
    UNUSED_STACK = 128,
    FREE_STACK = 10,
    SECOND = 1_000_000_000,
    MILLISECOND = 1_000_000,
    SECONDS_MAX = 4_000_000_000_u32,
    NAP = 50_000,
    SET_MAX = 1024,
    WALL_SECONDS_LEAST = 300_000_000,
    // By clock id: wall, monotonic, and their raw, coarse, booted, atomic sisters.
    VIRTUAL_CLOCKS = 0b1011_1111_0011,
    // Those of them that can be slept by.
    VIRTUAL_SLEEPS = 0b1011_1000_0011,

    // The kernel's.
    TV_SEC = 0,
    TV_NSEC = 8,
    TV_USEC = 8,
    IT_INTERVAL = 0,
    IT_VALUE = 16,
    SI_CODE = 8,
    SI_SYSCALL = 24,
    SYS_SECCOMP = 1,
    UC_R10 = 56,
    UC_R8 = 40,
    UC_R9 = 48,
    UC_RDI = 104,
    UC_RSI = 112,
    UC_RDX = 136,
    UC_RAX = 144,
    UC_RIP = 168,
    UC_SIGMASK = 296,
    ACTION_MASK = 24,
    MESSAGE_LENGTH = 64,
    MSG_WAITFORONE = libc::MSG_WAITFORONE,
    MSG_DONTWAIT = libc::MSG_DONTWAIT,
    URING_MASK = 0,
    URING_MASK_SIZE = 8,
    URING_TIME = 16,
    URING_WAIT = 1,
    URING_GIVEN = 1 << 3,
    URING_ABSOLUTE = 1 << 5,
    URING_REGISTERED = 1 << 6,
    CLOCK_MONOTONIC = libc::CLOCK_MONOTONIC,
    TIMER_ABSTIME = libc::TIMER_ABSTIME,
    FUTEX_COMMAND = libc::FUTEX_CMD_MASK & 0x7f,
    FUTEX_CLOCK_REALTIME = libc::FUTEX_CLOCK_REALTIME,
    FUTEX_LOCK_PI = libc::FUTEX_LOCK_PI,
    FUTEX_LOCK_PI2 = 13,
    SIG_UNBLOCK = libc::SIG_UNBLOCK,
    SIG_SETMASK = libc::SIG_SETMASK,
    SIGSYS = libc::SIGSYS,
    SIGKILL = libc::SIGKILL,
    SIGSTOP = libc::SIGSTOP,
    EPERM = libc::EPERM,
    ENOENT = libc::ENOENT,
    EINTR = libc::EINTR,
    EFAULT = libc::EFAULT,
    EAGAIN = libc::EAGAIN,
    EINVAL = libc::EINVAL,
    ESRCH = libc::ESRCH,
    ETIME = libc::ETIME,
    ETIMEDOUT = libc::ETIMEDOUT,
    SYS_ACCESS = libc::SYS_access,
    SYS_ALARM = libc::SYS_alarm,
    SYS_CLOCK_GETTIME = libc::SYS_clock_gettime,
    SYS_CLOCK_NANOSLEEP = libc::SYS_clock_nanosleep,
    SYS_EPOLL_PWAIT = libc::SYS_epoll_pwait,
    SYS_EPOLL_PWAIT2 = libc::SYS_epoll_pwait2,
    SYS_EPOLL_WAIT = libc::SYS_epoll_wait,
    SYS_EXECVE = libc::SYS_execve,
    SYS_EXECVEAT = libc::SYS_execveat,
    SYS_FUTEX = libc::SYS_futex,
    SYS_FUTEX_WAIT = 455,
    SYS_FUTEX_WAITV = libc::SYS_futex_waitv,
    SYS_GETITIMER = libc::SYS_getitimer,
    SYS_GETPID = libc::SYS_getpid,
    SYS_GETTID = libc::SYS_gettid,
    SYS_GETTIMEOFDAY = libc::SYS_gettimeofday,
    SYS_IO_PGETEVENTS = 333,
    SYS_IO_URING_ENTER = libc::SYS_io_uring_enter,
    SYS_KILL = libc::SYS_kill,
    SYS_MQ_TIMEDRECEIVE = libc::SYS_mq_timedreceive,
    SYS_MQ_TIMEDSEND = libc::SYS_mq_timedsend,
    SYS_NANOSLEEP = libc::SYS_nanosleep,
    SYS_POLL = libc::SYS_poll,
    SYS_PPOLL = libc::SYS_ppoll,
    SYS_PROCESS_VM_WRITEV = libc::SYS_process_vm_writev,
    SYS_PSELECT6 = libc::SYS_pselect6,
    SYS_RECVMMSG = libc::SYS_recvmmsg,
    SYS_RT_SIGACTION = libc::SYS_rt_sigaction,
    SYS_RT_SIGPROCMASK = libc::SYS_rt_sigprocmask,
    SYS_RT_SIGRETURN = libc::SYS_rt_sigreturn,
    SYS_RT_SIGSUSPEND = libc::SYS_rt_sigsuspend,
    SYS_RT_SIGTIMEDWAIT = libc::SYS_rt_sigtimedwait,
    SYS_SCHED_YIELD = libc::SYS_sched_yield,
    SYS_SELECT = libc::SYS_select,
    SYS_SEMTIMEDOP = libc::SYS_semtimedop,
    SYS_SETITIMER = libc::SYS_setitimer,
    SYS_TGKILL = libc::SYS_tgkill,
    SYS_TIME = libc::SYS_time,
    SYS_TIMER_CREATE = libc::SYS_timer_create,
    SYS_TIMER_DELETE = libc::SYS_timer_delete,
    SYS_TIMER_GETTIME = libc::SYS_timer_gettime,
    SYS_TIMER_SETTIME = libc::SYS_timer_settime,
    SYS_TIMERFD_CREATE = libc::SYS_timerfd_create,
    SYS_TIMERFD_GETTIME = libc::SYS_timerfd_gettime,
    SYS_TIMERFD_SETTIME = libc::SYS_timerfd_settime,
}

unsafe extern "C" {
    static mock_clock_blob: u8;
    static mock_clock_blob_end: u8;
    static mock_clock_blob_clock_gettime: u8;
    static mock_clock_blob_gettimeofday: u8;
    static mock_clock_blob_time: u8;
    static mock_clock_blob_handler: u8;
    static mock_clock_blob_restorer: u8;
    static mock_clock_blob_syscall: u8;
}

/// All of it.
pub(super) fn bytes() -> &'static [u8] {
    let (begin, end) = (&raw const mock_clock_blob, &raw const mock_clock_blob_end);
    // SAFETY: both labels are in one section, in this order, with nothing between them but the assembly.
    unsafe { std::slice::from_raw_parts(begin, end.addr() - begin.addr()) }
}

/// How far from its beginning something is that others must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    ClockGettime,
    Gettimeofday,
    Time,
    Handler,
    Restorer,
    /// A `syscall` instruction.
    Syscall,
}

impl Entry {
    pub(super) fn offset(self) -> u64 {
        let label = match self {
            Entry::ClockGettime => &raw const mock_clock_blob_clock_gettime,
            Entry::Gettimeofday => &raw const mock_clock_blob_gettimeofday,
            Entry::Time => &raw const mock_clock_blob_time,
            Entry::Handler => &raw const mock_clock_blob_handler,
            Entry::Restorer => &raw const mock_clock_blob_restorer,
            Entry::Syscall => &raw const mock_clock_blob_syscall,
        };
        (label.addr() - (&raw const mock_clock_blob).addr()) as u64
    }
}
