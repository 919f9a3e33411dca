//! A history of servers, told again as one of machines: whatever the cloud was asked for is asked of machine deployments. What
//! both providers promise must be judged the same.

use std::collections::BTreeMap;

use mock_clock::Time;
use scaleproof::history::{CallEvent, Change, Event, History, ObjectEvent, ServerEvent, What};
use scaleproof::terms::{Api, Provider};
use serde_json::{Value, json};

/// How many machines the deployments are to have, as it came to be known.
#[derive(Default)]
struct Sizes {
    known: BTreeMap<String, Vec<(Time, u64)>>,
}

impl Sizes {
    fn at(&self, pool: &str, at: Time) -> u64 {
        let known = self.known.get(pool).into_iter().flatten();
        known.rev().find(|(since, _)| *since <= at).map_or(0, |(_, size)| *size)
    }

    fn last(&self, pool: &str) -> u64 {
        self.known.get(pool).and_then(|known| known.last()).map_or(0, |(_, size)| *size)
    }

    fn set(&mut self, pool: &str, at: Time, size: u64) {
        self.known.entry(pool.to_owned()).or_default().push((at, size));
    }
}

/// The same story as machines tell it.
pub(crate) fn as_machines(history: &History) -> History {
    let mut told = History { events: Vec::new(), ..history.clone() };
    told.header.subject.provider = Provider::Clusterapi;
    let mut sizes = Sizes::default();
    let mut servers: BTreeMap<u64, ServerEvent> = BTreeMap::new();
    for event in &history.events {
        let at = event.at;
        let mut tell = |what: What| told.events.push(Event { at, real_us: event.real_us, what });
        match &event.what {
            What::Server(server) => {
                let before = servers.insert(server.id, server.clone());
                let pool = pool(server);
                // Whoever adds a machine by hand asks the deployment for one more.
                if before.is_none() && !pool.is_empty() && !is_ordered(history, server) {
                    sizes.set(&pool, at, sizes.last(&pool) + 1);
                    tell(deployment(&pool, sizes.last(&pool)));
                }
                tell(machine(server, false));
            }
            What::Call(call) if call.to == Api::Cloud => {
                let good = (200..300).contains(&call.status);
                if let Some(pool) = ordered(call) {
                    let to = sizes.at(&pool, call.began) + 1;
                    tell(scale(call, &pool, to));
                    if good || is_made(history, call) {
                        sizes.set(&pool, at, sizes.last(&pool) + 1);
                        tell(deployment(&pool, sizes.last(&pool)));
                    }
                } else if let Some(server) = given_back(call).and_then(|id| servers.get(&id)) {
                    let pool = pool(server);
                    tell(machine(server, true));
                    tell(scale(call, &pool, sizes.at(&pool, call.began).saturating_sub(1)));
                    if good {
                        sizes.set(&pool, at, sizes.last(&pool).saturating_sub(1));
                        tell(deployment(&pool, sizes.last(&pool)));
                    }
                }
            }
            other => tell(other.clone()),
        }
    }
    told
}

fn pool(server: &ServerEvent) -> String {
    server.labels.get("hcloud/node-group").cloned().unwrap_or_default()
}

fn ordered(call: &CallEvent) -> Option<String> {
    let body = call.request.as_ref().filter(|_| call.method == "POST" && call.path.ends_with("/servers"))?;
    body["labels"]["hcloud/node-group"].as_str().map(str::to_owned)
}

fn given_back(call: &CallEvent) -> Option<u64> {
    let (before, id) = call.path.rsplit_once('/')?;
    if call.method == "DELETE" && before.ends_with("/servers") { id.parse().ok() } else { None }
}

fn orders(history: &History) -> impl Iterator<Item = &CallEvent> {
    history.events.iter().filter_map(|event| match &event.what {
        What::Call(call) if call.to == Api::Cloud && ordered(call).is_some() => Some(call),
        _ => None,
    })
}

/// Whether the subject ordered this server.
fn is_ordered(history: &History, server: &ServerEvent) -> bool {
    orders(history).any(|call| call.request.as_ref().is_some_and(|body| body["name"] == server.name.as_str()))
}

/// Whether what a call ordered came to be, whatever the answer was.
fn is_made(history: &History, call: &CallEvent) -> bool {
    let name = call.request.as_ref().map(|body| body["name"].clone()).unwrap_or_default();
    history
        .events
        .iter()
        .any(|event| matches!(&event.what, What::Server(server) if name == server.name.as_str()))
}

fn object(change: Change, kind: &str, name: &str, object: Value) -> What {
    let (kind, namespace, name) = (kind.to_owned(), "default".to_owned(), name.to_owned());
    What::Object(ObjectEvent { change, kind, namespace, name, object })
}

fn deployment(pool: &str, replicas: u64) -> What {
    object(Change::Modified, "MachineDeployment", pool, json!({"spec": {"replicas": replicas}}))
}

fn machine(server: &ServerEvent, marked: bool) -> What {
    let gone = server.change == Change::Deleted;
    let mark = (marked || gone).then_some("now");
    let phase = match server.status.as_str() {
        "running" => "Running",
        _ => "Provisioning",
    };
    object(
        server.change,
        "Machine",
        &server.name,
        json!({
            "metadata": {
                "uid": server.id.to_string(),
                "labels": {"cluster.x-k8s.io/deployment-name": server.labels.get("hcloud/node-group")},
                "annotations": {"cluster.x-k8s.io/delete-machine": mark},
            },
            "spec": {"providerID": format!("hcloud://{}", server.id)},
            "status": {"phase": phase},
        }),
    )
}

fn scale(call: &CallEvent, pool: &str, to: u64) -> What {
    What::Call(CallEvent {
        to: Api::Kubernetes,
        method: "PATCH".into(),
        path: format!("/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machinedeployments/{pool}/scale"),
        request: Some(json!({"spec": {"replicas": to}})),
        status: if call.status == 201 { 200 } else { call.status },
        answer: None,
        ..call.clone()
    })
}
