//! Putting the region into a process that stands at its first instruction, and leading its clock there.

use std::io;
use std::path::Path;

use nix::libc;
use nix::unistd::Pid;

use super::blob::{self, Entry};
use super::error::Unsupported;
use super::puppet::Puppet;
use super::region::{
    CLOCK, CODE_LENGTH, IMAGE, IMAGE_LENGTH, LENGTH, LOCAL, LOCAL_LENGTH, PLACES, SHARED, VDSO_MAX, local,
};
use super::vdso::{Stubs, Vdso};
use super::{auxv, filter, on_record};
use crate::page::layout;

/// Room below the stack of a program that has not begun to use it.
const BELOW: u64 = 64 * 1024;

const READ: u64 = libc::PROT_READ as u64;
const WRITE: u64 = libc::PROT_WRITE as u64;
const EXECUTE: u64 = libc::PROT_EXEC as u64;
/// Its bit in a mask of signals.
const SIGSYS: u64 = 1 << (libc::SIGSYS - 1);

/// Why a process cannot be given the clock.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It, or this machine, is of the wrong kind.
    Unsupported(Unsupported),
    /// A step failed that should not: which, and how.
    Step(&'static str, io::Error),
}

impl From<Refusal> for Unsupported {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unsupported(why) => why,
            Refusal::Step(step, e) => Unsupported::new(format!("it cannot be made to {step} ({e})")),
        }
    }
}

fn unsupported(why: impl Into<String>) -> Refusal {
    Refusal::Unsupported(Unsupported::new(why))
}

/// Whether a process has the filter already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    /// It is its first program, which will pass it on to all others.
    Missing,
    /// It has, and its region must lie here. When its program was started, it blocked these signals.
    For { place: u64, mask: u64 },
}

/// Gives the process the clock whose page is at `page`. It stands at the first instruction of its program.
pub(super) fn inject(pid: Pid, page: &Path, filter: Filter) -> Result<(), Refusal> {
    check_kind(pid)?;
    let mut puppet = Puppet::new(pid).map_err(|e| Refusal::Step("stand still", e))?;
    let outcome = give_clock(&mut puppet, pid, page, filter);
    match outcome {
        Ok(()) => puppet.release().map_err(|e| Refusal::Step("go on", e)),
        Err(refusal) => Err(refusal),
    }
}

/// Only 64-bit programs of this processor can be given the clock.
fn check_kind(pid: Pid) -> Result<(), Refusal> {
    let mut header = [0; 20];
    let read = std::fs::File::open(format!("/proc/{pid}/exe"))
        .and_then(|mut exe| io::Read::read_exact(&mut exe, &mut header));
    read.map_err(|e| Refusal::Step("show its program", e))?;
    let (class, machine) = (header[4], u16::from_le_bytes([header[18], header[19]]));
    match (class, machine) {
        (libc::ELFCLASS64, libc::EM_X86_64) => Ok(()),
        (libc::ELFCLASS32, _) => Err(unsupported("it is a 32-bit program")),
        _ => Err(unsupported("it is a program for another processor")),
    }
}

fn give_clock(puppet: &mut Puppet, pid: Pid, page: &Path, filter: Filter) -> Result<(), Refusal> {
    let pointer = auxv_entry(puppet)?;
    let vdso = find_vdso(puppet, pid, pointer)?;
    puppet.call_by(vdso.syscall_instruction());
    let place = map_region(puppet, filter)?;
    fill_region(puppet, place, &vdso)?;
    map_page(puppet, place, page)?;
    // From here on calls that the filter knows must come from the region.
    puppet.call_by(place + Entry::Syscall.offset());
    keep_sigsys(puppet, place)?;
    let mask = match filter {
        Filter::Missing => {
            set_filter(puppet, place)?;
            puppet.blocks()
        }
        Filter::For { mask, .. } => mask,
    };
    puppet.will_block(mask & !SIGSYS);
    puppet
        .write(pointer, &(place + IMAGE).to_ne_bytes())
        .map_err(|e| Refusal::Step("take another vDSO", e))?;
    let below = puppet.stack_pointer() - BELOW;
    if let Err(e) = on_record::correct(puppet, pid, place + IMAGE, below) {
        // Most programs look on their stack.
        tracing::debug!("process {pid} finds the real vDSO if it asks the kernel: {e}");
    }
    Ok(())
}

/// Where on its stack a program is told where the vDSO lies.
fn auxv_entry(puppet: &Puppet) -> Result<u64, Refusal> {
    let word = |at| {
        let bytes = puppet.read(at, 8)?;
        Ok(u64::from_ne_bytes(bytes.try_into().expect("eight bytes")))
    };
    match auxv::entry(puppet.stack_pointer(), auxv::SYSINFO_EHDR, word) {
        Ok(Some(pointer)) => Ok(pointer),
        Ok(None) => Err(unsupported("this kernel gives programs no vDSO")),
        Err(e) => Err(Refusal::Step("show its stack", e)),
    }
}

fn find_vdso(puppet: &Puppet, pid: Pid, pointer: u64) -> Result<Vdso, Refusal> {
    let step = |e| Refusal::Step("show its vDSO", e);
    let bytes = puppet.read(pointer, 8).map_err(step)?;
    let address = u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).map_err(step)?;
    let range = maps.lines().find_map(|line| mapping(line).filter(|(begin, _)| *begin == address));
    let Some((begin, end)) = range else {
        return Err(unsupported("this kernel gives programs no vDSO"));
    };
    if end - begin > VDSO_MAX {
        return Err(unsupported(format!("the vDSO of this kernel is {} bytes long", end - begin)));
    }
    let length = usize::try_from(end - begin).expect("a few pages");
    let image = puppet.read(address, length).map_err(step)?;
    Vdso::parse(address, image)
        .map_err(|e| unsupported(format!("the vDSO of this kernel is unlike others: {e}")))
}

