//! Replacing daemons of an old template: some are taken away first, or some new ones come first.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::{Fit, Steps, Work};
use crate::control::brief::Brief;
use crate::control::portion::portion;

impl<'a> Work<'a> {
    /// How many more daemons than nodes there may be, and how many nodes may be without: never neither.
    pub(super) fn bounds(&self) -> (i32, i32) {
        let wanted = self.nodes.values().filter(|place| self.fit(place) == Fit::Runs).count();
        let wanted = i32::try_from(wanted).unwrap_or(i32::MAX);
        let strategy = self.spec().update_strategy.as_ref();
        let rolling = strategy.and_then(|strategy| strategy.rolling_update.as_ref());
        let of = |value: Option<&IntOrString>, default| {
            value.map_or(default, |value| portion(value, wanted, true))
        };
        let surge = of(rolling.and_then(|rolling| rolling.max_surge.as_ref()), 0);
        let missing = of(rolling.and_then(|rolling| rolling.max_unavailable.as_ref()), 1);
        (surge, if surge == 0 && missing == 0 { 1 } else { missing })
    }

    pub(super) fn roll(&self) -> Steps<'_> {
        let (surge, missing) = self.bounds();
        let limit = |number: i32| usize::try_from(number).unwrap_or_default();
        if surge == 0 { self.replace(limit(missing)) } else { self.surge(limit(surge)) }
    }

    /// The new and the old daemon of each node; more than one of a sort is for others to clear up.
    fn pairs(&self) -> impl Iterator<Item = (&'a str, Option<(Option<&'a Brief>, Option<&'a Brief>)>)> {
        self.daemons.iter().map(|(node, pods)| {
            let living = pods.iter().copied().filter(|pod| !pod.object.deleting);
            let (new, old): (Vec<&Brief>, Vec<&Brief>) = living.partition(|pod| self.is_new(pod));
            let one = new.len() <= 1 && old.len() <= 1;
            (*node, one.then(|| (new.first().copied(), old.first().copied())))
        })
    }

    /// Old daemons that are of no use go at once, others as far as nodes may be without.
    fn replace(&self, most: usize) -> Steps<'_> {
        let (mut useless, mut useful, mut missing) = (Vec::new(), Vec::new(), 0);
        for (_, pair) in self.pairs() {
            match pair {
                None | Some((None, None) | (Some(_), Some(_))) => missing += 1,
                Some((Some(new), None)) => missing += usize::from(!self.is_available(new)),
                Some((None, Some(old))) if self.is_available(old) => useful.push(old),
                Some((None, Some(old))) => {
                    useless.push(old);
                    missing += 1;
                }
            }
        }
        useful.truncate(most.saturating_sub(missing));
        useless.append(&mut useful);
        Steps { delete: useless, ..Steps::default() }
    }

    /// New daemons come where the old one is of no use, and elsewhere as far as there may be more.
    fn surge(&self, most: usize) -> Steps<'_> {
        let mut steps = Steps::default();
        let (mut useful, mut misplaced, mut more, mut available) = (Vec::new(), Vec::new(), 0, 0);
        for (node, pair) in self.pairs() {
            let Some((new, old)) = pair else {
                more += 1;
                continue;
            };
            available += usize::from(old.or(new).is_some_and(|pod| self.is_available(pod)));
            let Some(old) = old else { continue };
            let runs = self.nodes.get(node).is_some_and(|place| self.fit(place) == Fit::Runs);
            match (new, self.is_available(old)) {
                (Some(new), _) if self.is_available(new) => steps.delete.push(old),
                (Some(_), _) => more += 1,
                (None, false) if runs => steps.make.push(node),
                (None, false) => steps.delete.push(old),
                (None, true) if runs => useful.push(node),
                (None, true) => misplaced.push(old),
            }
        }
        let wanted = self.nodes.values().filter(|place| self.fit(place) == Fit::Runs).count();
        misplaced.truncate(available.saturating_sub(wanted));
        steps.delete.append(&mut misplaced);
        useful.truncate(most.saturating_sub(more));
        steps.make.append(&mut useful);
        steps
    }
}
