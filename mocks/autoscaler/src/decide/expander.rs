//! Which of the pools that would help is bought from.

use std::collections::BTreeMap;

use regex::Regex;

use crate::defect::Defect;
use crate::settings::Settings;
use crate::view::Resources;

/// A pool that would help, and how much.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) pool: String,
    pub(crate) count: usize,
    /// What one machine has.
    pub(crate) each: Resources,
    pub(crate) asked: Resources,
    pub(crate) pods: Vec<String>,
}

impl Way {
    /// The share of the machines that nobody would use, of 0 to 2.
    #[expect(clippy::cast_precision_loss, reason = "machines have fewer than 2^52 bytes")]
    fn waste(&self) -> f64 {
        let count = self.count.max(1) as f64;
        let unused = |asked: u64, each: u64| 1.0 - asked as f64 / (each.max(1) as f64 * count);
        unused(self.asked.cpu, self.each.cpu) + unused(self.asked.memory, self.each.memory)
    }
}

/// Chooses; only its draws have a state.
#[derive(Debug)]
pub(crate) struct Expander {
    state: u64,
}

impl Expander {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// One of the ways, if there is any.
    pub(crate) fn choose(
        &mut self,
        mut ways: Vec<Way>,
        priorities: Option<&str>,
        settings: &Settings,
    ) -> Option<Way> {
        for name in &settings.arguments.expander {
            match name.as_str() {
                "priority" => match priorities.and_then(read) {
                    Some(map) => ways = most_important(ways, &map, settings),
                    None if settings.has(Defect::NeedsPriorityMap) => return None,
                    None => {}
                },
                "random" if !ways.is_empty() => {
                    let index = self.draw() % ways.len() as u64;
                    ways = vec![ways.swap_remove(usize::try_from(index).unwrap_or(0))];
                }
                _ => ways = least_waste(ways, settings),
            }
        }
        // Equals are taken in the order of their names.
        ways.into_iter().next()
    }

    /// The next number of `SplitMix64`.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn least_waste(mut ways: Vec<Way>, settings: &Settings) -> Vec<Way> {
    ways.sort_by(|a, b| a.waste().total_cmp(&b.waste()));
    if settings.has(Defect::PrefersWaste) {
        ways.reverse();
    }
    let best = ways.first().map_or(0.0, Way::waste);
    ways.retain(|way| (way.waste() - best).abs() < 1e-9);
    ways
}

/// Priorities and the expressions that pools match; `None` if it is written wrongly.
fn read(text: &str) -> Option<BTreeMap<i64, Vec<Regex>>> {
    let map: BTreeMap<i64, Vec<String>> = serde_yaml::from_str(text).ok()?;
    let compiled = map.into_iter().map(|(priority, texts)| {
        let expressions: Result<Vec<Regex>, _> = texts.iter().map(|text| Regex::new(text)).collect();
        Some((priority, expressions.ok()?))
    });
    compiled.collect()
}

/// Those of the highest priority; all of them if none has one.
fn most_important(ways: Vec<Way>, map: &BTreeMap<i64, Vec<Regex>>, settings: &Settings) -> Vec<Way> {
    let best = |expressions: &Vec<Regex>| -> Vec<Way> {
        let matches = |way: &&Way| expressions.iter().any(|expression| expression.is_match(&way.pool));
        ways.iter().filter(matches).cloned().collect()
    };
    let mut found = map.values().map(best).filter(|found| !found.is_empty());
    let found = if settings.has(Defect::ReversesPriorities) { found.next() } else { found.next_back() };
    found.unwrap_or(ways)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::told;
    use crate::view::tests::resources;

    fn ways() -> Vec<Way> {
        let way = |pool: &str, cores: u64| Way {
            pool: pool.to_owned(),
            count: 1,
            each: resources(cores * 1000, cores),
            asked: resources(1000, 1),
            pods: Vec::new(),
        };
        vec![way("big", 16), way("middle", 8), way("small", 2)]
    }

    fn chosen(arguments: &[&str], map: Option<&str>) -> String {
        let settings = told(arguments).unwrap();
        Expander::new(0).choose(ways(), map, &settings).unwrap().pool
    }

    #[test]
    fn the_least_waste_is_the_default() {
        assert_eq!(chosen(&[], None), "small");
        assert_eq!(chosen(&["--defect=prefers-waste"], None), "big");
    }

    #[test]
    fn priorities_go_before_waste_and_do_no_harm_when_unreadable() {
        let map = "10:\n  - .*small.*\n50:\n  - big\n  - middle\n";
        let first = &["--expander=priority,least-waste"];
        assert_eq!(chosen(first, Some(map)), "middle");
        assert_eq!(chosen(first, Some("50: [(]")), "small");
        assert_eq!(chosen(first, None), "small");
        assert_eq!(chosen(first, Some("5: [nobody]")), "small");
        assert_eq!(chosen(&[first[0], "--defect=reverses-priorities"], Some(map)), "small");
        let needs = told(&[first[0], "--defect=needs-priority-map"]).unwrap();
        assert!(Expander::new(0).choose(ways(), None, &needs).is_none());
    }

    #[test]
    fn chance_is_a_matter_of_the_seed() {
        let settings = told(&["--expander=random"]).unwrap();
        let draws = |seed| {
            let mut expander = Expander::new(seed);
            (0..20).map(|_| expander.choose(ways(), None, &settings).unwrap().pool).collect::<Vec<_>>()
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
    }
}
