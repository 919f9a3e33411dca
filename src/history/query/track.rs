//! What was seen of an object over time. It knows nothing of what the object is.

use std::collections::BTreeMap;

use mock_clock::Time;

/// What was seen of one object at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen<T> {
    /// The event that shows it.
    pub event: usize,
    /// When.
    pub at: Time,
    /// How it was; `None` when it was gone.
    pub state: Option<T>,
}

/// All that was seen of one object, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Track<T> {
    /// One after the other.
    pub seen: Vec<Seen<T>>,
}

/// The tracks of all objects of a kind, by name (with the namespace before a slash, if there is one).
pub type Tracks<K, T> = BTreeMap<K, Track<T>>;

/// A time for which something was so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spell {
    /// From here on.
    pub from: Time,
    /// Until here; `None` if it was so to the end of the history.
    pub to: Option<Time>,
    /// The event with which it began.
    pub began: usize,
    /// The event with which it ended.
    pub ended: Option<usize>,
}

impl Spell {
    /// Whether it was so at a moment.
    pub fn covers(&self, at: Time) -> bool {
        self.from <= at && self.to.is_none_or(|to| at < to)
    }

    /// Whether it was so from one moment to another.
    pub fn spans(&self, from: Time, to: Time) -> bool {
        self.from <= from && self.to.is_none_or(|end| to <= end)
    }

    /// Whether it was so at any moment between two.
    pub fn touches(&self, from: Time, to: Time) -> bool {
        self.from <= to && self.to.is_none_or(|end| from <= end)
    }
}

impl<T> Default for Track<T> {
    fn default() -> Self {
        Self { seen: Vec::new() }
    }
}

impl<T> Track<T> {
    /// How it was at a moment, if it was there.
    pub fn at(&self, at: Time) -> Option<&T> {
        self.sight(at)?.state.as_ref()
    }

    /// What was last seen of it at a moment.
    pub fn sight(&self, at: Time) -> Option<&Seen<T>> {
        let next = self.seen.partition_point(|seen| seen.at <= at);
        self.seen[..next].last()
    }

    /// How it was before an event.
    pub fn before(&self, event: usize) -> Option<&T> {
        let next = self.seen.partition_point(|seen| seen.event < event);
        self.seen[..next].last()?.state.as_ref()
    }

    /// How it was last, gone or not.
    pub fn last(&self) -> Option<&T> {
        self.seen.iter().rev().find_map(|seen| seen.state.as_ref())
    }

    /// When it was first seen.
    pub fn first(&self) -> Option<&Seen<T>> {
        self.seen.iter().find(|seen| seen.state.is_some())
    }

    /// Whether it was so at every moment between two, both included.
    pub fn always(&self, from: Time, to: Time, so: impl Fn(&T) -> bool) -> bool {
        self.spells(so).iter().any(|spell| spell.from <= from && spell.to.is_none_or(|end| to < end))
    }

    /// Whether it was so at any moment between two.
    pub fn ever(&self, from: Time, to: Time, so: impl Fn(&T) -> bool) -> bool {
        self.spells(so).iter().any(|spell| spell.touches(from, to))
    }

    /// The times for which it was there and so, each as long as possible.
    pub fn spells(&self, so: impl Fn(&T) -> bool) -> Vec<Spell> {
        let mut spells: Vec<Spell> = Vec::new();
        let mut open = false;
        for seen in &self.seen {
            let is = seen.state.as_ref().is_some_and(&so);
            if is && !open {
                spells.push(Spell { from: seen.at, to: None, began: seen.event, ended: None });
            } else if !is
                && open
                && let Some(spell) = spells.last_mut()
            {
                spell.to = Some(seen.at);
                spell.ended = Some(seen.event);
            }
            open = is;
        }
        spells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(states: &[(u64, Option<u8>)]) -> Track<u8> {
        let seen = states
            .iter()
            .enumerate()
            .map(|(event, (at, state))| Seen { event, at: Time::from_unix_nanos(*at), state: *state })
            .collect();
        Track { seen }
    }

    #[test]
    fn a_track_answers_for_any_moment() {
        let track = track(&[(10, Some(1)), (20, Some(2)), (30, None), (40, Some(2))]);
        let at = |at| track.at(Time::from_unix_nanos(at)).copied();
        assert_eq!([at(9), at(10), at(29), at(30), at(99)], [None, Some(1), Some(2), None, Some(2)]);
        assert_eq!(track.before(1), Some(&1));
        assert_eq!(track.before(0), None);
    }

    #[test]
    fn spells_are_as_long_as_possible_and_end_when_it_goes() {
        let track =
            track(&[(10, Some(1)), (20, Some(1)), (30, None), (40, Some(1)), (50, Some(2)), (60, Some(1))]);
        let spells = track.spells(|state| *state == 1);
        let told: Vec<_> = spells
            .iter()
            .map(|s| (s.from.unix_nanos(), s.to.map(Time::unix_nanos), s.began, s.ended))
            .collect();
        assert_eq!(told, [(10, Some(30), 0, Some(2)), (40, Some(50), 3, Some(4)), (60, None, 5, None)]);
        let at = Time::from_unix_nanos;
        assert!(track.always(at(12), at(29), |state| *state == 1));
        assert!(!track.always(at(12), at(30), |state| *state == 1));
        assert!(track.ever(at(45), at(70), |state| *state == 2));
    }
}
