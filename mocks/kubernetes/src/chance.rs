//! Everything that is drawn: uids, name suffixes, choices among equals. One seed decides all of it.

use std::sync::{Mutex, PoisonError};

/// A seeded generator (`SplitMix64`). Several threads share it; what each gets then depends on who comes first.
#[derive(Debug)]
pub(crate) struct Chance(Mutex<u64>);

/// No vowels, so that no word is made, and nothing that is mistaken for something else: as upstream.
const SUFFIX: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }

    /// The next 64 bits.
    pub(crate) fn draw(&self) -> u64 {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = *state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A uid in the form of a random UUID.
    pub(crate) fn uid(&self) -> String {
        let (high, low) = (self.draw(), self.draw());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | (low >> 48) & 0x3fff,
            low & 0xffff_ffff_ffff,
        )
    }

    /// What `generateName` gets appended.
    pub(crate) fn suffix(&self) -> String {
        let mut bits = self.draw();
        let mut letter = || {
            let index = usize::try_from(bits % 27).unwrap_or_default();
            bits /= 27;
            char::from(SUFFIX[index])
        };
        (0..5).map(|_| letter()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides() {
        let draw = |seed| {
            let chance = Chance::new(seed);
            (chance.uid(), chance.suffix(), chance.uid())
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn a_uid_has_the_form_of_one() {
        let uid = Chance::new(7).uid();
        let lengths: Vec<usize> = uid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{uid}");
        assert_eq!(&uid[14..15], "4");
        assert!("89ab".contains(&uid[19..20]), "{uid}");
    }

    #[test]
    fn suffixes_are_five_letters_and_differ() {
        let chance = Chance::new(3);
        let suffixes: std::collections::BTreeSet<String> = (0..1000).map(|_| chance.suffix()).collect();
        assert!(suffixes.len() > 990);
        assert!(suffixes.iter().all(|suffix| suffix.len() == 5));
    }
}
