//! The version of a program written in Go, as its linker has left it there: for programs that cannot be asked.

use std::fs;
use std::io;
use std::path::Path;

use crate::terms::Version;

/// What stands before the module whose version counts: for a provider of Karpenter that of the Karpenter within, by which
/// promises are told apart; else what the program itself was made of.
const BEFORE: [&[u8]; 2] = [b"\ndep\tsigs.k8s.io/karpenter\t", b"\nmod\t"];

/// The version of the module that a program was made of, if it says so.
pub fn built_from(program: &Path) -> io::Result<Option<Version>> {
    fs::read(program).map(|bytes| told(&bytes))
}

fn told(bytes: &[u8]) -> Option<Version> {
    BEFORE.iter().find_map(|before| after(bytes, before))
}

/// `mod<tab>path<tab>v1.2.3<tab>…` on a line of its own: the first version after its beginning.
fn after(bytes: &[u8], before: &[u8]) -> Option<Version> {
    let starts = bytes.windows(before.len()).enumerate().filter(|(_, window)| *window == before);
    starts.map(|(at, _)| &bytes[at + before.len()..]).find_map(|rest| {
        let line = rest.split(|byte| *byte == b'\n').next()?;
        let mut words = line.split(|byte| *byte == b'\t').take(2);
        words.find_map(|word| std::str::from_utf8(word).ok()?.parse().ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_says_what_it_was_made_of() {
        let bytes = |version: &str| {
            format!("\0\u{1}path\tx/y\nmod\tx\t{version}\th1:abc=\ndep\tz\tv9.9.9\n").into_bytes()
        };
        assert_eq!(told(&bytes("v1.6.2")), Some(Version::new(1, 6, 2)));
        assert_eq!(told(&bytes("(devel)")), None);
        assert_eq!(told(b"nothing"), None);
        let provider = b"\nmod\tx\tv2.1.0\t\ndep\tsigs.k8s.io/karpenter\tv1.14.0\th1:abc=\n";
        assert_eq!(told(provider), Some(Version::new(1, 14, 0)));
    }
}
