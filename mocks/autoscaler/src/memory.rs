//! What is remembered from loop to loop, and lost with the process.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mock_clock::Time;

use crate::defect::Defect;
use crate::settings::Settings;
use crate::view::{Server, View};

/// How long a server counts that was bought or listed, and is not listed any more.
const LIST_MAY_LIE: Duration = Duration::from_secs(120);

#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Since when a server is listed without having a node.
    pub(crate) unregistered: BTreeMap<u64, Time>,
    /// Servers whose nodes have been ready: they no longer start.
    pub(crate) was_ready: BTreeSet<u64>,
    /// Servers of our pools that have been listed.
    known: BTreeMap<u64, Known>,
    failures: BTreeMap<String, Failure>,
    /// When a pool was last scaled up, while its machines are on their way.
    pub(crate) awaited: BTreeMap<String, Time>,
    pub(crate) unneeded: BTreeMap<String, Time>,
    /// Until when a node is not tried again.
    pub(crate) left_alone: BTreeMap<String, Time>,
    pub(crate) last_scale_up: Option<Time>,
    pub(crate) last_removal: Option<Time>,
    pub(crate) last_failure: Option<Time>,
    /// Servers that are being bought, by name, and their pool.
    pub(crate) purchases: BTreeMap<String, String>,
    /// Nodes that are being removed, and whether they have pods.
    pub(crate) removals: BTreeMap<String, bool>,
    /// Servers that were deleted or are about to be.
    pub(crate) given_up: BTreeSet<u64>,
}

#[derive(Debug)]
struct Known {
    server: Server,
    listed: Time,
    registered: bool,
}

#[derive(Debug)]
struct Failure {
    at: Time,
    until: Time,
    pause: Duration,
}

/// What became of something that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Bought {
        /// Nothing where the market says at once how many a pool has.
        server: Option<u64>,
        name: String,
        pool: String,
    },
    NotBought {
        name: String,
        pool: String,
    },
    Removed {
        node: String,
        server: u64,
    },
    NotRemoved {
        node: String,
    },
    /// A server without a node could not be deleted.
    NotDeleted {
        server: u64,
    },
}

impl Memory {
    pub(crate) fn learn(&mut self, now: Time, outcome: &Outcome, settings: &Settings) {
        match outcome {
            Outcome::Bought { server, name, pool } => {
                self.purchases.remove(name);
                self.last_scale_up = Some(now);
                if let Some(server) = server {
                    self.expect_listed(now, *server, name, pool);
                }
            }
            Outcome::NotBought { name, pool } => {
                self.purchases.remove(name);
                self.failed(now, pool, settings);
            }
            Outcome::Removed { node, server } => {
                self.removals.remove(node);
                self.given_up.insert(*server);
                self.unneeded.remove(node);
                self.last_removal = Some(now);
            }
            Outcome::NotRemoved { node } => {
                self.removals.remove(node);
                self.unneeded.remove(node);
                if !settings.has(Defect::NoPauseAfterFailure) {
                    self.last_failure = Some(now);
                    let pause = settings.arguments.unremovable_node_recheck_timeout;
                    self.left_alone.insert(node.clone(), now + pause);
                }
            }
            Outcome::NotDeleted { server } => {
                self.given_up.remove(server);
            }
        }
    }

    /// What was bought may be missing from lists for a while.
    fn expect_listed(&mut self, now: Time, id: u64, name: &str, pool: &str) {
        let labels = [(crate::view::POOL_LABEL.to_owned(), pool.to_owned())].into();
        let server = Server {
            id,
            name: name.to_owned(),
            status: "initializing".to_owned(),
            labels,
            provider_id: crate::hetzner::provider_id(id),
        };
        self.known.entry(id).or_insert(Known { server, listed: now, registered: false });
    }

    /// A pool has disappointed: it is left alone, each time for twice as long.
    pub(crate) fn failed(&mut self, now: Time, pool: &str, settings: &Settings) {
        let arguments = &settings.arguments;
        let (first, longest) =
            (arguments.initial_node_group_backoff_duration, arguments.max_node_group_backoff_duration);
        let forgotten = arguments.node_group_backoff_reset_timeout;
        let before = self.failures.get(pool).filter(|failure| now.since(failure.at) < forgotten);
        let pause = match before {
            // The failures of one scale-up come one after the other and are one.
            Some(failure) if now < failure.until => failure.pause,
            Some(failure) => (failure.pause * 2).min(longest),
            None => first,
        };
        let until = if settings.has(Defect::NeverForgives) { Time::NEVER } else { now + pause };
        let failure = |_: &String| Failure { at: now, until, pause };
        if settings.has(Defect::BacksOffAllPools) {
            for pool in settings.pools.keys() {
                self.failures.insert(pool.clone(), failure(pool));
            }
        } else if !settings.has(Defect::NeverBacksOff) {
            let pool = pool.to_owned();
            let failure = failure(&pool);
            self.failures.insert(pool, failure);
        }
    }

