//! Substitutes of this process's own vDSO and of small images made by hand, and images that somebody has spoilt.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use proptest::prelude::*;

use super::*;

const AT: u64 = 0x10_0000_4000;
const STUBS: Stubs =
    Stubs { clock_gettime: 0x10_0000_0010, gettimeofday: 0x10_0000_0020, time: 0x10_0000_0030 };

/// The vDSO that the kernel gave this process.
fn own() -> (u64, Vec<u8>) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.ends_with("[vdso]")).unwrap();
    let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
    let (start, end) = (u64::from_str_radix(start, 16).unwrap(), u64::from_str_radix(end, 16).unwrap());
    let mut image = vec![0; usize::try_from(end - start).unwrap()];
    File::open("/proc/self/mem").unwrap().read_exact_at(&mut image, start).unwrap();
    (start, image)
}

/// Where the symbols of an image lead, as a resolver finds them; version names are left out.
fn resolve(address: u64, image: &[u8]) -> Vec<(String, u64)> {
    let elf = Elf::read(image).unwrap();
    let load_offset = address.wrapping_sub(elf.linked_at);
    let symbols =
        elf.symbols().map(Result::unwrap).filter(|s| s.section != ABSOLUTE && s.section != UNDEFINED);
    symbols
        .map(|s| (String::from_utf8(s.name.to_vec()).unwrap(), load_offset.wrapping_add(s.value)))
        .collect()
}

fn place(symbols: &[(String, u64)], name: &str) -> u64 {
    symbols.iter().find(|(n, _)| n == name).unwrap().1
}

/// Clock functions lead to the stubs, all others to where they were.
fn led_astray(vdso: &Vdso, image: &[u8]) -> Vec<u8> {
    let copy = vdso.substitute(&STUBS);
    let (before, after) = (resolve(vdso.address, image), resolve(AT, &copy));
    assert_eq!(before.len(), after.len());
    for ((name, was), (same, is)) in before.iter().zip(&after) {
        assert_eq!(name, same);
        let expected = match name.trim_start_matches("__vdso_") {
            "clock_gettime" => STUBS.clock_gettime,
            "gettimeofday" => STUBS.gettimeofday,
            "time" => STUBS.time,
            _ => *was,
        };
        assert_eq!(follow(&copy, *is), expected, "{name}");
    }
    copy
}

/// Where the jumps at an address of the copy lead: one to behind the image, and one from there.
fn follow(copy: &[u8], address: u64) -> u64 {
    let at = usize::try_from(address - AT).unwrap();
    assert_eq!(copy[at], NEAR[0], "a function begins with a jump");
    let distance = u32::from_le_bytes(copy[at + 1..at + 5].try_into().unwrap());
    let far = at + 5 + distance as usize;
    assert_eq!(copy[far..far + 6], FAR);
    u64::from_le_bytes(copy[far + 6..far + 14].try_into().unwrap())
}

#[test]
fn this_process_has_one_that_can_be_replaced() {
    let (address, image) = own();
    let vdso = Vdso::parse(address, image.clone()).unwrap();
    assert_eq!(vdso.end(), address + image.len() as u64);

    let symbols = resolve(address, &image);
    assert_eq!(vdso.clock_gettime(), place(&symbols, "__vdso_clock_gettime"));
    let at = usize::try_from(vdso.syscall_instruction() - address).unwrap();
    assert_eq!(image[at..at + 2], SYSCALL);

    let copy = led_astray(&vdso, &image);
    let values: Vec<usize> = symbols.iter().map(|s| usize::try_from(s.1 - address).unwrap()).collect();
    let differs = (0..image.len()).filter(|&n| image[n] != copy[n]);
    assert!(differs.into_iter().all(|n| values.iter().any(|&v| (v..v + 5).contains(&n))));
}

#[derive(Clone, Copy, Debug)]
enum Hash {
    None,
    Gnu,
    SystemV,
}

