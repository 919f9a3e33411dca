//! How much of a zone is silent, and how fast its nodes may therefore be tainted.
//!
//! If nothing anywhere is ready, the network of the control plane is the likelier culprit: nobody is evicted.

use std::collections::BTreeMap;
use std::time::Duration;

use mock_clock::Time;

/// One node in ten seconds; one in a hundred if most of a large zone is silent.
const PACE: Duration = Duration::from_secs(10);
const SLOW_PACE: Duration = Duration::from_secs(100);
/// A zone is large if it has more nodes.
const LARGE: usize = 50;

#[derive(Debug, Default)]
pub(super) struct Zones {
    zones: BTreeMap<String, Zone>,
    disruption: Disruption,
}

#[derive(Debug, Default)]
struct Zone {
    nodes: usize,
    ready: usize,
    /// When the next may be tainted.
    next: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Normal,
    Partial,
    Full,
}

/// Whether all zones are silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Disruption {
    #[default]
    None,
    Everywhere,
    /// It was everywhere until this change.
    Ended,
}

/// When a node may be tainted.
pub(super) enum Ration {
    Now,
    At(Time),
    /// Not before the zone changes.
    Never,
}

impl Zones {
    /// A node, with its zone and whether it is ready, became another. Whether that changes what may be done.
    pub(super) fn moved(&mut self, before: Option<(String, bool)>, after: Option<(String, bool)>) -> bool {
        let states =
            |zones: &BTreeMap<String, Zone>| -> Vec<State> { zones.values().map(Zone::state).collect() };
        let old = states(&self.zones);
        if let Some((name, ready)) = before
            && let Some(zone) = self.zones.get_mut(&name)
        {
            zone.nodes -= 1;
            zone.ready -= usize::from(ready);
        }
        if let Some((name, ready)) = after {
            let zone = self.zones.entry(name).or_default();
            zone.nodes += 1;
            zone.ready += usize::from(ready);
        }
        self.zones.retain(|_, zone| zone.nodes > 0);
        let everywhere =
            !self.zones.is_empty() && self.zones.values().all(|zone| zone.state() == State::Full);
        let was = self.disruption;
        self.disruption = match (was, everywhere) {
            (_, true) => Disruption::Everywhere,
            (Disruption::Everywhere, false) => Disruption::Ended,
            (_, false) => Disruption::None,
        };
        old != states(&self.zones) || was != self.disruption
    }

    pub(super) fn disruption(&self) -> Disruption {
        self.disruption
    }

    pub(super) fn allow(&mut self, zone: &str, now: Time) -> Ration {
        if self.disruption == Disruption::Everywhere {
            return Ration::Never;
        }
        // Nodes that are not counted have a zone of their own.
        let zone = self.zones.entry(zone.to_owned()).or_default();
        let pace = match zone.state() {
            State::Partial if zone.nodes > LARGE => SLOW_PACE,
            State::Partial => return Ration::Never,
            State::Normal | State::Full => PACE,
        };
        match zone.next {
            Some(next) if next > now => Ration::At(next),
            _ => {
                zone.next = Some(now + pace);
                Ration::Now
            }
        }
    }
}

impl Zone {
    fn state(&self) -> State {
        let silent = self.nodes - self.ready;
        if self.ready == 0 && silent > 0 {
            State::Full
        } else if silent > 2 && silent * 100 >= self.nodes * 55 {
            State::Partial
        } else {
            State::Normal
        }
    }
}
