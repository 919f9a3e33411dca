//! Who there is: machines by name, and kubelets by the name of their node, each with the task that is its life.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::kubelet::Kubelet;
use super::node::Host;
use super::pods::Ward;
use super::site::Site;
use crate::terms::{Machine, MachineEvent};

/// Who there is.
#[derive(Default)]
pub(super) struct Roster {
    all: Mutex<All>,
    changed: watch::Sender<u64>,
}

#[derive(Default)]
struct All {
    /// Names of machines by their ids.
    names: BTreeMap<u64, String>,
    /// Machines by name; none in the place of one that is no more.
    machines: BTreeMap<String, Option<Machine>>,
    posts: BTreeMap<String, Post>,
}

/// What the cloud says of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// There never was one of this name.
    Unknown,
    /// It is on.
    On,
    /// It is there, and off.
    Off,
    /// It is no more.
    Gone,
}

/// A kubelet at work. Dropped, it is gone with all that it did.
struct Post {
    kubelet: Arc<Kubelet>,
    ward: Arc<Ward>,
    _life: JoinSet<()>,
}

impl Roster {
    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something has become of a machine.
    pub(super) fn hear(&self, site: &Arc<Site>, event: MachineEvent) {
        match event {
            MachineEvent::Exists(machine) => {
                let known = self.lock().posts.get(&machine.name).map(|post| Arc::clone(&post.kubelet));
                match known {
                    Some(kubelet) => kubelet.switch(machine.running),
                    None => self.employ(site, Host::of(&machine), machine.running),
                }
                let mut all = self.lock();
                all.names.insert(machine.id, machine.name.clone());
                all.machines.insert(machine.name.clone(), Some(*machine));
            }
            MachineEvent::Gone(id) => {
                let mut all = self.lock();
                if let Some(name) = all.names.remove(&id) {
                    all.posts.remove(&name);
                    all.machines.insert(name, None);
                }
            }
        }
        self.changed.send_modify(|count| *count += 1);
    }

    /// A machine has a kubelet from now on.
    pub(super) fn employ(&self, site: &Arc<Site>, host: Host, running: bool) {
        let kubelet = Kubelet::new(Arc::clone(site), host, running);
        let mut life = JoinSet::new();
        life.spawn(Arc::clone(&kubelet).live());
        let post = Post { ward: Ward::new(Arc::clone(&kubelet)), kubelet, _life: life };
        self.lock().posts.insert(post.kubelet.name().to_owned(), post);
        self.changed.send_modify(|count| *count += 1);
    }

    /// A machine is gone that the cloud never told of, and its kubelet with it.
    pub(super) fn dismiss(&self, node: &str) {
        self.lock().posts.remove(node);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Whether this node has a kubelet.
    pub(super) fn has(&self, node: &str) -> bool {
        self.lock().posts.contains_key(node)
    }

    pub(super) fn kubelets(&self) -> Vec<Arc<Kubelet>> {
        self.lock().posts.values().map(|post| Arc::clone(&post.kubelet)).collect()
    }

    /// Who looks after the pods of a node.
    pub(super) fn ward(&self, node: &str) -> Option<Arc<Ward>> {
        self.lock().posts.get(node).map(|post| Arc::clone(&post.ward))
    }

    /// The machine of this name.
    pub(super) fn machine(&self, name: &str) -> Option<Machine> {
        self.lock().machines.get(name)?.clone()
    }

    /// What the cloud says of the machine of a node.
    pub(super) fn ask(&self, node: &str) -> Answer {
        match self.lock().machines.get(node) {
            None => Answer::Unknown,
            Some(None) => Answer::Gone,
            Some(Some(machine)) if machine.running => Answer::On,
            Some(Some(_)) => Answer::Off,
        }
    }

    /// Tells each time that a machine comes, goes or changes.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}
