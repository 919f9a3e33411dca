//! How the histories under `fixtures/histories` are written: a story in seconds, told as what was seen and called.
//!
//! A pool `small` (0 to 3 nodes, four processors, 8 GiB) and the documented default timers are there unless the story says
//! otherwise, and a subject that has been running since the beginning.

use std::collections::BTreeMap;
use std::time::Duration;

use mock_clock::Time;
use scaleproof::code::Code;
use scaleproof::history::{
    CallEvent, Change, Event, FaultChange, FaultEvent, Header, ObjectEvent, Phase, ServerEvent, StepChange,
    StepEvent, SubjectChange, SubjectEvent, What,
};
use scaleproof::terms::{Api, Pool, Room, Taint, Timer};

use super::setting;
use serde_json::{Value, json};

/// A history that is being told. Moments are seconds since its beginning.
#[derive(Clone)]
pub(crate) struct Story {
    pub(crate) header: Header,
    events: Vec<(u64, What)>,
    objects: BTreeMap<(String, String), Value>,
    servers: BTreeMap<u64, ServerEvent>,
}

const MS: u64 = 1000;

fn began() -> Time {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

/// A moment as an object tells it.
pub(crate) fn at(second: u64) -> String {
    (began() + Duration::from_secs(second)).to_string()
}

impl Story {
    /// The subject has been running for as long as the history.
    pub(crate) fn new() -> Self {
        Self::asleep().started(0, 0)
    }

    /// The subject does not run.
    pub(crate) fn asleep() -> Self {
        let story = Self {
            header: setting::header(began()),
            events: Vec::new(),
            objects: BTreeMap::new(),
            servers: BTreeMap::new(),
        };
        story.pool("small", 0, 3, 4000)
    }

    /// A pool of nodes with so many thousandths of a processor, and two MiB of memory for each.
    pub(crate) fn pool(mut self, name: &str, min: u32, max: u32, cpu_milli: u64) -> Self {
        self.header.pools.retain(|pool| pool.name != name);
        self.header.pools.push(Pool {
            name: name.into(),
            machine: "cx33".into(),
            location: "fsn1".into(),
            min,
            max,
            labels: BTreeMap::new(),
            taints: vec![],
            priority: None,
            also: vec![],
            startup_taints: vec![],
            registers_with: Vec::new(),
            disruption: None,
            initial: 0,
            room: Room { cpu_milli, memory_mib: cpu_milli * 2 },
        });
        self
    }

    /// Changes the pool that was told last.
    pub(crate) fn but(mut self, change: impl FnOnce(&mut Pool)) -> Self {
        change(self.header.pools.last_mut().unwrap());
        self
    }

    pub(crate) fn labelled(self, key: &str, value: &str) -> Self {
        self.but(|pool| {
            pool.labels.insert(key.into(), value.into());
        })
    }

    pub(crate) fn tainted(self, key: &str) -> Self {
        self.but(|pool| {
            pool.taints.push(Taint { key: key.into(), value: String::new(), effect: "NoSchedule".into() });
        })
    }

    pub(crate) fn option(mut self, option: &str, value: &str) -> Self {
        self.header.subject.options.insert(option.into(), value.into());
        self
    }

    pub(crate) fn timer(mut self, timer: Timer, period: &str) -> Self {
        self.header.subject.timers.insert(timer, period.parse().unwrap());
        self
    }

    fn tell(mut self, ms: u64, what: What) -> Self {
        self.events.push((ms, what));
        self
    }

    pub(crate) fn what(self, second: u64, what: What) -> Self {
        self.tell(second * MS, what)
    }

    fn subject(self, second: u64, replica: u32, change: SubjectChange) -> Self {
        self.what(second, What::Subject(SubjectEvent { replica, change }))
    }

    pub(crate) fn started(self, second: u64, replica: u32) -> Self {
        self.subject(
            second,
            replica,
            SubjectChange::Started { pid: 100 + replica, host: format!("ca-{replica}") },
        )
    }

    pub(crate) fn killed(self, second: u64, replica: u32) -> Self {
        self.subject(second, replica, SubjectChange::Killed)
    }

    pub(crate) fn exited(self, second: u64, code: i32) -> Self {
        self.subject(second, 0, SubjectChange::Exited { code: Some(code), signal: None })
    }

    pub(crate) fn phase(self, second: u64, phase: Phase) -> Self {
        self.what(second, What::Phase(phase))
    }

    pub(crate) fn step(self, second: u64, says: &str) -> Self {
        self.what(
            second,
            What::Step(StepEvent { step: 0, says: says.into(), change: StepChange::Begun, may_fail: false }),
        )
    }

    pub(crate) fn fault(self, second: u64, name: &str, change: FaultChange) -> Self {
        let code = Code::new("F101");
        self.what(second, What::Fault(FaultEvent { code, name: name.into(), change }))
    }

    /// An object as it is from then on: what the patch says, over what it was.
    pub(crate) fn object(mut self, second: u64, kind: &str, name: &str, patch: Value) -> Self {
        let key = (kind.to_owned(), name.to_owned());
        let change = if self.objects.contains_key(&key) { Change::Modified } else { Change::Added };
        let object = self.objects.entry(key).or_insert_with(|| json!({}));
        merge(object, patch);
        let object = object.clone();
        self.seen(second, change, kind, name, object)
    }

    pub(crate) fn gone(mut self, second: u64, kind: &str, name: &str) -> Self {
        let object = self.objects.remove(&(kind.to_owned(), name.to_owned())).unwrap();
        self.seen(second, Change::Deleted, kind, name, object)
    }

    fn seen(self, second: u64, change: Change, kind: &str, name: &str, object: Value) -> Self {
        let (namespace, name) = name.split_once('/').unwrap_or(("", name));
        let (kind, namespace, name) = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        self.what(second, What::Object(ObjectEvent { change, kind, namespace, name, object }))
    }

    /// A pod of the replica set `web` that asks for one and a half processors, and waits.
    pub(crate) fn pending(self, second: u64, name: &str) -> Self {
        self.pending_as(second, name, json!({}))
    }

    /// The same, otherwise than usual.
    pub(crate) fn pending_as(self, second: u64, name: &str, otherwise: Value) -> Self {
        let mut pod = pod(second);
        let waits = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]);
        merge(&mut pod, json!({"status": {"phase": "Pending", "conditions": waits}}));
        merge(&mut pod, otherwise);
        self.object(second, "Pod", &spaced(name), pod)
    }

    /// A pod runs on a node.
    pub(crate) fn runs(self, second: u64, name: &str, node: &str) -> Self {
        self.runs_as(second, name, node, json!({}))
    }

    /// The same, otherwise than usual.
    pub(crate) fn runs_as(self, second: u64, name: &str, node: &str, otherwise: Value) -> Self {
        let mut patch = json!({});
        if !self.objects.contains_key(&("Pod".to_owned(), spaced(name))) {
            patch = pod(second);
        }
        merge(
            &mut patch,
            json!({"spec": {"nodeName": node}, "status": {"phase": "Running", "conditions": []}}),
        );
        merge(&mut patch, otherwise);
        self.object(second, "Pod", &spaced(name), patch)
    }

    pub(crate) fn pod_gone(self, second: u64, name: &str) -> Self {
        self.gone(second, "Pod", &spaced(name))
    }

    /// A server of a pool, of its own.
    pub(crate) fn server(self, second: u64, id: u64, pool: &str) -> Self {
        self.server_as(second, id, pool, "running")
    }

    pub(crate) fn server_as(mut self, second: u64, id: u64, pool: &str, status: &str) -> Self {
        let labels = if pool.is_empty() {
            BTreeMap::new()
        } else {
            [("hcloud/node-group".to_owned(), pool.to_owned())].into()
        };
        let change = if self.servers.contains_key(&id) { Change::Modified } else { Change::Added };
        let server = ServerEvent {
            change,
            id,
            name: server_name(pool, id),
            status: status.into(),
            machine: "cx33".into(),
            location: "fsn1".into(),
            labels,
            by: String::new(),
        };
        self.servers.insert(id, server.clone());
        self.what(second, What::Server(server))
    }

    pub(crate) fn server_gone(mut self, second: u64, id: u64) -> Self {
        let server = ServerEvent { change: Change::Deleted, ..self.servers.remove(&id).unwrap() };
        self.what(second, What::Server(server))
    }

    /// A server of a pool with its ready node, named after both.
    pub(crate) fn node(self, second: u64, id: u64, pool: &str) -> Self {
        let story = if self.servers.contains_key(&id) { self } else { self.server(second, id, pool) };
        story.node_as(second, id, pool, json!({}))
    }

    /// A node on a server that is there, otherwise than usual.
    pub(crate) fn node_as(self, second: u64, id: u64, pool: &str, otherwise: Value) -> Self {
        let room =
            self.header.pools.iter().find(|one| one.name == pool).map_or(4000, |pool| pool.room.cpu_milli);
        let mut node = json!({
            "metadata": {"creationTimestamp": at(second)},
            "spec": {"providerID": format!("hcloud://{id}")},
            "status": {
                "conditions": [{"type": "Ready", "status": "True"}],
                "allocatable": {"cpu": format!("{room}m"), "memory": format!("{}Mi", room * 2)},
            },
        });
        merge(&mut node, otherwise);
        self.object(second, "Node", &server_name(pool, id), node)
    }

    /// A node on a server that is there, and not ready.
    pub(crate) fn node_unready(self, second: u64, id: u64, pool: &str) -> Self {
        self.node_as(
            second,
            id,
            pool,
            json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}),
        )
    }

    pub(crate) fn ready(self, second: u64, node: &str, ready: bool) -> Self {
        let status = if ready { "True" } else { "False" };
        self.object(
            second,
            "Node",
            node,
            json!({"status": {"conditions": [{"type": "Ready", "status": status}]}}),
        )
    }

    pub(crate) fn taint(self, second: u64, node: &str, key: &str) -> Self {
        self.object(second, "Node", node, json!({"spec": {"taints": [{"key": key, "effect": "NoSchedule"}]}}))
    }

    pub(crate) fn untaint(self, second: u64, node: &str) -> Self {
        self.object(second, "Node", node, json!({"spec": {"taints": []}}))
    }

    /// A call of the subject, otherwise than usual.
    pub(crate) fn call(
        self,
        second: u64,
        to: Api,
        method: &str,
        path: &str,
        change: impl FnOnce(&mut CallEvent),
    ) -> Self {
        self.long_call(second, second * MS + 100, to, method, path, change)
    }

    pub(crate) fn long_call(
        self,
        second: u64,
        until_ms: u64,
        to: Api,
        method: &str,
        path: &str,
        change: impl FnOnce(&mut CallEvent),
    ) -> Self {
        let mut call = CallEvent {
            replica: 0,
            to,
            began: began() + Duration::from_secs(second),
            method: method.into(),
            path: path.into(),
            query: String::new(),
            agent: String::new(),
            request: None,
            status: 200,
            answer: None,
            bytes: (0, 0),
            open: false,
            fate: None,
            done: true,
        };
        change(&mut call);
        self.tell(until_ms, What::Call(call))
    }

    fn order_call(self, second: u64, pool: &str, id: u64, change: impl FnOnce(&mut CallEvent)) -> Self {
        self.call(second, Api::Cloud, "POST", "/v1/servers", |call| {
            call.request =
                Some(json!({"name": server_name(pool, id), "labels": {"hcloud/node-group": pool}}));
            call.status = 201;
            call.answer = Some(json!({"server": {"id": id}}));
            change(call);
        })
    }

    /// The subject orders a server, and it is running at once.
    pub(crate) fn order(self, second: u64, pool: &str, id: u64) -> Self {
        self.server(second, id, pool).order_call(second, pool, id, |_| {})
    }

    /// The subject orders a server, and it is only being made.
    pub(crate) fn order_slow(self, second: u64, pool: &str, id: u64) -> Self {
        self.server_as(second, id, pool, "initializing").order_call(second, pool, id, |_| {})
    }

    /// The subject orders a server, and is refused.
    pub(crate) fn order_refused(self, second: u64, pool: &str, id: u64, status: u16) -> Self {
        self.order_call(second, pool, id, |call| {
            call.status = status;
            call.answer = None;
        })
    }

    /// The subject orders a server, gets it, and is not told.
    pub(crate) fn order_lost(self, second: u64, pool: &str, id: u64) -> Self {
        self.server(second, id, pool).order_call(second, pool, id, |call| {
            call.status = 0;
            call.answer = None;
            call.fate = Some("lost".into());
        })
    }

    /// The subject gives a server back, with its node, if it has one.
    pub(crate) fn give_back(self, second: u64, id: u64) -> Self {
        let name = self.servers[&id].name.clone();
        let has_node = self.objects.contains_key(&("Node".to_owned(), name.clone()));
        let story = self.give_back_refused(second, id, 200).server_gone(second + 1, id);
        if has_node { story.gone(second + 5, "Node", &name) } else { story }
    }

    pub(crate) fn give_back_refused(self, second: u64, id: u64, status: u16) -> Self {
        self.call(second, Api::Cloud, "DELETE", &format!("/v1/servers/{id}"), |call| call.status = status)
    }

    pub(crate) fn evict(self, second: u64, pod: &str, status: u16) -> Self {
        let key = spaced(pod);
        let (namespace, name) = key.split_once('/').unwrap();
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/eviction");
        self.call(second, Api::Kubernetes, "POST", &path, |call| call.status = status)
    }

    /// The whole removal of a node: taint, pause, give-back.
    pub(crate) fn removal(self, second: u64, id: u64) -> Self {
        let name = self.servers[&id].name.clone();
        self.taint(second, &name, "ToBeDeletedByClusterAutoscaler").give_back(second + 8, id)
    }

    pub(crate) fn health(self, second: u64, status: u16) -> Self {
        self.subject(second, 0, SubjectChange::Health { status })
    }

    /// The subject publishes its status.
    pub(crate) fn status(self, second: u64) -> Self {
        let path = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status";
        self.call(second, Api::Kubernetes, "PUT", path, |_| {})
    }

    /// It ends.
    pub(crate) fn end(self, second: u64) -> Self {
        self.what(second, What::End)
    }

    /// As it is stored.
    pub(crate) fn text(mut self, code: &str, case: &str) -> String {
        self.header.scenario.title = case.replace('_', " ");
        self.header.scenario.expect = vec![code.parse().unwrap()];
        self.events.sort_by_key(|(ms, _)| *ms);
        let mut lines = vec![serde_json::to_string(&self.header).unwrap()];
        for (ms, what) in self.events {
            let event = Event { at: began() + Duration::from_millis(ms), real_us: ms, what };
            lines.push(serde_json::to_string(&event).unwrap());
        }
        lines.join("\n") + "\n"
    }
}

fn server_name(pool: &str, id: u64) -> String {
    format!("{pool}-{id}")
}

fn spaced(name: &str) -> String {
    if name.contains('/') { name.to_owned() } else { format!("default/{name}") }
}

fn pod(second: u64) -> Value {
    json!({
        "metadata": {
            "creationTimestamp": at(second),
            "labels": {"app": "web"},
            "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "controller": true}],
        },
        "spec": {"containers": [{"resources": {"requests": {"cpu": "1500m", "memory": "1Gi"}}}]},
    })
}

fn merge(target: &mut Value, patch: Value) {
    match patch {
        Value::Object(patch) if target.is_object() => {
            let target = target.as_object_mut().unwrap();
            for (key, value) in patch {
                if value.is_null() {
                    target.remove(&key);
                } else {
                    merge(target.entry(key).or_insert_with(|| json!({})), value);
                }
            }
        }
        patch => *target = patch,
    }
}
