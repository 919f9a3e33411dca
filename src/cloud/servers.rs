//! What becomes of servers: seen after every change of the engine, told to the history and as machines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mock_hetzner::catalogue::Catalogue;
use mock_hetzner::ledger::Entry;
use mock_hetzner::{Cloud, Engine, Glance, Kind, Status};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::{Tell, architecture};
use crate::history::{Change, ServerEvent, What};
use crate::terms::{Machine, MachineEvent, Pool, Provider, Taint};

/// Watches until it is dropped.
pub(super) fn watch(
    cloud: &Arc<Cloud>,
    pools: &[Pool],
    tell: Tell,
) -> (JoinSet<()>, UnboundedReceiver<MachineEvent>) {
    let (machines, stream) = unbounded_channel();
    let mut watcher = Watcher {
        pools: pools.to_vec(),
        catalogue: Catalogue::builtin(),
        known: BTreeMap::new(),
        seen: BTreeSet::new(),
        tell,
        machines,
    };
    // Whoever drops the cloud ends the watch, so it may not hold the cloud.
    let (weak, mut changes) = (Arc::downgrade(cloud), cloud.changes());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while changes.changed().await.is_ok() {
            let Some(cloud) = weak.upgrade() else { return };
            let (now, gone) = cloud.with(|engine, _| watcher.look(engine));
            watcher.tell_all(now, gone);
        }
    });
    (tasks, stream)
}

struct Watcher {
    pools: Vec<Pool>,
    catalogue: Catalogue,
    /// Servers as they were told last.
    known: BTreeMap<u64, ServerEvent>,
    /// Ids of all servers that were ever told.
    seen: BTreeSet<u64>,
    tell: Tell,
    machines: UnboundedSender<MachineEvent>,
}

impl Watcher {
    /// The servers that there are, and those that are gone since the last look, even if nobody ever saw them.
    fn look(&self, engine: &Engine) -> (Vec<ServerEvent>, Vec<ServerEvent>) {
        let entries = engine.ledger().entries().filter(|entry| entry.kind == Kind::Server);
        let by: BTreeMap<u64, &Entry> = entries.map(|entry| (entry.id, entry)).collect();
        let maker = |id: u64| by.get(&id).map(|entry| entry.created_by.clone()).unwrap_or_default();
        let now = engine.servers().map(|server| event(&server, maker(server.id))).collect();
        let unseen = |entry: &&&Entry| self.known.contains_key(&entry.id) || !self.seen.contains(&entry.id);
        let over = by.values().filter(|entry| entry.until.is_some()).filter(unseen);
        let gone = over.map(|entry| self.last(entry)).collect();
        (now, gone)
    }

    /// A server that is gone, as it was last.
    fn last(&self, entry: &Entry) -> ServerEvent {
        let mut last = self.known.get(&entry.id).cloned().unwrap_or_else(|| ServerEvent {
            change: Change::Added,
            id: entry.id,
            name: entry.name.clone(),
            status: String::from("deleting"),
            machine: entry.phases.last().map(|phase| phase.what.clone()).unwrap_or_default(),
            location: entry.location.clone(),
            labels: BTreeMap::new(),
            by: entry.created_by.clone(),
        });
        if self.known.contains_key(&entry.id) {
            last.change = Change::Deleted;
            last.by = entry.deleted_by.clone().unwrap_or_default();
        }
        last
    }

    fn tell_all(&mut self, now: Vec<ServerEvent>, gone: Vec<ServerEvent>) {
        for mut server in now {
            let before = self.known.get(&server.id);
            if let Some(before) = before {
                server.change = before.change;
                if *before == server {
                    continue;
                }
                server.change = Change::Modified;
            }
            self.seen.insert(server.id);
            let _ = self.machines.send(MachineEvent::Exists(Box::new(self.machine(&server))));
            self.known.insert(server.id, server.clone());
            (self.tell)(What::Server(server));
        }
        for mut server in gone {
            // One that came and went between two looks came, too.
            if server.change == Change::Added {
                self.seen.insert(server.id);
                (self.tell)(What::Server(server.clone()));
                server.change = Change::Deleted;
            }
            self.known.remove(&server.id);
            let _ = self.machines.send(MachineEvent::Gone(server.id));
            (self.tell)(What::Server(server));
        }
    }

    fn machine(&self, server: &ServerEvent) -> Machine {
        let named = Provider::pool_named(&server.labels);
        let pool = named.and_then(|name| self.pools.iter().find(|pool| pool.name == *name));
        let (labels, taints) = pool.map(|pool| told(pool, &server.labels)).unwrap_or_default();
        let zone =
            self.catalogue.location(&server.location).and_then(|location| location.datacenter.as_ref());
        let sold = super::room(&server.machine);
        Machine {
            id: server.id,
            name: server.name.clone(),
            machine: server.machine.clone(),
            location: server.location.clone(),
            zone: zone.map_or_else(|| server.location.clone(), |datacenter| datacenter.name.clone()),
            architecture: architecture(&self.catalogue, &server.machine).to_owned(),
            address: format!("10.{}.{}.{}", (server.id >> 16) & 255, (server.id >> 8) & 255, server.id & 255),
            pool: pool.map(|pool| pool.name.clone()),
            labels,
            taints,
            // Where several types will do, it may be another than the pool's first.
            room: pool
                .filter(|pool| pool.machine == server.machine)
                .map(|pool| pool.room)
                .or(sold)
                .unwrap_or_default(),
            running: server.status == Status::Running.word(),
        }
    }
}

/// The labels and taints that the kubelet of a server is started with. Karpenter puts those of the pool on the node itself when it
/// registers that, and asks for a taint until then.
fn told(pool: &Pool, labels: &BTreeMap<String, String>) -> (BTreeMap<String, String>, Vec<Taint>) {
    if labels.contains_key(Provider::Karpenter.pool_label()) {
        let key = "karpenter.sh/unregistered".to_owned();
        let unregistered = Taint { key, value: String::new(), effect: "NoExecute".to_owned() };
        return (BTreeMap::new(), [&[unregistered], pool.registers_with.as_slice()].concat());
    }
    (pool.node_labels(), [pool.taints.as_slice(), &pool.registers_with].concat())
}

fn event(server: &Glance<'_>, by: String) -> ServerEvent {
    ServerEvent {
        change: Change::Added,
        id: server.id,
        name: server.name.to_owned(),
        status: server.status.word().to_owned(),
        machine: server.server_type.to_owned(),
        location: server.location.to_owned(),
        labels: server.labels.clone(),
        by,
    }
}
