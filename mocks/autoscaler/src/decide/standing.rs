//! How the pools stand: which servers they have, and how far each of them is on its way to a node.

use std::collections::{BTreeMap, BTreeSet};

use mock_clock::Time;

use crate::defect::Defect;
use crate::memory::{Memory, is_of};
use crate::settings::Settings;
use crate::view::{Node, POOL_LABEL, Server, View};

/// How far a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No node yet, and that is in order.
    Registering,
    /// No node after all this time.
    Overdue,
    /// No node, and the provider says that there never will be one.
    Failed,
    /// A node that is not ready for the first time.
    Starting,
    Ready,
    /// A node that should be ready and is not.
    Unready,
    /// Its end has begun.
    Ending,
}

/// A server of a pool.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) id: u64,
    pub(crate) node: Option<String>,
    pub(crate) stage: Stage,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    pub(crate) machines: Vec<Machine>,
    /// Bought, and not listed yet.
    pub(crate) in_flight: usize,
}

impl Standing {
    /// What counts for the minimum: what stays.
    pub(crate) fn size(&self) -> usize {
        self.count(|stage| stage != Stage::Ending) + self.in_flight
    }

    /// What counts for the maximum: what ends is there until it is gone.
    pub(crate) fn bulk(&self) -> usize {
        self.machines.len() + self.in_flight
    }

    /// What is on its way and will give room.
    pub(crate) fn upcoming(&self, settings: &Settings) -> usize {
        let coming = |stage| match stage {
            Stage::Registering => true,
            Stage::Starting => !settings.has(Defect::ReplacesSlowNodes),
            Stage::Overdue => settings.has(Defect::TrustsPhantoms),
            _ => false,
        };
        self.count(coming) + self.in_flight
    }

    fn count(&self, which: impl Fn(Stage) -> bool) -> usize {
        self.machines.iter().filter(|machine| which(machine.stage)).count()
    }
}

/// All pools by name, also those that have nothing.
pub(crate) fn standings(view: &View, memory: &mut Memory, settings: &Settings) -> BTreeMap<String, Standing> {
    let mut all: BTreeMap<String, Standing> =
        settings.pools.keys().map(|name| (name.clone(), Standing::default())).collect();
    let servers = memory.believed(view, settings);
    let there: BTreeSet<u64> = servers.iter().map(|server| server.id).collect();
    memory.unregistered.retain(|id, _| there.contains(id));
    memory.was_ready.retain(|id| there.contains(id));
    for server in &servers {
        let foreign = || all.keys().next().cloned().filter(|_| settings.has(Defect::TouchesForeignServers));
        let Some(pool) = server.labels.get(POOL_LABEL).cloned().or_else(foreign) else { continue };
        let Some(standing) = all.get_mut(&pool) else { continue };
        let node = view.nodes.values().find(|node| {
            is_of(node, server) && !(settings.has(Defect::NeedsProviderId) && node.provider_id.is_empty())
        });
        let stage = stage(server, node, view.now, memory, settings);
        standing.machines.push(Machine { id: server.id, node: node.map(|node| node.name.clone()), stage });
    }
    let listed: BTreeSet<&String> = servers.iter().map(|server| &server.name).collect();
    for (name, pool) in &memory.purchases {
        if let Some(standing) = all.get_mut(pool).filter(|_| !listed.contains(name)) {
            standing.in_flight += 1;
        }
    }
    all
}

fn stage(server: &Server, node: Option<&Node>, now: Time, memory: &mut Memory, settings: &Settings) -> Stage {
    if node.is_some() {
        memory.unregistered.remove(&server.id);
    }
    if memory.given_up.contains(&server.id) || server.status == "deleting" {
        return Stage::Ending;
    }
    let Some(node) = node else {
        if server.status == "failed" && !settings.has(Defect::WaitsForFailedMachines) {
            return Stage::Failed;
        }
        let first_seen = *memory.unregistered.entry(server.id).or_insert(now);
        let mut patience = settings.arguments.max_node_provision_time;
        if settings.has(Defect::RemovesUnregisteredEarly) {
            patience /= 2;
        }
        return if now.since(first_seen) >= patience { Stage::Overdue } else { Stage::Registering };
    };
    let started = !settings.arguments.startup_taint.iter().any(|key| node.has_taint(key))
        && !node
            .taints
            .iter()
            .any(|taint| taint.key.starts_with("startup-taint.cluster-autoscaler.kubernetes.io/"));
    if node.ready && (started || settings.has(Defect::IgnoresStartupTaints)) {
        memory.was_ready.insert(server.id);
        return Stage::Ready;
    }
    let young = now.since(node.created) < settings.arguments.max_node_startup_time
        && !memory.was_ready.contains(&server.id);
    if young || settings.has(Defect::KeepsNeverReadyNodes) { Stage::Starting } else { Stage::Unready }
}
