//! Who there is: machines by id, kubelets by the name of their node, each with the task that is its life.

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
    machines: BTreeMap<u64, Machine>,
    /// Names of machines that are no more.
    gone: BTreeMap<String, u64>,
    posts: BTreeMap<String, Post>,
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
                all.gone.remove(&machine.name);
                all.machines.insert(machine.id, machine);
            }
            MachineEvent::Gone(id) => {
                let mut all = self.lock();
                if let Some(machine) = all.machines.remove(&id) {
                    all.posts.remove(&machine.name);
                    all.gone.insert(machine.name, id);
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

    pub(super) fn kubelets(&self) -> Vec<Arc<Kubelet>> {
        self.lock().posts.values().map(|post| Arc::clone(&post.kubelet)).collect()
    }

    /// Who looks after the pods of a node.
    pub(super) fn ward(&self, node: &str) -> Option<Arc<Ward>> {
        self.lock().posts.get(node).map(|post| Arc::clone(&post.ward))
    }

    /// The machine of a node, by its provider id or else by its name.
    pub(super) fn machine(&self, id: Option<u64>, name: &str) -> Option<Machine> {
        let all = self.lock();
        match id {
            Some(id) => all.machines.get(&id).cloned(),
            None => all.machines.values().find(|machine| machine.name == name).cloned(),
        }
    }

    /// Whether a node of this name was a machine's that is no more.
    pub(super) fn is_gone(&self, name: &str) -> bool {
        self.lock().gone.contains_key(name)
    }

    /// Tells each time that a machine comes, goes or changes.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}
