//! Troubles come and go: taken in, begun and ended by the timeline, healed by hand. What was held back then goes on.

use std::collections::BTreeMap;

use mock_clock::Time;

use crate::engine::Engine;
use crate::project::{Happening, Project};
use crate::resource::Kind;
use crate::resource::server::{Status, become_status, boot};
use crate::trouble::form::TroubleError;
use crate::trouble::standing::{Holds, TroubleReport};
use crate::trouble::what::{Spent, Trouble, TroubleId, What};

impl Engine {
    /// Lets something go wrong from now on, or from its own time on.
    pub fn inject(&mut self, now: Time, trouble: Trouble) -> Result<TroubleId, TroubleError> {
        trouble.check()?;
        self.project.known(&trouble.what)?;
        self.advance(now);
        let (id, turns) = self.project.troubles.put(now, trouble);
        for turn in turns {
            self.project.timeline.plan(turn, Happening::SightChanges);
        }
        self.project.turn(now);
        self.touched();
        Ok(id)
    }

    /// Ends a trouble. `false` if there is none of this number, or none any more.
    pub fn heal(&mut self, now: Time, id: TroubleId) -> bool {
        self.advance(now);
        let healed = self.project.troubles.heal(now, id);
        self.project.turn(now);
        self.touched();
        healed
    }

    /// Ends all troubles. Says how many there were.
    pub fn heal_all(&mut self, now: Time) -> usize {
        let ids = self.project.troubles.ids();
        ids.into_iter().filter(|id| self.heal(now, *id)).count()
    }

    /// All troubles there ever were, those that are over included: each tells whether it has bitten.
    pub fn troubles(&self, now: Time) -> Vec<TroubleReport<'_>> {
        self.project.troubles.reports(now).collect()
    }
}

impl Project {
    /// Begins those whose time has come, and ends those whose time is over.
    pub(crate) fn turn(&mut self, now: Time) {
        // Up to now others have taken requests as they did before.
        self.drain_by_troubles(now);
        for id in self.troubles.ids() {
            let Some(standing) = self.troubles.get_mut(id) else { continue };
            let open = standing.within(now);
            if std::mem::replace(&mut standing.open, open) == open {
                continue;
            }
            if open {
                let what = standing.trouble.what.clone();
                self.begin_trouble(now, &what);
            } else {
                let holds = std::mem::take(&mut standing.holds);
                self.let_go(now, holds);
            }
        }
        self.limit_by_troubles(now);
    }

    fn begin_trouble(&mut self, now: Time, what: &What) {
        if let What::RateLimit { spent: Some(Spent::Once), .. } = what {
            self.limit.drain(now);
        }
    }

    /// What was held back goes on: it ends when it would have ended, or now if that is over. What waited for something
    /// else takes its time after that.
    fn let_go(&mut self, now: Time, holds: Holds) {
        for (server, status) in holds.statuses {
            // Something that was under way is so only as long as somebody works on it.
            let worked_on = self.actions.hold(Kind::Server, server);
            match status {
                Status::Running => boot(self, now, server),
                Status::Starting if !worked_on => boot(self, now, server),
                Status::Off => become_status(self, now, server, Status::Off),
                _ if !worked_on => become_status(self, now, server, Status::Off),
                status => become_status(self, now, server, status),
            }
        }
        let mut ends: BTreeMap<(Kind, u64), Time> = BTreeMap::new();
        for (id, held) in holds.actions {
            let Some(action) = self.actions.find(id) else { continue };
            let before = action.resources.iter().filter_map(|it| ends.get(it)).max().copied();
            if held.ends == Time::NEVER && before.is_none() && self.waits(id, held) {
                continue;
            }
            let Some(action) = self.actions.find(id) else { continue };
            let end = match held.ends {
                Time::NEVER => before.unwrap_or(now) + held.lasts,
                end => end.max(now),
            };
            ends.extend(action.resources.iter().map(|it| (*it, end)));
            self.timeline.plan(end, Happening::ActionEnds(id));
        }
    }
}
