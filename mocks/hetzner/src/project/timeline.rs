//! What will happen later, in the order of its time; what falls on the same moment happens in the order it was planned.

use std::collections::BTreeMap;

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::resource::server;

/// Something that happens by itself when its time has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Happening {
    /// The action of this id comes to its end.
    ActionEnds(u64),
    /// A server changes without an action that is shown.
    Server(server::Effect),
    /// What is shown changes with the hour alone, such as a type that is no longer to be had; a trouble begins or ends.
    SightChanges,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub(crate) struct Timeline {
    planned: BTreeMap<(Time, u64), Happening>,
    next: u64,
}

impl Timeline {
    /// Plans it. Nothing is planned for [`Time::NEVER`].
    pub(crate) fn plan(&mut self, at: Time, what: Happening) {
        if at < Time::NEVER {
            self.planned.insert((at, self.next), what);
            self.next += 1;
        }
    }

    /// The next moment at which something happens.
    pub(crate) fn next(&self) -> Option<Time> {
        self.planned.first_key_value().map(|((at, _), _)| *at)
    }

    /// How many were planned so far.
    pub(crate) fn next_number(&self) -> u64 {
        self.planned.keys().map(|(_, number)| *number).max().unwrap_or(0).max(self.next)
    }

    /// Takes out what comes first, if its time has come.
    pub(crate) fn due(&mut self, now: Time) -> Option<(Time, Happening)> {
        let first = self.planned.first_entry().filter(|entry| entry.key().0 <= now)?;
        let ((at, _), what) = first.remove_entry();
        Some((at, what))
    }
}

/// As it is written down.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    planned: Vec<(Time, u64, Happening)>,
    next: u64,
}

impl From<Written> for Timeline {
    fn from(Written { planned, next }: Written) -> Self {
        Self { planned: planned.into_iter().map(|(at, number, what)| ((at, number), what)).collect(), next }
    }
}

impl From<Timeline> for Written {
    fn from(Timeline { planned, next }: Timeline) -> Self {
        Self { planned: planned.into_iter().map(|((at, number), what)| (at, number, what)).collect(), next }
    }
}
