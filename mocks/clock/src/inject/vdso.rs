//! The kernel's library of clock functions, the vDSO, as a foreign program has it, and the substitute that leads that
//! program to our functions instead.
//!
//! A substitute is a copy in which only the values of symbols differ. Resolvers add them to the address of the image
//! and let the sum wrap, so a value can lead anywhere: to our code, or back to the functions of the real vDSO. No
//! instruction is changed, and none of the copy is executed. It neither reads nor writes the program's memory.

mod elf;

use std::fmt;

use elf::Elf;

const SYSCALL: [u8; 2] = [0x0f, 0x05];
const UNDEFINED: u16 = 0;
/// The section of symbols that are numbers, not places: the names of versions.
const ABSOLUTE: u16 = 0xfff1;

/// Why an image cannot be replaced. Reads after a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VdsoError {
    /// It is something else.
    NoElf,
    /// What it should have.
    Missing(&'static str),
    /// What points out of it.
    Outside(&'static str),
}

impl fmt::Display for VdsoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VdsoError::NoElf => f.write_str("it is no 64-bit x86 image"),
            VdsoError::Missing(what) => write!(f, "it has no {what}"),
            VdsoError::Outside(what) => write!(f, "its {what} lies outside of it"),
        }
    }
}

impl std::error::Error for VdsoError {}

/// Where our functions are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stubs {
    pub(super) clock_gettime: u64,
    pub(super) gettimeofday: u64,
    pub(super) time: u64,
}

impl Stubs {
    /// The function that takes the place of a symbol.
    fn instead_of(&self, name: &[u8]) -> Option<u64> {
        match name.strip_prefix(b"__vdso_").unwrap_or(name) {
            b"clock_gettime" => Some(self.clock_gettime),
            b"gettimeofday" => Some(self.gettimeofday),
            b"time" => Some(self.time),
            _ => None,
        }
    }
}

/// A jump so many bytes on, behind which that number stands; and one to the address that stands behind it.
const NEAR: [u8; 1] = [0xe9];
const FAR: [u8; 6] = [0xff, 0x25, 0, 0, 0, 0];

/// The vDSO of one program: at most a few pages of memory, and where they lie.
#[derive(Debug)]
pub(super) struct Vdso {
    address: u64,
    image: Vec<u8>,
    linked_at: u64,
    functions: Vec<Function>,
    clock_gettime: u64,
    syscall_instruction: u64,
}

/// A symbol that names a place.
#[derive(Debug)]
struct Function {
    name: Vec<u8>,
    value: u64,
}

impl Vdso {
    /// Reads the image that lies at an address.
    pub(super) fn parse(address: u64, image: Vec<u8>) -> Result<Self, VdsoError> {
        if address.checked_add(image.len() as u64).is_none() {
            return Err(VdsoError::Outside("end"));
        }
        let elf = Elf::read(&image)?;
        let linked_at = elf.linked_at;
        let mut functions = Vec::new();
        for symbol in elf.symbols() {
            let symbol = symbol?;
            if ![UNDEFINED, ABSOLUTE].contains(&symbol.section) {
                let name = symbol.name.to_vec();
                functions.push(Function { name, value: symbol.value });
            }
        }
        let named = |name: &[u8]| functions.iter().find(|f| f.name == name);
        let clock_gettime = named(b"__vdso_clock_gettime").or_else(|| named(b"clock_gettime"));
        let clock_gettime =
            clock_gettime.ok_or(VdsoError::Missing("clock_gettime"))?.value.wrapping_sub(linked_at);
        if clock_gettime >= image.len() as u64 {
            return Err(VdsoError::Outside("clock_gettime"));
        }
        let syscall = elf.instruction(SYSCALL).ok_or(VdsoError::Missing("system call"))?;
        Ok(Self {
            address,
            linked_at,
            functions,
            clock_gettime: address + clock_gettime,
            syscall_instruction: address + syscall as u64,
            image,
        })
    }

    /// The first address of the image.
    pub(super) fn begin(&self) -> u64 {
        self.address
    }

    /// The first address behind the image.
    pub(super) fn end(&self) -> u64 {
        self.address + self.image.len() as u64
    }

    /// Where the function is that reads the real clocks.
    pub(super) fn clock_gettime(&self) -> u64 {
        self.clock_gettime
    }

    /// Where a `syscall` instruction is. It may be the middle of another one: only a single step is sure to end.
    pub(super) fn syscall_instruction(&self) -> u64 {
        self.syscall_instruction
    }

    /// A copy to be placed at another address. Its functions are where they were in it, for there are readers that look
    /// for them nowhere else; but each begins with a jump, those of clocks to ours, all others to those of this image.
    /// Where the jumps lead stands behind the copy.
    pub(super) fn substitute(&self, stubs: &Stubs) -> Vec<u8> {
        let (mut copy, mut far) = (self.image.clone(), Vec::new());
        for function in &self.functions {
            let offset = function.value.wrapping_sub(self.linked_at);
            let target = stubs.instead_of(&function.name).unwrap_or(self.address.wrapping_add(offset));
            // What has no room for a jump is no function.
            let end = usize::try_from(offset).ok().and_then(|offset| offset.checked_add(NEAR.len() + 4));
            let Some(end) = end.filter(|end| *end <= copy.len()) else { continue };
            let distance = copy.len() - end + far.len();
            let distance = u32::try_from(distance).expect("an image is a few pages long");
            let jump = [&NEAR[..], &distance.to_le_bytes()].concat();
            copy[end - jump.len()..end].copy_from_slice(&jump);
            far.extend(FAR);
            far.extend(target.to_le_bytes());
        }
        copy.extend(far);
        copy
    }
}

#[cfg(test)]
mod tests;
