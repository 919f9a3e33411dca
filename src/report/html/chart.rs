//! Counts over time as stacked steps.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use maud::{Markup, html};

use super::scale::Scale;

/// Finer than this, changes are not drawn one by one: of each part the highest is.
const PARTS: u32 = 800;

/// How many things are in which layer over time. The layers are stacked, the first at the bottom.
pub(super) struct Counts<const LAYERS: usize> {
    changes: BTreeMap<Duration, [i64; LAYERS]>,
}

impl<const LAYERS: usize> Counts<LAYERS> {
    pub(super) fn new() -> Self {
        Self { changes: BTreeMap::new() }
    }

    /// One thing is in a layer from one moment to another.
    pub(super) fn add(&mut self, layer: usize, from: Duration, to: Duration, end: Duration) {
        self.changes.entry(from).or_insert([0; LAYERS])[layer] += 1;
        if to < end {
            self.changes.entry(to).or_insert([0; LAYERS])[layer] -= 1;
        }
    }

    /// The counts from each change on.
    fn steps(&self, scale: Scale) -> Vec<(Duration, [i64; LAYERS])> {
        let mut now = [0; LAYERS];
        let mut steps: Vec<(Duration, [i64; LAYERS])> = Vec::new();
        for (at, change) in &self.changes {
            for (count, change) in now.iter_mut().zip(change) {
                *count += change;
            }
            steps.push((*at, now));
        }
        if steps.len() <= PARTS as usize {
            return steps;
        }
        let total = |counts: &[i64; LAYERS]| counts.iter().sum::<i64>();
        let mut coarse: BTreeMap<u32, (Duration, [i64; LAYERS])> = BTreeMap::new();
        for (at, counts) in steps {
            let highest = coarse.entry(scale.part(at, PARTS)).or_insert((at, counts));
            if total(&counts) >= total(&highest.1) {
                highest.1 = counts;
            }
        }
        coarse.into_values().collect()
    }

    /// The most there ever were, all layers together.
    pub(super) fn most(&self) -> i64 {
        let mut now = 0;
        let sums = self.changes.values().map(|change| {
            now += change.iter().sum::<i64>();
            now
        });
        sums.max().unwrap_or(0)
    }

    /// The chart; each layer has its class and its words.
    pub(super) fn chart(&self, scale: Scale, layers: [(&str, &str); LAYERS]) -> Markup {
        let (steps, most) = (self.steps(scale), self.most().max(1));
        let words: Vec<&str> = layers.iter().map(|(_, words)| *words).collect();
        html! {
            svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img"
                aria-label=(format!("{} over time, at most {most}", words.join(", "))) {
                @for layer in (0..LAYERS).rev() {
                    path class=(layers[layer].0) d=(outline(&steps, layer, most, scale)) {
                        title { (layers[layer].1) }
                    }
                }
            }
            span.most { (most) }
        }
    }
}

/// The area below the sum of all layers up to this one.
fn outline<const LAYERS: usize>(
    steps: &[(Duration, [i64; LAYERS])],
    layer: usize,
    most: i64,
    scale: Scale,
) -> String {
    let mut path = String::from("M0 100");
    for (at, counts) in steps {
        let sum: i64 = counts[..=layer].iter().sum();
        #[expect(clippy::cast_precision_loss, reason = "counts of nodes and pods")]
        let y = 100.0 - sum.max(0) as f64 / most as f64 * 96.0;
        let _ = write!(path, "H{:.1}V{y:.1}", scale.x(*at) * 10.0);
    }
    path + "H1000V100Z"
}