/// An image of one page: header, segments, dynamic section, symbols, names, hash table, code. If there is a hash table,
/// no symbol stands right before the names.
fn small(linked_at: u64, hash: Hash) -> Vec<u8> {
    const SYMBOLS_AT: usize = 0x200;
    const NAMES: &[u8] = b"\0clock_gettime\0__vdso_time\0getcpu\0LINUX_2.6\0getrandom\0";
    const SYMBOLS: [(u32, u16, u64); 6] =
        [(0, 0, 0), (44, UNDEFINED, 0), (34, ABSOLUTE, 0), (1, 9, 0x800), (15, 9, 0x810), (27, 9, 0x820)];
    let names_at = SYMBOLS_AT + SYMBOLS.len() * 24 + if matches!(hash, Hash::None) { 0 } else { 24 };
    let mut image = vec![0; 4096];
    let mut put = |at: usize, bytes: &[u8]| image[at..at + bytes.len()].copy_from_slice(bytes);
    let mut words = |at: usize, words: &[u64]| {
        for (n, word) in words.iter().enumerate() {
            put(at + n * 8, &word.to_le_bytes());
        }
    };
    // The first number of a segment is its kind and, above it, what may be done with it: 5 is read and execute.
    words(64, &[1 | 5 << 32, 0, linked_at, 0, 0x900, 0x900, 4096]);
    words(120, &[2 | 4 << 32, 0x100, linked_at.wrapping_add(0x100), 0, 0x60, 0x60, 8]);
    words(32, &[64]);
    let (tag, table): (u64, &[u32]) = match hash {
        Hash::None => (21, &[]),
        // Two buckets with symbols 2 to 5, of which 2 and 3 are in the first: each chain ends with an odd number.
        Hash::Gnu => (0x6fff_fef5, &[2, 2, 1, 6, 0, 0, 2, 4, 0x10, 0x21, 0x30, 0x41]),
        Hash::SystemV => (4, &[1, 6]),
    };
    let linked = |offset: u64| linked_at.wrapping_add(offset);
    words(0x100, &[tag, linked(0x400), 5, linked(names_at as u64), 6, linked(SYMBOLS_AT as u64), 0, 0]);
    words(names_at - 24, &[u64::MAX]);
    for (n, (name, section, value)) in SYMBOLS.into_iter().enumerate() {
        let value = if section == 9 { linked(value) } else { value };
        words(SYMBOLS_AT + n * 24, &[u64::from(name) | u64::from(section) << 48, value]);
    }
    put(0, b"\x7fELF\x02\x01");
    put(18, &62_u16.to_le_bytes());
    put(54, &[56, 0, 2, 0]);
    put(names_at, NAMES);
    for (n, word) in table.iter().enumerate() {
        put(0x400 + n * 4, &word.to_le_bytes());
    }
    put(0x8f0, &SYSCALL);
    image
}

#[test]
fn images_with_any_count_of_symbols_linked_anywhere() {
    for linked_at in [0, 0x40_0000, 0xffff_ffff_ff70_0000] {
        for hash in [Hash::None, Hash::Gnu, Hash::SystemV] {
            let image = small(linked_at, hash);
            let address = 0x7fff_1234_5000;
            let vdso = Vdso::parse(address, image.clone()).unwrap();
            let names: Vec<_> = resolve(address, &image).into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, ["clock_gettime", "__vdso_time", "getcpu"]);
            assert_eq!(vdso.clock_gettime(), address + 0x800);
            assert_eq!(vdso.syscall_instruction(), address + 0x8f0);
            let copy = led_astray(&vdso, &image);
            assert_eq!(follow(&copy, place(&resolve(AT, &copy), "getcpu")), address + 0x820);
        }
    }
}

