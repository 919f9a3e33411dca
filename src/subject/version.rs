//! The version of a program written in Go, as its linker has left it there: for programs that cannot be asked.

use std::fs;
use std::io;
use std::path::Path;

use crate::terms::Version;

/// What stands before the module that a program was made of.
const BEFORE: &[u8] = b"\nmod\t";

/// The version of the module that a program was made of, if it says so.
pub fn built_from(program: &Path) -> io::Result<Option<Version>> {
    fs::read(program).map(|bytes| told(&bytes))
}

/// `mod<tab>path<tab>v1.2.3<tab>…` on a line of its own.
fn told(bytes: &[u8]) -> Option<Version> {
    let starts = bytes.windows(BEFORE.len()).enumerate().filter(|(_, window)| *window == BEFORE);
    starts.map(|(at, _)| &bytes[at + BEFORE.len()..]).find_map(|rest| {
        let line = rest.split(|byte| *byte == b'\n').next()?;
        let version = line.split(|byte| *byte == b'\t').nth(1)?;
        std::str::from_utf8(version).ok()?.parse().ok()
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
    }
}
