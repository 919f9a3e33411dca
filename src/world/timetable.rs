//! How long each stage of a machine takes, when nothing hurts. A seed decides by how much one differs from another.

use std::time::Duration;

use crate::terms::Stage;

/// How much longer or shorter than usual a stage may take, in percent.
const SPREAD_PERCENT: u64 = 10;

/// The usual durations, and the seed of their differences.
#[derive(Clone, Debug)]
pub struct Timetable {
    seed: u64,
    usual: [Duration; Stage::ALL.len()],
}

impl Timetable {
    /// What users see: a server that is on becomes a ready node within a minute.
    pub fn new(seed: u64) -> Self {
        let usual = Stage::ALL.map(|stage| {
            Duration::from_secs(match stage {
                Stage::Boot => 20,
                Stage::Register => 5,
                Stage::ProviderId | Stage::Ready => 2,
                Stage::Network => 10,
                Stage::CsiNode => 4,
                Stage::Pull => 3,
                Stage::Start => 1,
            })
        });
        Self { seed, usual }
    }

    /// The same, but a stage usually takes so long.
    #[must_use]
    pub fn with(mut self, stage: Stage, takes: Duration) -> Self {
        self.usual[stage as usize] = takes;
        self
    }

    /// How long a stage usually takes.
    pub fn usual(&self, stage: Stage) -> Duration {
        self.usual[stage as usize]
    }

    /// How long a stage takes for one of them: always the same for the same name.
    pub fn takes(&self, stage: Stage, whom: &str) -> Duration {
        let usual = self.usual(stage);
        let drawn = spread(self.seed, stage as u64, whom) % (2 * SPREAD_PERCENT + 1);
        usual * u32::try_from(100 - SPREAD_PERCENT + drawn).unwrap_or(100) / 100
    }
}

/// A number that looks drawn and follows from seed, stage and name: FNV over the name, then the finish of `SplitMix64`.
fn spread(seed: u64, stage: u64, whom: &str) -> u64 {
    let start = seed ^ 0xcbf2_9ce4_8422_2325 ^ (stage << 32);
    let hash = whom.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn a_stage_takes_about_as_long_as_usual_and_always_the_same(seed: u64, whom in "[a-z0-9-]{1,20}") {
            let table = Timetable::new(seed);
            for stage in Stage::ALL {
                let (takes, usual) = (table.takes(stage, &whom), table.usual(stage));
                prop_assert!(takes >= usual * 9 / 10 && takes <= usual * 11 / 10, "{stage:?} {takes:?}");
                prop_assert_eq!(takes, table.takes(stage, &whom));
            }
        }
    }

    #[test]
    fn names_and_seeds_make_a_difference() {
        let boot = |seed, whom: &str| Timetable::new(seed).takes(Stage::Boot, whom);
        let names: std::collections::BTreeSet<_> = (0..20).map(|i| boot(1, &format!("node-{i}"))).collect();
        let seeds: std::collections::BTreeSet<_> = (0..20).map(|seed| boot(seed, "node")).collect();
        assert!(names.len() > 5 && seeds.len() > 5, "{names:?} {seeds:?}");
    }
}
