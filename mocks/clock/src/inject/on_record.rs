//! What the kernel has on record of a program: the auxiliary vector once more, for those who ask the kernel instead of
//! looking on their stack. Some libraries do, and would find the real vDSO there.
//!
//! The kernel changes its record only together with all else it knows of the program's memory, which is told to it as it
//! is. Not every kernel can.

use std::io;

use nix::libc;
use nix::unistd::Pid;

use super::auxv::SYSINFO_EHDR;
use super::puppet::Puppet;

const WORD: usize = 8;
/// How long the kernel's description of a program's memory is.
const MAP_LENGTH: usize = 13 * WORD;
/// Fields of `stat`, counted from 1: where code, data, heap, stack, arguments and environment begin and end, in the order
/// in which the kernel wants them. The heap has no end yet.
const FIELDS: [usize; 11] = [26, 27, 45, 46, 47, 47, 28, 48, 49, 50, 51];
/// The option of `prctl` and its own: the first changes what is known of memory, the second all of it.
const SET_MM: u64 = libc::PR_SET_MM as u64;
const SET_MM_MAP: u64 = libc::PR_SET_MM_MAP as u64;

/// Has the kernel say that the vDSO lies at `image`. `below` is memory of the program that it does not use yet.
pub(super) fn correct(puppet: &mut Puppet, pid: Pid, image: u64, below: u64) -> io::Result<()> {
    let mut vector = std::fs::read(format!("/proc/{pid}/auxv"))?;
    if !point_to(&mut vector, image) {
        return Err(io::Error::other("the kernel's record of the vDSO is not as it should be"));
    }
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let map = map(&stat, below + MAP_LENGTH as u64, vector.len())
        .ok_or_else(|| io::Error::other("cannot make sense of this kernel's /proc/…/stat"))?;
    puppet.write(below, &map)?;
    puppet.write(below + MAP_LENGTH as u64, &vector)?;
    let done = puppet.call(libc::SYS_prctl, [SET_MM, SET_MM_MAP, below, MAP_LENGTH as u64, 0]);
    done.map(drop)
}

/// Changes the address of the vDSO in a vector; false if there is none.
fn point_to(vector: &mut [u8], image: u64) -> bool {
    let mut pairs = vector.chunks_exact_mut(2 * WORD);
    let Some(pair) = pairs.find(|pair| pair[..WORD] == SYSINFO_EHDR.to_ne_bytes()) else { return false };
    pair[WORD..].copy_from_slice(&image.to_ne_bytes());
    true
}

/// The kernel's description of a program's memory, as `stat` has it, with a vector of this length there.
fn map(stat: &str, vector: u64, length: usize) -> Option<Vec<u8>> {
    // Fields are counted behind the name, which may hold anything; the first there is the third.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let mut map = Vec::with_capacity(MAP_LENGTH);
    for number in FIELDS {
        map.extend(field(number)?.to_ne_bytes());
    }
    map.extend(vector.to_ne_bytes());
    map.extend(u32::try_from(length).ok()?.to_ne_bytes());
    // No other program file.
    map.extend(u32::MAX.to_ne_bytes());
    Some(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_is_in_the_kernels_order() {
        let numbers: Vec<String> = (4..=52).map(|number| number.to_string()).collect();
        let map = map(&format!("7 (a) b) S {}", numbers.join(" ")), 1000, 320).unwrap();
        let words: Vec<u64> =
            map.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words[..12], [26, 27, 45, 46, 47, 47, 28, 48, 49, 50, 51, 1000]);
        assert_eq!(words[12], 0xffff_ffff_0000_0140, "no other file, and 320 bytes");
        assert!(super::map("7 (short) S 1", 0, 0).is_none());
    }

    #[test]
    fn only_the_vdso_is_pointed_elsewhere() {
        let mut vector: Vec<u8> = [6, 4096, 33, 77, 0, 0_u64].map(u64::to_ne_bytes).concat();
        assert!(point_to(&mut vector, 99));
        assert_eq!(vector, [6, 4096, 33, 99, 0, 0_u64].map(u64::to_ne_bytes).concat());
        assert!(!point_to(&mut vector[..16], 1));
    }
}