    /// All machines that were asked of a pool have become ready nodes.
    pub(crate) fn kept_its_word(&mut self, now: Time, pool: &str) {
        self.awaited.remove(pool);
        if self.failures.get(pool).is_some_and(|failure| now >= failure.until) {
            self.failures.remove(pool);
        }
    }

    pub(crate) fn is_left_alone(&self, now: Time, pool: &str) -> bool {
        self.failures.get(pool).is_some_and(|failure| now < failure.until)
    }

    /// The servers that are believed to exist: those that are listed, and those that a list may have lost.
    pub(crate) fn believed(&mut self, view: &View, settings: &Settings) -> Vec<Server> {
        if settings.has(Defect::TrustsFailedList) {
            return view.servers.clone();
        }
        let pool_of = |server: &Server| server.labels.get(crate::view::POOL_LABEL).cloned();
        let listed: BTreeSet<u64> = view.servers.iter().map(|server| server.id).collect();
        for server in &view.servers {
            if pool_of(server).is_some_and(|pool| settings.pools.contains_key(&pool)) {
                let known = Known { server: server.clone(), listed: view.now, registered: false };
                let registered = self.known.get(&server.id).is_some_and(|known| known.registered);
                self.known.insert(server.id, Known { registered, ..known });
            }
        }
        for known in self.known.values_mut() {
            known.registered |= view.nodes.values().any(|node| is_of(node, &known.server));
        }
        let (given_up, was_ready) = (&self.given_up, &self.was_ready);
        self.known.retain(|id, known| {
            let node = view.nodes.values().find(|node| is_of(node, &known.server));
            let alive = node.is_some_and(|node| node.ready || !was_ready.contains(id));
            let young = !known.registered && view.now.since(known.listed) < LIST_MAY_LIE;
            listed.contains(id) || (!given_up.contains(id) && (alive || young))
        });
        // A server that is given up and listed no more is gone.
        self.given_up.retain(|id| listed.contains(id));
        let lost = self.known.iter().filter(|(id, _)| !listed.contains(id));
        let lost = lost.map(|(_, known)| known.server.clone());
        view.servers.iter().cloned().chain(lost).collect()
    }
}

/// Whether the node is of the server, as its provider id has it.
pub(crate) fn is_of(node: &crate::view::Node, server: &Server) -> bool {
    // Until the cloud controller has said it, nodes are called as their servers are.
    if node.provider_id.is_empty() {
        node.name == server.name
    } else {
        node.provider_id == server.provider_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::told;
    use crate::view::tests::{START, empty};

    fn minutes(count: u64) -> Duration {
        Duration::from_secs(60 * count)
    }

    #[test]
    fn pauses_double_up_to_half_an_hour_and_are_forgotten() {
        let settings = told(&["--nodes=0:3:small:fsn1:a"]).unwrap();
        let mut memory = Memory::default();
        let mut now = START;
        for expected in [5, 10, 20, 30, 30] {
            memory.failed(now, "a", &settings);
            memory.failed(now + Duration::from_secs(1), "a", &settings);
            assert!(memory.is_left_alone(now + minutes(expected), "a"));
            now = now + minutes(expected) + Duration::from_secs(1);
            assert!(!memory.is_left_alone(now, "a"));
        }
        now += minutes(180);
        memory.failed(now, "a", &settings);
        assert!(!memory.is_left_alone(now + minutes(5), "a"));
    }

    #[test]
    fn a_defect_can_hold_a_grudge() {
        let settings = told(&["--nodes=0:3:small:fsn1:a", "--defect=never-forgives"]).unwrap();
        let mut memory = Memory::default();
        memory.failed(START, "a", &settings);
        assert!(memory.is_left_alone(START + minutes(10_000), "a"));
    }

    #[test]
    fn a_list_that_loses_servers_is_not_believed_at_once() {
        let settings = told(&["--nodes=0:3:small:fsn1:a"]).unwrap();
        let mut memory = Memory::default();
        let mut view = empty();
        view.node(1, "a", 2);
        view.server(2, "a");
        assert_eq!(memory.believed(&view, &settings).len(), 2);
        view.servers.clear();
        view.now += Duration::from_secs(10);
        assert_eq!(memory.believed(&view, &settings).len(), 2);
        view.now += Duration::from_secs(120);
        assert_eq!(memory.believed(&view, &settings).len(), 1, "its node is alive");
        view.nodes.clear();
        assert_eq!(memory.believed(&view, &settings).len(), 0);
    }
}
