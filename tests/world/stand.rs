//! Everything but a subject: cluster, cloud and world on one clock, with what was told of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mock_clock::{Clock as _, Time, VirtualClock};
use mock_hetzner::Request;
use scaleproof::cloud::{self, Cloud, Order};
use scaleproof::cluster::{Cluster as _, Embedded, Live, Observer};
use scaleproof::history::query::POOL_LABEL;
use scaleproof::history::{Change, What};
use scaleproof::terms::{Pool, Provider, Room, Taint};
use scaleproof::world::{FirstBite, LABEL, Timetable, Workload, World};
use serde_json::{Value, json};

pub(crate) type Events = Arc<Mutex<Vec<(Time, What)>>>;

/// Everything but a subject.
pub(crate) struct Stand {
    pub(crate) clock: VirtualClock,
    pub(crate) client: kube::Client,
    pub(crate) world: World,
    pub(crate) cloud: Cloud,
    pub(crate) observer: Observer,
    pub(crate) events: Events,
    _cluster: Embedded,
}

pub(crate) fn pool(name: &str, initial: u32) -> Pool {
    Pool {
        name: name.to_owned(),
        machine: "cx33".to_owned(),
        location: "fsn1".to_owned(),
        min: 0,
        max: 300,
        labels: BTreeMap::from([("kind".to_owned(), name.to_owned())]),
        taints: vec![Taint {
            key: "only".to_owned(),
            value: name.to_owned(),
            effect: "NoSchedule".to_owned(),
        }],
        priority: None,
        also: vec![],
        startup_taints: vec![],
        registers_with: Vec::new(),
        disruption: None,
        initial,
        room: cloud::room("cx33").unwrap(),
    }
}

impl Stand {
    pub(crate) async fn start(pools: &[Pool]) -> Stand {
        let clock = VirtualClock::idle_skip().unwrap();
        let mut cluster = Embedded::new(1);
        let access = cluster.start(&clock).await.unwrap();
        let events: Events = Arc::default();
        let tell: scaleproof::cluster::Tell = Arc::new({
            let (events, clock) = (Arc::clone(&events), clock.clone());
            move |what| events.lock().unwrap().push((clock.now(), what))
        });
        let mut observer = Observer::start(&access.client().unwrap(), &clock, &tell, &[], &[]);
        observer.until_listed().await;
        let order =
            Order { clock: &clock, seed: 7, pools, buyer: Provider::Hetzner, tell: Arc::clone(&tell) };
        let (cloud, machines) = Cloud::start(order).await.unwrap();
        let trouble = Arc::new(move |why| tell(What::Trouble(why)));
        let client = access.client().unwrap();
        let world = World::start(client.clone(), clock.clone(), Timetable::new(7), machines, trouble);
        world.until_ready(pools.iter().map(|pool| pool.initial as usize).sum()).await;
        Stand { clock, client, world, cloud, observer, events, _cluster: cluster }
    }

    pub(crate) fn live(&self) -> &Live {
        self.observer.live()
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let request = Request::new(method, path).token(self.cloud.token()).body(body.to_string());
        let reply = self.cloud.mock().with(|engine, now| engine.answer(now, &request));
        assert!(reply.status < 300, "{method} {path}: {reply:?}");
        serde_json::from_slice(&reply.body.unwrap()).unwrap()
    }

    pub(crate) fn buy(&self, name: &str, pool: &str) -> u64 {
        let server = json!({"name": name, "server_type": "cx33", "location": "fsn1", "image": cloud::IMAGE,
            "labels": {POOL_LABEL: pool}});
        self.ask("POST", "/v1/servers", &server)["server"]["id"].as_u64().unwrap()
    }

    /// Waits for something that must come within so many seconds.
    pub(crate) async fn until(&self, within_s: u64, what: &str, come: impl Fn(&Live) -> bool) {
        let mut changes = self.live().changes();
        let end = self.clock.now() + Duration::from_secs(within_s);
        loop {
            changes.borrow_and_update();
            if come(self.live()) {
                return;
            }
            let waited = self.clock.timeout_at(end, changes.changed()).await;
            assert!(waited.is_ok(), "not within {within_s} s: {what}\n{}", self.clock.status());
        }
    }

    pub(crate) async fn ready_nodes(&self, within_s: u64, pool: &str, count: usize) {
        self.until(within_s, "nodes are ready", |live| live.ready_nodes(POOL_LABEL, pool) == count).await;
    }

    pub(crate) async fn running(&self, within_s: u64, workload: &str, count: u32) {
        self.until(within_s, "pods run", |live| live.pods(LABEL, workload).running == count).await;
    }

    /// What was told of the objects of a kind and name, in order.
    pub(crate) fn told(&self, kind: &str, name: &str) -> Vec<(Time, Change, Value)> {
        let events = self.events.lock().unwrap();
        let objects = events.iter().filter_map(|(at, what)| match what {
            What::Object(object) if object.kind == kind && object.name == name => {
                Some((*at, object.change, object.object.clone()))
            }
            _ => None,
        });
        objects.collect()
    }

    /// When a node was first seen like this.
    #[track_caller]
    pub(crate) fn first(&self, node: &str, what: &str, like: impl Fn(&Value) -> bool) -> Time {
        let told = self.told("Node", node);
        let found = told.iter().find(|(_, _, object)| like(object));
        found.unwrap_or_else(|| panic!("{node} was never seen with {what}: {told:#?}")).0
    }

    /// Nothing went wrong in the harness itself.
    pub(crate) fn end(self) {
        for (at, what) in self.events.lock().unwrap().iter() {
            assert!(!matches!(what, What::Trouble(_)), "{at}: {what:?}");
        }
    }
}

pub(crate) fn condition<'a>(node: &'a Value, kind: &str) -> &'a Value {
    let conditions = node["status"]["conditions"].as_array().unwrap();
    conditions.iter().find(|it| it["type"] == kind).unwrap_or(&Value::Null)
}

pub(crate) fn has_taint(node: &Value, key: &str) -> bool {
    node["spec"]["taints"].as_array().is_some_and(|taints| taints.iter().any(|it| it["key"] == key))
}

pub(crate) fn quietly() -> FirstBite {
    Box::new(|_| {})
}

pub(crate) fn within(span: Duration, least_ms: u64, most_ms: u64) -> bool {
    (Duration::from_millis(least_ms)..=Duration::from_millis(most_ms)).contains(&span)
}

pub(crate) fn web(pods: u32) -> Workload {
    let toleration = Taint { key: "only".into(), value: "small".into(), effect: "NoSchedule".into() };
    Workload {
        tolerates: vec![toleration],
        ..Workload::new("web", pods, Room { cpu_milli: 1000, memory_mib: 512 })
    }
}

pub(crate) const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";
