//! Finds what the kernel tells a program about the machine, the auxiliary vector, on the program's first stack.
//!
//! The stack begins with the number of arguments; then follow pointers to them, 0, pointers to the environment, 0, and
//! the pairs of the vector: kind and value, up to kind 0. It only finds; what is found is read and written elsewhere.

use std::io;

/// More than the kernel lets arguments and environment have pointers.
const WORDS_MAX: u64 = 4_000_000;
const WORD: u64 = 8;

/// The address of the vDSO.
pub(super) const SYSINFO_EHDR: u64 = 33;

/// The address of the value that the vector gives for a kind, if it has one.
///
/// The words are asked for one by one, in the order of their addresses. Arguments are skipped, so these are as many as
/// the environment has variables and some forty more: reading ahead does not pay.
pub(super) fn entry(
    stack_pointer: u64,
    kind: u64,
    mut read: impl FnMut(u64) -> io::Result<u64>,
) -> io::Result<Option<u64>> {
    let word = |n: u64| {
        let address = n.checked_mul(WORD).and_then(|offset| stack_pointer.checked_add(offset));
        address.ok_or_else(|| malformed("it ends beyond all memory"))
    };
    let arguments = read(stack_pointer)?;
    if arguments > WORDS_MAX {
        return Err(malformed("it has too many arguments"));
    }
    let mut at = 1 + arguments;
    if read(word(at)?)? != 0 {
        return Err(malformed("its arguments have no end"));
    }
    at += 1;
    while read(word(at)?)? != 0 {
        at += 1;
        if at > WORDS_MAX {
            return Err(malformed("its environment has no end"));
        }
    }
    at += 1;
    while at <= WORDS_MAX {
        match read(word(at)?)? {
            0 => return Ok(None),
            found if found == kind => return word(at + 1).map(Some),
            _ => at += 2,
        }
    }
    Err(malformed("its auxiliary vector has no end"))
}

fn malformed(why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the program's first stack is not as it should be: {why}"),
    )
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::FileExt;

    use proptest::prelude::*;

    use super::*;

    const STACK: u64 = 0x7ffd_0000_1230;

    /// Memory that holds only these words.
    fn holds(words: &[u64]) -> impl FnMut(u64) -> io::Result<u64> {
        move |address| {
            let n = usize::try_from((address - STACK) / WORD).unwrap();
            words.get(n).copied().ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
        }
    }

    fn stack(arguments: usize, variables: usize, vector: &[(u64, u64)]) -> Vec<u64> {
        let mut words = vec![arguments as u64];
        words.extend(vec![SYSINFO_EHDR; arguments]);
        words.push(0);
        words.extend(vec![SYSINFO_EHDR; variables]);
        words.push(0);
        words.extend(vector.iter().flat_map(|&(kind, value)| [kind, value]));
        words.extend([0, 0]);
        words
    }

    fn text(error: io::Result<Option<u64>>) -> String {
        error.unwrap_err().to_string()
    }

    /// The kernel says where it has put this process's own stack, and what it has put there.
    #[test]
    fn this_process_has_a_vdso() {
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        let fields = stat.rsplit_once(')').unwrap().1;
        let stack_pointer = fields.split_whitespace().nth(25).unwrap().parse().unwrap();
        let memory = File::open("/proc/self/mem").unwrap();
        let read = |address| {
            let mut word = [0; 8];
            memory.read_exact_at(&mut word, address).map(|()| u64::from_ne_bytes(word))
        };
        let found = read(entry(stack_pointer, SYSINFO_EHDR, read).unwrap().unwrap()).unwrap();

        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let vdso = maps.lines().find(|line| line.ends_with("[vdso]")).unwrap();
        assert!(vdso.starts_with(&format!("{found:x}-")), "{found:x}: {vdso}");
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        let words = stack(1, 2, &[(16, SYSINFO_EHDR), (3, 7)]);
        assert_eq!(entry(STACK, SYSINFO_EHDR, holds(&words)).unwrap(), None);
    }

    #[test]
    fn stacks_without_an_end_are_refused() {
        assert!(text(entry(STACK, 33, |_| Ok(u64::MAX))).ends_with("it has too many arguments"));
        assert!(text(entry(STACK, 33, |_| Ok(1))).ends_with("its arguments have no end"));
        let endless = |address| Ok(u64::from(address > STACK + 8));
        assert!(text(entry(STACK, 33, endless)).ends_with("its environment has no end"));
        let endless = |address| Ok(u64::from(address > STACK + 16));
        assert!(text(entry(STACK, 33, endless)).ends_with("its auxiliary vector has no end"));
        assert!(text(entry(u64::MAX - 20, 33, |_| Ok(0))).ends_with("it ends beyond all memory"));
        let short = holds(&[0, 0]);
        assert_eq!(entry(STACK, 33, short).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Values, arguments and variables that look like the kind are not taken for it.
        #[test]
        fn the_value_of_the_first_of_its_kind_is_found(
            arguments in 0_usize..100,
            variables in 0_usize..100,
            before in prop::collection::vec((1_u64..SYSINFO_EHDR, 30_u64..36), 0..50),
            value in any::<u64>(),
        ) {
            let place = 1 + arguments + 1 + variables + 1 + before.len() * 2 + 1;
            let mut vector = before;
            vector.extend([(SYSINFO_EHDR, value), (SYSINFO_EHDR, 1), (51, 2)]);
            let words = stack(arguments, variables, &vector);
            let found = entry(STACK, SYSINFO_EHDR, holds(&words)).unwrap();
            prop_assert_eq!(found, Some(STACK + place as u64 * WORD));
            prop_assert_eq!(words[place], value);
        }

        /// Nothing that a program writes on its stack makes it fail otherwise than with an error.
        #[test]
        fn any_words_do_no_harm(words in prop::collection::vec(prop_oneof![0_u64..40, any::<u64>()], 0..60)) {
            if let Ok(Some(address)) = entry(STACK, SYSINFO_EHDR, holds(&words)) {
                let place = usize::try_from((address - STACK) / WORD).unwrap();
                prop_assert_eq!(words[place - 1], SYSINFO_EHDR);
            }
        }
    }
}
