//! The cloud controller: tells new nodes who they are at the cloud, and takes away the nodes of machines that are gone.
//!
//! As the real one it deletes only nodes that are not ready, after a look at the cloud every five seconds, and never a node
//! whose machine it does not know. It makes no routes and no load balancers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Taint};
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use mock_clock::{Clock as _, Time};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::injuries::Injury;
use super::node::{self, PROVIDER, SHUTDOWN, UNINITIALIZED};
use super::roster::{Answer, Roster};
use super::site::Site;
use crate::terms::{Machine, Stage};
use crate::watch::Sight;

/// How often it looks at the cloud for nodes that are not ready.
const LOOK: Duration = Duration::from_secs(5);
/// How often a node is read and written again when others write it, too.
const REWRITES: u32 = 20;

/// The cloud controller.
pub(super) struct CloudController {
    site: Arc<Site>,
    roster: Arc<Roster>,
    nodes: Mutex<BTreeMap<String, Arc<Node>>>,
    changed: watch::Sender<u64>,
}

impl CloudController {
    pub(super) fn new(site: Arc<Site>, roster: Arc<Roster>) -> Arc<Self> {
        Arc::new(Self { site, roster, nodes: Mutex::default(), changed: watch::channel(0).0 })
    }

    /// A node has come, changed or gone.
    pub(super) fn see(&self, sight: Sight<Node>) {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        match sight {
            Sight::Added(node) | Sight::Modified(node) => nodes.insert(node.name_any(), Arc::new(node)),
            Sight::Deleted(node) => nodes.remove(&node.name_any()),
            Sight::Listed | Sight::Blind(_) => return,
        };
        drop(nodes);
        self.changed.send_modify(|count| *count += 1);
    }

    fn nodes(&self) -> Vec<Arc<Node>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Works for ever.
    pub(super) async fn work(self: Arc<Self>) {
        let (mut nodes, mut machines) = (self.changed.subscribe(), self.roster.changes());
        let mut greeting = JoinSet::new();
        let mut greeted = BTreeSet::new();
        let mut next_look = None;
        loop {
            // What is seen from here on wakes it again.
            nodes.borrow_and_update();
            machines.borrow_and_update();
            let all = self.nodes();
            for node in all.iter().filter(|node| is_uninitialized(node)) {
                if greeted.insert(node.uid().unwrap_or_default()) {
                    greeting.spawn(Arc::clone(&self).greet(node.name_any()));
                }
            }
            while greeting.try_join_next().is_some() {}
            let doubtful = all.iter().any(|node| self.wants(node).is_some());
            let look = next_look.filter(|_| doubtful).unwrap_or_else(|| self.next_look());
            next_look = doubtful.then_some(look);
            let look = if doubtful { look } else { Time::NEVER };
            tokio::select! {
                _ = self.site.clock.sleep_until(look) => {
                    self.look().await;
                    next_look = None;
                }
                _ = nodes.changed() => {}
                _ = machines.changed() => {}
            }
        }
    }

    fn next_look(&self) -> Time {
        let period = u64::try_from(LOOK.as_nanos()).unwrap_or(u64::MAX);
        Time::from_unix_nanos((self.site.clock.now().unix_nanos() / period + 1).saturating_mul(period))
    }

    /// Tells a new node who it is: provider id, addresses, labels; takes the taint away.
    async fn greet(self: Arc<Self>, name: String) {
        let mut machines = self.roster.changes();
        let machine = loop {
            if let Some(machine) = self.roster.machine(&name) {
                break machine;
            }
            if machines.changed().await.is_err() {
                return;
            }
        };
        self.site.stage(Stage::ProviderId, machine.pool.as_deref(), &name).await;
        self.is_up(&name).await;
        let nodes: Api<Node> = Api::all(self.site.client.clone());
        let addresses = node::addresses(&node::Host::of(&machine));
        let status = Patch::Strategic(json!({"status": {"addresses": addresses}}));
        let params = PatchParams::default();
        self.site.call("tell a node's addresses", || nodes.patch_status(&name, &params, &status)).await;
        self.amend(&name, |node| initialize(node, &machine)).await;
    }

    /// Waits until the controller runs.
    async fn is_up(&self, whom: &str) {
        self.site.injuries.without(whom, |injury| matches!(injury, Injury::ControllerDown)).await;
    }

    /// Reads a node, changes it and writes it back; again if somebody has written in between.
    async fn amend(&self, name: &str, change: impl Fn(&mut Node)) {
        let nodes: Api<Node> = Api::all(self.site.client.clone());
        let params = PostParams::default();
        for _ in 0..REWRITES {
            let Some(mut node) = self.site.call("read a node", || nodes.get(name)).await else { return };
            change(&mut node);
            if self.site.call("write a node", || nodes.replace(name, &params, &node)).await.is_some() {
                return;
            }
        }
    }

    /// What a node that is not ready needs, as the cloud is.
    fn wants(&self, node: &Node) -> Option<Need> {
        if is_ready(node) {
            return None;
        }
        match self.roster.ask(node.metadata.name.as_deref().unwrap_or_default()) {
            Answer::Off => (!has_taint(node, SHUTDOWN)).then_some(Need::ShutdownTaint),
            Answer::Gone => Some(Need::Deletion),
            Answer::On | Answer::Unknown => None,
        }
    }

    /// Looks at the cloud for each node that is not ready, and does what is to be done.
    async fn look(&self) {
        for node in self.nodes() {
            let Some(need) = self.wants(&node) else { continue };
            let name = node.name_any();
            self.is_up(&name).await;
            match need {
                Need::ShutdownTaint => self.amend(&name, taint_as_off).await,
                Need::Deletion => self.delete(&node).await,
            }
        }
    }

    async fn delete(&self, node: &Node) {
        let nodes: Api<Node> = Api::all(self.site.client.clone());
        let preconditions = Some(Preconditions { uid: node.uid(), resource_version: None });
        let params = DeleteParams { preconditions, ..DeleteParams::default() };
        let name = node.name_any();
        self.site.call("delete a node", || nodes.delete(&name, &params)).await;
        // The watch tells it, too; until then nobody looks at it again.
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
    }
}

/// What a node needs whose machine is not as it was.
enum Need {
    ShutdownTaint,
    Deletion,
}

fn initialize(node: &mut Node, machine: &Machine) {
    let labels: BTreeMap<String, String> =
        serde_json::from_value(node::cloud_labels(machine)).unwrap_or_default();
    node.metadata.labels.get_or_insert_default().extend(labels);
    let spec = node.spec.get_or_insert_default();
    spec.provider_id = Some(format!("{PROVIDER}{}", machine.id));
    spec.taints.get_or_insert_default().retain(|taint| taint.key != UNINITIALIZED);
}

fn taint_as_off(node: &mut Node) {
    let taint = Taint { key: SHUTDOWN.to_owned(), effect: "NoSchedule".to_owned(), ..Taint::default() };
    let taints = node.spec.get_or_insert_default().taints.get_or_insert_default();
    taints.retain(|taint| taint.key != SHUTDOWN);
    taints.push(taint);
}

fn is_uninitialized(node: &Node) -> bool {
    has_taint(node, UNINITIALIZED)
}

fn has_taint(node: &Node, key: &str) -> bool {
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default();
    taints.iter().any(|taint| taint.key == key)
}

fn is_ready(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}