/// The beginning and the end of a line of `maps`.
pub(super) fn mapping(line: &str) -> Option<(u64, u64)> {
    let (begin, end) = line.split(' ').next()?.split_once('-')?;
    Some((u64::from_str_radix(begin, 16).ok()?, u64::from_str_radix(end, 16).ok()?))
}

/// Takes room for the region, and says where.
fn map_region(puppet: &mut Puppet, filter: Filter) -> Result<u64, Refusal> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let candidates = match filter {
        Filter::Missing => &PLACES[..],
        Filter::For { ref place, .. } => std::slice::from_ref(place),
    };
    for place in candidates {
        let mapped = puppet
            .call(libc::SYS_mmap, [*place, LENGTH, READ | WRITE, flags.cast_unsigned().into(), u64::MAX, 0]);
        match mapped {
            Ok(at) if at == *place => return Ok(at),
            Ok(_) => return Err(unsupported("this kernel is too old: it does not know MAP_FIXED_NOREPLACE")),
            Err(e) if e.raw_os_error() == Some(libc::EEXIST) => {}
            Err(e) => return Err(Refusal::Step("map memory", e)),
        }
    }
    Err(unsupported("its memory is taken where the clock would have to be"))
}

fn fill_region(puppet: &mut Puppet, place: u64, vdso: &Vdso) -> Result<(), Refusal> {
    let at = |entry: Entry| place + entry.offset();
    let stubs = Stubs {
        clock_gettime: at(Entry::ClockGettime),
        gettimeofday: at(Entry::Gettimeofday),
        time: at(Entry::Time),
    };
    let image = vdso.substitute(&stubs);
    let mut locals = [0; 24];
    for (offset, word) in [
        (local::VDSO, vdso.begin()),
        (local::VDSO_END, vdso.end()),
        (local::CLOCK_GETTIME, vdso.clock_gettime()),
    ] {
        let offset = usize::try_from(offset).expect("a few words");
        locals[offset..offset + 8].copy_from_slice(&word.to_ne_bytes());
    }
    let write =
        |at, bytes: &[u8]| puppet.write(at, bytes).map_err(|e| Refusal::Step("take the clock's code", e));
    write(place, blob::bytes())?;
    write(place + LOCAL, &locals)?;
    write(place + IMAGE, &image)?;
    let mut protect = |at, length, rights| {
        let call = puppet.call(libc::SYS_mprotect, [at, length, rights]);
        call.map_err(|e| Refusal::Step("run code that was mapped", e)).map(drop)
    };
    protect(place, CODE_LENGTH, READ | EXECUTE)?;
    protect(place + LOCAL, LOCAL_LENGTH, READ)?;
    protect(place + IMAGE, IMAGE_LENGTH, READ | EXECUTE)
}

fn map_page(puppet: &mut Puppet, place: u64, page: &Path) -> Result<(), Refusal> {
    let step = |e| Refusal::Step("open the clock's page", e);
    let mut name = page.as_os_str().as_encoded_bytes().to_vec();
    name.push(0);
    let below = puppet.stack_pointer() - BELOW;
    puppet.write(below, &name).map_err(step)?;
    let how = libc::O_RDWR | libc::O_CLOEXEC;
    let file = puppet.call(libc::SYS_open, [below, how.cast_unsigned().into()]).map_err(step)?;
    let flags = u64::from((libc::MAP_SHARED | libc::MAP_FIXED).cast_unsigned());
    for (at, length, rights, offset) in [
        (place + CLOCK, layout::CLOCK_LENGTH, READ, layout::CLOCK),
        (place + SHARED, layout::SHARED_LENGTH, READ | WRITE, layout::SHARED),
    ] {
        puppet.call(libc::SYS_mmap, [at, length, rights, flags, file, offset]).map_err(step)?;
    }
    puppet.call(libc::SYS_close, [file]).map_err(step).map(drop)
}

/// Has SIGSYS handled in the region.
fn keep_sigsys(puppet: &mut Puppet, place: u64) -> Result<(), Refusal> {
    let step = |e| Refusal::Step("handle SIGSYS", e);
    let below = puppet.stack_pointer() - BELOW;
    let restorer = 0x0400_0000;
    let flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER | restorer;
    let words = [
        place + Entry::Handler.offset(),
        flags.cast_unsigned().into(),
        place + Entry::Restorer.offset(),
        blob::ASYNCHRONOUS.cast_unsigned(),
    ];
    puppet.write(below, &words.map(u64::to_ne_bytes).concat()).map_err(step)?;
    let sigsys = u64::from(libc::SIGSYS.cast_unsigned());
    puppet.call(libc::SYS_rt_sigaction, [sigsys, below, 0, 8]).map_err(step).map(drop)
}

fn set_filter(puppet: &mut Puppet, place: u64) -> Result<(), Refusal> {
    let step = |e| Refusal::Step("set a seccomp filter", e);
    let below = puppet.stack_pointer() - BELOW;
    let program = filter::program(place..place + CODE_LENGTH);
    let instructions = (program.len() / 8) as u64;
    puppet.write(below, &[instructions, below + 16].map(u64::to_ne_bytes).concat()).map_err(step)?;
    puppet.write(below + 16, &program).map_err(step)?;
    let privileges = u64::from(libc::PR_SET_NO_NEW_PRIVS.cast_unsigned());
    puppet.call(libc::SYS_prctl, [privileges, 1]).map_err(step)?;
    let filter_mode = u64::from(libc::SECCOMP_SET_MODE_FILTER);
    puppet.call(libc::SYS_seccomp, [filter_mode, 0, below]).map_err(step).map(drop)
}
