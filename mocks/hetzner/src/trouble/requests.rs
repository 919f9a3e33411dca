//! Troubles of requests: errors on chosen calls, tokens that are no longer good, fewer requests than usual.

use mock_clock::Time;

use crate::call::{Request, Wrong};
use crate::project::Project;
use crate::trouble::target::likes;
use crate::trouble::what::{Spent, TroubleId, What, When};

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Meddling {
    Nothing,
    /// It is refused and does nothing.
    Instead(Wrong),
    /// It does what it does, and is then told this.
    After(TroubleId, Wrong),
}

impl Project {
    /// Decides whether a request is let through. The oldest trouble that concerns it and that chance is with wins.
    pub(crate) fn meddle(&mut self, now: Time, request: &Request, path: &str) -> Meddling {
        let changes = request.method != "GET";
        let concerns = |what: &What| match what {
            What::Error { on, when, code, status, message, html } => {
                let wrong = || error(code, *status, message.as_deref(), *html);
                on.hold(self, request, path).then(|| (*when, wrong()))
            }
            What::TokenRejected { agent } => {
                likes(agent.as_ref(), &request.agent).then(|| (When::Instead, Wrong::unauthorized()))
            }
            What::TokenReadOnly { agent } => (changes && likes(agent.as_ref(), &request.agent))
                .then(|| (When::Instead, Wrong::read_only(self.profile))),
            What::Maintenance { message } => changes.then(|| {
                let message = message.as_deref().unwrap_or("the API is in maintenance");
                (When::Instead, Wrong::new("maintenance", message))
            }),
            _ => None,
        };
        let picked = self.troubles.picked(now, concerns);
        match picked.into_iter().find(|(id, _)| self.troubles.drawn(*id)) {
            None => Meddling::Nothing,
            Some((id, (When::After, wrong))) => Meddling::After(id, wrong),
            Some((id, (When::Instead, wrong))) => {
                self.troubles.bitten(now, id);
                Meddling::Instead(wrong)
            }
        }
    }

    /// The answer to a request that was done is lost.
    pub(crate) fn answer_lost(&mut self, now: Time, trouble: TroubleId) {
        self.troubles.bitten(now, trouble);
    }

    /// Takes a request out of the bucket, if it is let through.
    pub(crate) fn take_request(&mut self, now: Time) -> bool {
        self.drain_by_troubles(now);
        let taken = self.limit.take(now);
        if !taken {
            let limits = |what: &What| matches!(what, What::RateLimit { .. }).then_some(());
            for (id, ()) in self.troubles.picked(now, limits) {
                self.troubles.bitten(now, id);
            }
        }
        taken
    }

    /// What others take out meanwhile.
    pub(super) fn drain_by_troubles(&mut self, now: Time) {
        let (mut others, mut none_left) = (0, false);
        for it in self.troubles.values().filter(|it| it.open && it.has_bites_left()) {
            if let What::RateLimit { others_per_s, spent, .. } = it.trouble.what {
                others += u64::from(others_per_s.unwrap_or(0));
                none_left |= spent == Some(Spent::Always);
            }
        }
        self.limit.share(now, others.saturating_mul(3600));
        if none_left {
            self.limit.drain(now);
        }
    }

    /// The limit while no trouble lowers it.
    pub(crate) fn usual_limit(&self) -> u64 {
        self.troubles.usual_limit.unwrap_or_else(|| self.limit.per_hour())
    }

    /// Another limit, for the time in which no trouble lowers it.
    pub(crate) fn limit_requests(&mut self, now: Time, per_hour: u64) {
        match &mut self.troubles.usual_limit {
            Some(usual) => *usual = per_hour,
            None => self.limit.set_limit(now, per_hour),
        }
        self.limit_by_troubles(now);
    }

    /// The limit that troubles leave.
    pub(super) fn limit_by_troubles(&mut self, now: Time) {
        let lowered = self.troubles.values().filter(|it| it.open).filter_map(|it| match it.trouble.what {
            What::RateLimit { per_hour, .. } => per_hour,
            _ => None,
        });
        match (lowered.min(), self.troubles.usual_limit) {
            (Some(lowered), usual) => {
                let usual = usual.unwrap_or_else(|| self.limit.per_hour());
                self.troubles.usual_limit = Some(usual);
                self.limit.set_limit(now, lowered.min(usual));
            }
            (None, Some(usual)) => {
                self.troubles.usual_limit = None;
                self.limit.set_limit(now, usual);
            }
            (None, None) => {}
        }
    }
}

fn error(code: &str, status: Option<u16>, message: Option<&str>, html: bool) -> Wrong {
    let mut wrong = Wrong::new(code.to_owned(), message.map_or_else(|| usual(code), str::to_owned));
    if let Some(status) = status {
        wrong = wrong.with_status(status);
    }
    if html { wrong.on_a_page() } else { wrong }
}

/// The words that usually come with a code.
fn usual(code: &str) -> String {
    match code {
        "unauthorized" => "unable to authenticate".to_owned(),
        "resource_unavailable" => "error during placement".to_owned(),
        "locked" => "cannot perform operation because server is locked".to_owned(),
        code => code.replace('_', " "),
    }
}
