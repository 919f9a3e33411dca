//! Troubles of work: actions that are slow, stuck or fail, and servers that stay in a status.

use std::time::Duration;

use mock_clock::Time;

use crate::action::Ending;
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::server::Status;
use crate::trouble::standing::Held;
use crate::trouble::target::{Things, likes};
use crate::trouble::what::{TroubleId, What};

/// No work takes longer, however slow it is: beyond the end of time it would be stuck, and nobody could heal it.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// What becomes of an action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fate {
    /// How long it works, if it is not stuck.
    pub(crate) lasts: Duration,
    /// What it is stuck in.
    pub(crate) stuck: Option<TroubleId>,
    pub(crate) ending: Ending,
}

/// What a trouble makes of an action.
enum Twist {
    Slow { times: u32, by: Duration },
    Stuck,
    Fails { code: String, message: String },
}

impl Project {
    /// Decides what becomes of an action that begins now. Every trouble that concerns it has its share.
    pub(crate) fn fate(&mut self, now: Time, command: &str, resources: &[(Kind, u64)]) -> Fate {
        let timing = self.catalogue.timing(command);
        let lasts = self.chance.around(timing.mean, timing.spread);
        let mut fate = Fate { lasts, stuck: None, ending: Ending::Success };
        for (id, (pattern, of, twist)) in self.troubles.picked(now, twist) {
            let concerned = likes(pattern.as_ref(), command) && of.any(self, resources);
            if !concerned || !self.troubles.drawn(id) {
                continue;
            }
            self.troubles.bitten(now, id);
            match twist {
                Twist::Slow { times, by } => {
                    fate.lasts = fate.lasts.saturating_mul(times).saturating_add(by).min(LONGEST);
                }
                Twist::Stuck => fate.stuck = Some(id),
                Twist::Fails { code, message } => fate.ending = Ending::Error { code, message },
            }
        }
        if command == "create_server" {
            self.server_is_new(now, resources);
        }
        fate
    }

    /// An action has begun that does not end: the trouble keeps how it would go on. One that only waits for another
    /// that is stuck is kept with that one.
    pub(crate) fn never_ends(&mut self, action: u64, fate: &Fate, ends: Time) {
        let held = Held { ends, lasts: fate.lasts };
        match fate.stuck.and_then(|id| self.troubles.get_mut(id)) {
            Some(standing) => drop(standing.holds.actions.insert(action, held)),
            None => drop(self.waits(action, held)),
        }
    }

    /// Keeps an action with the one that it waits for. `false` if none is stuck that works on the same things.
    pub(super) fn waits(&mut self, action: u64, held: Held) -> bool {
        let actions = &self.actions;
        let resources = actions.find(action).map(|it| it.resources.as_slice()).unwrap_or_default();
        let shares = |other: &u64| {
            actions.find(*other).is_some_and(|it| it.resources.iter().any(|one| resources.contains(one)))
        };
        let keeper = self.troubles.values_mut().find(|it| it.holds.actions.keys().any(shares));
        keeper.map(|it| it.holds.actions.insert(action, held)).is_some()
    }

    /// Whether a server may become something else. One that may not is kept in mind, to become it later.
    pub(crate) fn may_become(&mut self, now: Time, id: u64, status: Status) -> bool {
        let Some(server) = self.servers.find(id) else { return false };
        let held =
            |it: &TroubleId| self.troubles.get(*it).is_some_and(|it| it.holds.statuses.contains_key(&id));
        let mut holder = self.troubles.ids().into_iter().find(held);
        if holder.is_none() && server.status != status {
            let stuck = |what: &What| match what {
                What::StatusStuck { status, of } if *status == server.status => {
                    of.holds_server(server).then_some(())
                }
                _ => None,
            };
            let picked = self.troubles.picked(now, stuck);
            holder = picked.into_iter().map(|(trouble, ())| trouble).find(|it| self.troubles.drawn(*it));
            if let Some(trouble) = holder {
                self.troubles.bitten(now, trouble);
            }
        }
        let holder = holder.and_then(|trouble| self.troubles.get_mut(trouble));
        holder.map(|it| it.holds.statuses.insert(id, status)).is_none()
    }

    /// What begins with a server: a wrong clock stamps it, or lists do not know it yet.
    fn server_is_new(&mut self, now: Time, resources: &[(Kind, u64)]) {
        let Some((_, id)) = resources.first().copied() else { return };
        let Some(server) = self.servers.find(id) else { return };
        let concerns = |what: &What| match what {
            What::ClockSkew { by_s, of } if of.holds_server(server) => Some(Some(*by_s)),
            What::Unseen { of, .. } if of.holds_server(server) => Some(None),
            _ => None,
        };
        for (trouble, skew) in self.troubles.picked(now, concerns) {
            if !self.troubles.drawn(trouble) {
                continue;
            }
            match (skew, self.servers.find_mut(id)) {
                (Some(by_s), Some(server)) => {
                    server.head.created = shifted(server.head.created, by_s);
                    self.troubles.bitten(now, trouble);
                }
                _ => self.troubles.hide(now, trouble, id),
            }
        }
    }
}

fn shifted(time: Time, by_s: i64) -> Time {
    let by = Duration::from_secs(by_s.unsigned_abs());
    if by_s < 0 { time - by } else { time + by }
}

/// The sort of trouble that this is about, with what it concerns.
fn twist(what: &What) -> Option<(Option<String>, Things, Twist)> {
    let (command, of, twist) = match what {
        What::Slow { command, of, times, by_s } => {
            let by = Duration::from_secs(by_s.unwrap_or(0));
            (command, of, Twist::Slow { times: times.unwrap_or(1), by })
        }
        What::Stuck { command, of } => (command, of, Twist::Stuck),
        What::Fails { command, of, code, message } => {
            let code = code.clone().unwrap_or_else(|| "unknown_error".to_owned());
            let message = message.clone().unwrap_or_else(|| "unknown error".to_owned());
            (command, of, Twist::Fails { code, message })
        }
        _ => return None,
    };
    Some((command.clone(), of.clone(), twist))
}