/// What is undefined stays so, and the names of versions keep their numbers.
#[test]
fn what_names_no_place_is_kept() {
    let image = small(0, Hash::Gnu);
    let copy = Vdso::parse(0x7000_0000, image.clone()).unwrap().substitute(&STUBS);
    for n in [0, 1, 2] {
        let symbol = 0x200 + n * 24..0x200 + (n + 1) * 24;
        assert_eq!(copy[symbol.clone()], image[symbol]);
    }
}

#[test]
fn what_is_wrong_is_said() {
    let spoilt = |spoil: fn(&mut Vec<u8>)| {
        let mut image = small(0, Hash::None);
        spoil(&mut image);
        Vdso::parse(0x7000_0000, image).unwrap_err()
    };
    assert_eq!(spoilt(|image| image[4] = 1), VdsoError::NoElf);
    assert_eq!(spoilt(|image| image[0x8f1] = 0), VdsoError::Missing("system call"));
    assert_eq!(spoilt(|image| image[64] = 9), VdsoError::Missing("segment to load"));
    assert_eq!(spoilt(|image| image[72] = 8), VdsoError::Missing("segment that begins with it"));
    assert_eq!(spoilt(|image| image[120] = 9), VdsoError::Missing("dynamic section"));
    assert_eq!(spoilt(|image| image[0x200 + 6 * 24 + 1] = b'C'), VdsoError::Missing("clock_gettime"));
    assert_eq!(spoilt(|image| image[0x200 + 3 * 24 + 10] = 1), VdsoError::Outside("clock_gettime"));
    assert_eq!(spoilt(|image| image.truncate(0x8ff)), VdsoError::Outside("code"));
    let at_the_end = Vdso::parse(u64::MAX - 4, small(0, Hash::None)).unwrap_err();
    assert_eq!(at_the_end.to_string(), "its end lies outside of it");
}

/// Sums that would end beyond all numbers are caught, wherever they begin.
#[test]
fn each_word_may_be_next_to_the_largest() {
    let images = [small(0, Hash::None), small(0, Hash::Gnu), small(0, Hash::SystemV), own().1];
    for (mut image, at) in
        images.into_iter().flat_map(|image| (0..0x480).step_by(4).map(move |at| (image.clone(), at)))
    {
        for below in 0..32 {
            image[at..at + 8].copy_from_slice(&(u64::MAX - below).to_le_bytes());
            if let Ok(vdso) = Vdso::parse(0x7000_0000, image.clone()) {
                assert!(vdso.substitute(&STUBS).len() >= image.len());
            }
        }
    }
}

fn any_image() -> impl Strategy<Value = Vec<u8>> {
    let hashes = prop_oneof![Just(Hash::None), Just(Hash::Gnu), Just(Hash::SystemV)];
    let linked_at = prop_oneof![Just(0), any::<u64>()];
    let smalls = (linked_at, hashes).prop_map(|(linked_at, hash)| small(linked_at, hash));
    prop_oneof![smalls, Just(own().1)]
}

fn any_word() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        any::<u8>().prop_map(u64::from),
        any::<u16>().prop_map(u64::from),
        Just(u64::MAX)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a program has made of its image, it is refused, or what is found in it is within it.
    #[test]
    fn spoilt_images_do_no_harm(
        mut image in any_image(),
        spoilt in prop::collection::vec((0_usize..0x120, any_word(), 1_usize..=8), 1..4),
        length in prop_oneof![Just(usize::MAX), 0_usize..8192],
        address in any::<u64>(),
    ) {
        for (at, word, bytes) in spoilt {
            image[at * 4..][..bytes].copy_from_slice(&word.to_le_bytes()[..bytes]);
        }
        image.truncate(length);
        if let Ok(vdso) = Vdso::parse(address, image.clone()) {
            let within = address..vdso.end();
            prop_assert!(within.contains(&vdso.clock_gettime()));
            let at = usize::try_from(vdso.syscall_instruction() - address).unwrap();
            prop_assert_eq!(&image[at..at + 2], &SYSCALL);
            prop_assert!(vdso.substitute(&STUBS).len() >= image.len());
        }
    }
}
