//! Drawing from a seed: the only generator there is. The same seed always draws the same.
//!
//! `SplitMix64` (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): small, and any two seeds
//! are far apart.

/// A sequence of draws.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// What this seed draws.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of so many, counted from zero; none, if there are none.
    pub fn one_of(&mut self, many: usize) -> Option<usize> {
        let wide = u128::from(self.number()) * many as u128;
        (many > 0).then(|| usize::try_from(wide >> 64).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draws_are_those_of_the_paper() {
        let mut draw = Draw::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| draw.number()).collect();
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn one_of_many_is_one_of_them_and_each_comes() {
        let mut draw = Draw::new(7);
        let mut seen = [0; 5];
        for _ in 0..500 {
            seen[draw.one_of(5).unwrap()] += 1;
        }
        assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
        assert_eq!(draw.one_of(0), None);
    }
}
