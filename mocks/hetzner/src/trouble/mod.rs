//! What can go wrong on purpose.

use std::time::Duration;

use mock_clock::Time;

use crate::action::Ending;
use crate::call::Request;
use crate::kind::Kind;
use crate::project::Project;
use crate::server::Server;
use crate::wrong::Wrong;

/// What becomes of an action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fate {
    /// How long it works; none is for ever.
    pub(crate) lasts: Option<Duration>,
    pub(crate) ending: Ending,
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Meddling {
    Nothing,
    /// It is refused and does nothing.
    Instead(Wrong),
    /// It does what it does, and is then told this.
    After(Wrong),
}

impl Project {
    /// Decides whether a request is let through.
    pub(crate) fn meddle(&mut self, _now: Time, _request: &Request, _path: &str) -> Meddling {
        Meddling::Nothing
    }

    /// Refuses if a type is sold out in a location.
    pub(crate) fn in_stock(&self, _now: Time, _server_type: &str, _location: &str) -> Result<(), Wrong> {
        Ok(())
    }

    /// Whether a type has been taken off the market.
    pub(crate) fn retired(&self, _now: Time, _server_type: &str) -> bool {
        false
    }

    /// Whether lists show a server already, or still.
    pub(crate) fn listed(&self, _now: Time, _server: &Server) -> bool {
        true
    }

    /// Decides what becomes of an action that begins now.
    pub(crate) fn fate(&mut self, _now: Time, command: &str, _resources: &[(Kind, u64)]) -> Fate {
        let timing = self.catalogue.timing(command);
        Fate { lasts: Some(self.chance.around(timing.mean, timing.spread)), ending: Ending::Success }
    }
}
