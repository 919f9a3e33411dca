//! A process that stands still for us and makes system calls on our behalf.
//!
//! It must be stopped by ptrace, and this must be the thread that traces it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace;
use nix::unistd::Pid;

use super::trace::{self, Stop};

/// A stopped thread. It goes on, with the registers it had, when it is released.
#[derive(Debug)]
pub(super) struct Puppet {
    pid: Pid,
    registers: libc::user_regs_struct,
    memory: File,
    /// A `syscall` instruction in its memory.
    syscall: Option<u64>,
    /// The signals that it blocks. Meanwhile it blocks all.
    mask: u64,
    /// A signal that cannot be blocked and came in between: one that stops it.
    held_back: i32,
}

impl Puppet {
    pub(super) fn new(pid: Pid) -> io::Result<Self> {
        let memory = File::options().read(true).write(true).open(format!("/proc/{pid}/mem"))?;
        let registers = ptrace::getregs(pid)?;
        let mask = trace::blocked(pid)?;
        trace::block(pid, u64::MAX)?;
        Ok(Self { pid, registers, memory, syscall: None, mask, held_back: 0 })
    }

    /// It will block these signals when it goes on.
    pub(super) fn will_block(&mut self, mask: u64) {
        self.mask = mask;
    }

    pub(super) fn blocks(&self) -> u64 {
        self.mask
    }

    pub(super) fn stack_pointer(&self) -> u64 {
        self.registers.rsp
    }

    /// From now on calls are made by the instruction at `address`.
    pub(super) fn call_by(&mut self, address: u64) {
        self.syscall = Some(address);
    }

    pub(super) fn read(&self, address: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.memory.read_exact_at(&mut bytes, address)?;
        Ok(bytes)
    }

    pub(super) fn write(&self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.memory.write_all_at(bytes, address)
    }

    /// Has it make a system call, and gives what that returned.
    pub(super) fn call<const N: usize>(&mut self, number: i64, arguments: [u64; N]) -> io::Result<u64> {
        let instruction =
            self.syscall.ok_or_else(|| io::Error::other("no system call instruction is known"))?;
        let argument = |n: usize| arguments.get(n).copied().unwrap_or(0);
        let mut registers = self.registers;
        registers.rip = instruction;
        registers.rax = number.cast_unsigned();
        // It is in no system call that could be started again.
        registers.orig_rax = u64::MAX;
        (registers.rdi, registers.rsi, registers.rdx) = (argument(0), argument(1), argument(2));
        (registers.r10, registers.r8, registers.r9) = (argument(3), argument(4), argument(5));
        ptrace::setregs(self.pid, registers)?;
        let after = self.step_from(instruction)?;
        let result = after.rax.cast_signed();
        if (-4095..0).contains(&result) {
            let number = i32::try_from(-result).expect("below 4096");
            return Err(io::Error::from_raw_os_error(number));
        }
        Ok(after.rax)
    }

    /// Steps over one instruction; what would stop it instead is kept for later.
    fn step_from(&mut self, instruction: u64) -> io::Result<libc::user_regs_struct> {
        loop {
            trace::step(self.pid)?;
            match trace::stop(self.pid)? {
                Stop::Signal(libc::SIGTRAP) | Stop::Interrupt | Stop::Event => {}
                Stop::Signal(signal) => self.held_back = signal,
                Stop::Exec => return Err(Errno::ESRCH.into()),
            }
            let registers = ptrace::getregs(self.pid)?;
            if registers.rip != instruction {
                return Ok(registers);
            }
        }
    }

    /// Lets it go on where it stood, traced by nobody.
    pub(super) fn release(self) -> io::Result<()> {
        ptrace::setregs(self.pid, self.registers)?;
        trace::block(self.pid, self.mask)?;
        Ok(trace::let_go(self.pid, self.held_back)?)
    }
}
