//! Pools that are machine deployments: their bounds as they are at a moment, and whether anybody may touch them.

use std::time::Duration;

use mock_clock::Time;

use super::Scene;
use crate::history::query::{Group, Spell};
use crate::terms::Pool;

impl Scene<'_> {
    /// What a pool may have at most at a moment: what its deployment says, if it is one.
    pub(in crate::check) fn max(&self, pool: &Pool, at: Time) -> u32 {
        self.groups.get(&pool.name).and_then(|track| track.at(at)?.max).unwrap_or(pool.max)
    }

    /// The shortest and the longest time for which nodes of a pool had to be unneeded, between two moments: what its deployment
    /// says of itself, or else what the subject was told.
    pub(in crate::check) fn unneeded_times(
        &self,
        pool: Option<&str>,
        told: Duration,
        from: Time,
        to: Time,
    ) -> (Duration, Duration) {
        let track = pool.and_then(|pool| self.groups.get(pool));
        let before = track.and_then(|track| track.at(from));
        let since =
            track.into_iter().flat_map(|track| &track.seen).filter(|seen| from < seen.at && seen.at <= to);
        let own = |group: Option<&Group>| group.and_then(|group| group.unneeded_time).unwrap_or(told);
        let times = since.map(|seen| own(seen.state.as_ref())).chain([own(before)]);
        times.fold((Duration::MAX, Duration::ZERO), |(least, most), it| (least.min(it), most.max(it)))
    }

    /// When a pool was paused.
    pub(in crate::check) fn pauses(&self, pool: &str) -> Vec<Spell> {
        self.groups.get(pool).map(|track| track.spells(|group| group.paused)).unwrap_or_default()
    }

    /// When a pool had machines of more than one template: something was being rolled out.
    pub(in crate::check) fn roll_outs(&self, pool: &str) -> Vec<Spell> {
        let mut turns: Vec<(Time, usize, bool)> = Vec::new();
        for track in self.sets.values() {
            for spell in track.spells(|set| set.group == pool && set.inhabited) {
                turns.push((spell.from, spell.began, true));
                turns.extend(spell.to.zip(spell.ended).map(|(to, ended)| (to, ended, false)));
            }
        }
        turns.sort_by_key(|(_, event, _)| *event);
        let mut count = 0_usize;
        let mut spells: Vec<Spell> = Vec::new();
        for (at, event, more) in turns {
            let before = count;
            count = if more { count + 1 } else { count - 1 };
            if before == 1 && count == 2 {
                spells.push(Spell { from: at, to: None, began: event, ended: None });
            } else if before == 2
                && count == 1
                && let Some(spell) = spells.last_mut()
            {
                (spell.to, spell.ended) = (Some(at), Some(event));
            }
        }
        spells
    }

    /// Whether a pool was better left alone at any moment between two: it was paused, or something was being rolled out.
    pub(in crate::check) fn hands_off(&self, pool: &str, from: Time, to: Time) -> bool {
        let touches = |spell: &Spell| spell.touches(from, to);
        self.pauses(pool).iter().any(touches) || self.roll_outs(pool).iter().any(touches)
    }
}
