//! Rules for what may pass, and to whom they apply: what a firewall is, and how it changes with time.
//!
//! No packet is ever held up. Servers that come to match a label selector, or no longer do, are reached and left at
//! once; the real cloud takes some seconds.

mod apply;
mod room;
mod rule;
mod show;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use apply::all_applicable;
pub(crate) use room::{ACTIONS, ROUTES};

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::call::Selector;
use crate::project::Project;
use crate::resource::firewall::rule::Rule;
use crate::resource::firewall::target::Target;
use crate::resource::server::Server;
use crate::resource::shelf::{Head, Labels, resource};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Firewall {
    pub(crate) head: Head,
    pub(crate) rules: Vec<Rule>,
    /// Servers it was applied to by their ids.
    pub(crate) servers: Vec<u64>,
    /// Label selectors whose servers it applies to.
    pub(crate) selectors: Vec<String>,
    /// Those of both that it is just being applied to.
    pub(crate) pending: Vec<Target>,
}

resource!(Firewall, Firewall);

impl Firewall {
    /// Whether it applies to a server.
    pub(crate) fn guards(&self, server: &Server) -> bool {
        self.status(server).is_some()
    }

    /// How far it is applied to a server, as a word of the wire; none if it is not at all.
    pub(crate) fn status(&self, server: &Server) -> Option<&'static str> {
        let word = |pending: bool| if pending { "pending" } else { "applied" };
        if self.servers.contains(&server.head.id) {
            return Some(word(self.pending.contains(&Target::Server(server.head.id))));
        }
        let mut reaching = self.selectors.iter().filter(|selector| selects(selector, server)).peekable();
        reaching.peek()?;
        Some(word(reaching.all(|selector| self.pending.contains(&Target::Selector(selector.clone())))))
    }

    fn is_applied_to(&self, target: &Target) -> bool {
        match target {
            Target::Server(id) => self.servers.contains(id),
            Target::Selector(selector) => self.selectors.contains(selector),
        }
    }

    fn add(&mut self, target: Target) {
        match &target {
            Target::Server(id) => self.servers.push(*id),
            Target::Selector(selector) => self.selectors.push(selector.clone()),
        }
        self.pending.push(target);
    }

    fn take_off(&mut self, target: &Target) {
        match target {
            Target::Server(id) => self.servers.retain(|known| known != id),
            Target::Selector(selector) => self.selectors.retain(|known| known != selector),
        }
        self.pending.retain(|known| known != target);
    }
}

/// Whether a label selector reaches a server. It passes by those without a public interface, which have nothing that
/// a firewall could guard.
fn selects(selector: &str, server: &Server) -> bool {
    is_public(server) && finds(selector, &server.head.labels)
}

/// Whether a label selector finds these labels.
fn finds(selector: &str, labels: &Labels) -> bool {
    Selector::parse(selector).is_ok_and(|selector| selector.matches(labels))
}

fn is_public(server: &Server) -> bool {
    server.ipv4.is_some() || server.ipv6.is_some()
}

/// A server is gone.
pub(crate) fn forget(project: &mut Project, server: u64) {
    for firewall in project.firewalls.all_mut() {
        firewall.take_off(&Target::Server(server));
    }
}

/// How a firewall changes by the end of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// It applies from now on; if the action failed, it never did.
    Applied { firewall: u64, target: Target },
    /// It no longer applies; if the action failed, it still does.
    Removed { firewall: u64, target: Target },
}

impl Effect {
    pub(crate) fn settle(self, project: &mut Project, _now: Time, success: bool) {
        let (Self::Applied { firewall, target } | Self::Removed { firewall, target }) = &self;
        let Some(firewall) = project.firewalls.find_mut(*firewall) else { return };
        match (&self, success) {
            (Self::Applied { .. }, true) => firewall.pending.retain(|pending| pending != target),
            (Self::Applied { .. }, false) => firewall.take_off(target),
            // It may have been taken off twice and applied again in between.
            (Self::Removed { .. }, true) if !firewall.pending.contains(target) => firewall.take_off(target),
            (Self::Removed { .. }, _) => {}
        }
    }
}
