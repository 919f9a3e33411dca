//! Where controllers are tested: an API on a clock moved by hand, and controllers that take turns until all is quiet.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Event, Pod};
use mock_clock::{Hand, Time, VirtualClock};
use serde_json::{Value, json};

use super::frame::{Controller, Course};
use crate::api::{Api, Delete, Kind, Target, Write};

/// More turns than any test takes: controllers that go on against each other are found out.
const TURNS: usize = 100_000;

pub(super) struct Stage {
    pub(super) api: Api,
    hand: Hand,
    actors: Vec<Box<dyn Actor>>,
}

trait Actor {
    fn step(&mut self, api: &Api) -> bool;
    fn due(&self) -> Option<Time>;
}

impl<C: Controller> Actor for Course<'static, C> {
    fn step(&mut self, api: &Api) -> bool {
        Course::step(self, api).expect("no test writes more than the log keeps")
    }

    fn due(&self) -> Option<Time> {
        Course::due(self)
    }
}

impl Stage {
    pub(super) fn new() -> Self {
        let (clock, hand) = VirtualClock::manual("2030-01-01T00:00:00Z".parse::<Time>().unwrap());
        let api = Api::new(clock, 1);
        crate::birth::furnish(&api).unwrap();
        Self { api, hand, actors: Vec::new() }
    }

    /// One controller more.
    pub(super) fn with<C: Controller + 'static>(mut self, shelves: &[&'static str], controller: C) -> Self {
        self.actors.push(Box::new(Course::begin(&self.api, "tested", shelves, controller)));
        self
    }

    /// Everybody works until nothing is due at this moment.
    pub(super) fn settle(&mut self) {
        for _ in 0..TURNS {
            let mut worked = false;
            for actor in &mut self.actors {
                worked |= actor.step(&self.api);
            }
            if !worked {
                return;
            }
        }
        panic!("the controllers never rest");
    }

    /// When somebody has something to do though nothing happens.
    pub(super) fn due(&self) -> Option<Time> {
        self.actors.iter().filter_map(|actor| actor.due()).min()
    }

    /// Time passes, and everybody does what becomes due on the way.
    pub(super) fn pass(&mut self, seconds: u64) {
        let end = self.api.now() + Duration::from_secs(seconds);
        loop {
            self.settle();
            match self.due().filter(|due| *due <= end) {
                Some(due) => self.hand.advance_to(due),
                None => break,
            }
        }
        self.hand.advance_to(end);
        self.settle();
    }
}

/// What stands in for scheduler and kubelets.
impl Stage {
    pub(super) fn make<K: Kind>(&self, value: Value) -> K {
        let object: K = serde_json::from_value(value).unwrap();
        self.api.make("default", &object, &Write::by("tester")).unwrap()
    }

    pub(super) fn edit<K: Kind>(&self, name: &str, mut change: impl FnMut(&mut Value)) -> K {
        self.api
            .edit::<K>(("default", name, ""), &Write::by("tester"), |object| {
                let mut value = serde_json::to_value(&*object).unwrap();
                change(&mut value);
                *object = serde_json::from_value(value).unwrap();
                Ok(())
            })
            .unwrap()
    }

    pub(super) fn read<K: Kind>(&self, name: &str) -> K {
        self.api.read("default", name).unwrap()
    }

    /// The object as JSON.
    pub(super) fn value<K: Kind>(&self, name: &str) -> Value {
        serde_json::to_value(self.read::<K>(name)).unwrap()
    }

    /// All pods as JSON, by name.
    pub(super) fn pods(&self) -> Vec<Value> {
        self.api.read_all::<Pod>("default").iter().map(|pod| serde_json::to_value(pod).unwrap()).collect()
    }

    /// Those that nobody has asked to stop.
    pub(super) fn live_pods(&self) -> Vec<Value> {
        let live = |pod: &Value| pod["metadata"]["deletionTimestamp"].is_null();
        self.pods().into_iter().filter(live).collect()
    }

    /// A pod reaches a phase; a running one is ready as well.
    pub(super) fn reach(&self, pod: &str, phase: &str) {
        let now = crate::api::stamp(self.api.now());
        self.status(pod, &|status: &mut Value| {
            status["phase"] = json!(phase);
            let ready = if phase == "Running" { "True" } else { "False" };
            let mut conditions = status["conditions"].as_array().cloned().unwrap_or_default();
            if !conditions.iter().any(|one| one["type"] == "Ready" && one["status"] == ready) {
                conditions.retain(|one| one["type"] != "Ready");
                conditions.push(json!({"type": "Ready", "status": ready, "lastTransitionTime": now}));
                status["conditions"] = json!(conditions);
            }
        });
    }

    pub(super) fn status(&self, pod: &str, change: &dyn Fn(&mut Value)) {
        self.api
            .edit::<Pod>(("default", pod, "status"), &Write::by("kubelet"), |object| {
                let mut value = serde_json::to_value(&*object).unwrap();
                change(&mut value["status"]);
                *object = serde_json::from_value(value).unwrap();
                Ok(())
            })
            .unwrap();
    }

    pub(super) fn bind(&self, pod: &str, node: &str) {
        let resource = self.api.resource::<Pod>();
        let target = Target { resource: &resource, namespace: "default", name: pod, subresource: "" };
        self.api.bind(&target, &json!({"target": {"name": node}}), &Write::by("scheduler")).unwrap();
    }

    /// Every pod runs and is ready; those that were asked to stop are gone.
    pub(super) fn kubelets(&mut self) {
        for pod in self.pods() {
            let name = pod["metadata"]["name"].as_str().unwrap();
            let delete = Delete::now();
            if pod["metadata"]["deletionTimestamp"].is_string() {
                self.api.discard::<Pod>("default", name, &delete, &Write::by("kubelet")).unwrap();
            } else if pod["status"]["phase"] == "Pending" {
                self.reach(name, "Running");
            }
        }
        self.settle();
    }

    /// Reasons and messages of all events, sorted.
    pub(super) fn events(&self) -> Vec<String> {
        let events = self.api.read_all::<Event>("default").into_iter();
        let mut texts: Vec<String> = events
            .map(|event| {
                format!("{} {}", event.reason.unwrap_or_default(), event.message.unwrap_or_default())
            })
            .collect();
        texts.sort();
        texts
    }
}

/// A template of pods with these labels.
pub(super) fn template(labels: &Value) -> Value {
    json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
}
