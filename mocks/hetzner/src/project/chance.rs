//! Everything that is drawn: how long an action takes, passwords, whether a trouble bites. One seed decides all of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A seeded generator (`SplitMix64`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Chance {
    state: u64,
}

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub(crate) fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// True so many times of a million.
    pub(crate) fn per_million(&mut self, share: u32) -> bool {
        self.draw() % 1_000_000 < u64::from(share)
    }

    /// A span around a mean, each within the spread equally likely; never below zero.
    pub(crate) fn around(&mut self, mean: Duration, spread: Duration) -> Duration {
        let width = u64::try_from(spread.as_nanos()).unwrap_or(u64::MAX / 2).saturating_mul(2);
        let offset = if width == 0 { 0 } else { self.draw() % width.saturating_add(1) };
        (mean + Duration::from_nanos(offset)).saturating_sub(spread)
    }

    /// Letters and digits, as in a password.
    pub(crate) fn word(&mut self, length: usize) -> String {
        const LETTERS: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
        let count = LETTERS.len() as u64;
        let mut letter =
            || LETTERS.get(usize::try_from(self.draw() % count).unwrap_or(0)).copied().unwrap_or(b'a');
        (0..length).map(|_| char::from(letter())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides() {
        let draw = |seed| Chance::new(seed).word(20);
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn a_span_stays_within_its_spread_and_uses_it() {
        let (mean, spread) = (Duration::from_secs(6), Duration::from_secs(2));
        let (least, most) = (Duration::from_secs(4), Duration::from_secs(8));
        let mut chance = Chance::new(3);
        let spans: Vec<Duration> = (0..1000).map(|_| chance.around(mean, spread)).collect();
        assert!(spans.iter().all(|span| (least..=most).contains(span)));
        assert!(spans.iter().any(|span| *span < Duration::from_secs(5)));
        assert!(spans.iter().any(|span| *span > Duration::from_secs(7)));
        assert_eq!(chance.around(Duration::from_secs(1), Duration::ZERO), Duration::from_secs(1));
        assert!(chance.around(Duration::from_secs(1), Duration::from_secs(9)) <= Duration::from_secs(10));
    }
}
