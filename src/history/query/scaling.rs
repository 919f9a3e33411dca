//! What the subject asked of machine deployments: writes of their scale, and what came of them.
//!
//! An order is a write of more than there were, once for each machine; a give-back is a write of fewer. Which machines they are
//! is read off the machines: new ones answer orders in turn, and those that were marked are given back.

use std::collections::BTreeMap;

use mock_clock::Time;
use serde_json::Value;

use super::calls::{GiveBack, Order, good};
use super::machines::{Life, lives};
use crate::history::{CallEvent, Event, History, What};
use crate::terms::Api;

/// The subject has written how many machines a deployment is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaleWrite {
    /// The event.
    pub event: usize,
    /// Which replica.
    pub replica: u32,
    /// When it asked.
    pub began: Time,
    /// When that was over.
    pub ended: Time,
    /// Of which pool.
    pub pool: String,
    /// How many it was to have before.
    pub from: u64,
    /// How many it asked for; nothing if it said no number.
    pub to: Option<u64>,
    /// What it asked for was written in a form that nobody reads here.
    pub unread: bool,
    /// The status of the answer; 0 if it got none.
    pub status: u16,
}

impl ScaleWrite {
    /// Whether the deployment took it.
    pub fn taken(&self) -> bool {
        good(self.status)
    }

    /// How many machines more it asked for. A write that was refused, and of which nobody can read what it asked for, is taken for
    /// one more.
    pub fn more(&self) -> u64 {
        let unread = u64::from(self.unread && self.status >= 400);
        self.to.map_or(unread, |to| to.saturating_sub(self.from))
    }
}

/// How many machines deployments were to have, as it was known.
type Known = BTreeMap<String, Vec<(Time, u64)>>;

/// All such writes, as they ended.
pub fn scale_writes<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<ScaleWrite> {
    let mut known = Known::new();
    let mut writes = Vec::new();
    for (event, happened) in events.enumerate() {
        match &happened.what {
            What::Object(object) if object.kind == "MachineDeployment" => {
                let replicas = object.object["spec"]["replicas"].as_u64().unwrap_or(0);
                known.entry(object.name.clone()).or_default().push((happened.at, replicas));
            }
            What::Call(call) if call.to == Api::Kubernetes && !call.open => {
                let Some(pool) = scaled(call) else { continue };
                let before = known.entry(pool.to_owned()).or_default();
                let from =
                    before.iter().rev().find(|(at, _)| *at <= call.began).map_or(0, |(_, count)| *count);
                // What is not written as JSON is known by its answer, if it was taken.
                let answered = call.answer.as_ref().filter(|_| good(call.status) && call.request.is_none());
                let to = call.request.as_ref().or(answered).and_then(asked);
                if let Some(to) = to.filter(|_| good(call.status)) {
                    before.push((happened.at, to));
                }
                writes.push(ScaleWrite {
                    event,
                    replica: call.replica,
                    began: call.began,
                    ended: happened.at,
                    pool: pool.to_owned(),
                    from,
                    to,
                    unread: call.request.is_none(),
                    status: call.status,
                });
            }
            _ => {}
        }
    }
    writes
}

/// The deployment whose size a call writes: by its scale, or by itself.
fn scaled(call: &CallEvent) -> Option<&str> {
    let (_, named) = call.path.split_once("/machinedeployments/")?;
    let writes = call.method == "PUT" || call.method == "PATCH";
    match named.split_once('/') {
        Some((name, "scale")) => writes.then_some(name),
        Some(_) => None,
        None => (writes && call.request.as_ref().is_some_and(|body| asked(body).is_some())).then_some(named),
    }
}

fn asked(body: &Value) -> Option<u64> {
    body["spec"]["replicas"].as_u64()
}

/// Orders, one a machine.
pub(super) fn orders(history: &History) -> Vec<Order> {
    let lives = lives(history);
    let mut claimed = vec![false; lives.len()];
    let mut orders = Vec::new();
    for write in scale_writes(history.events.iter()) {
        // Who has just marked a machine wants fewer.
        let marked = lives.iter().any(|life| life.pool == write.pool && life.marked_at(write.began));
        let more = if marked && write.to.is_none() { 0 } else { write.more() };
        for number in 0..more {
            let answers = |(at, life): &(usize, &Life)| {
                !claimed[*at] && life.pool == write.pool && life.from >= write.began
            };
            let answer =
                lives.iter().enumerate().find(answers).filter(|_| good(write.status) || write.status == 0);
            let server = answer.map(|(at, life)| (at, life.id));
            if let Some((at, _)) = server {
                claimed[at] = true;
            }
            orders.push(Order {
                event: write.event,
                replica: write.replica,
                began: write.began,
                ended: write.ended,
                pool: Some(write.pool.clone()),
                name: server.map_or_else(
                    || format!("{}, event {}, {number}", write.pool, write.event),
                    |(at, _)| lives[at].name.clone(),
                ),
                status: write.status,
                server: server.map(|(_, id)| id),
            });
        }
    }
    orders
}

/// Machines given back, one a machine.
pub(super) fn give_backs(history: &History) -> Vec<GiveBack> {
    let lives = lives(history);
    let mut given = vec![false; lives.len()];
    let mut backs = Vec::new();
    for write in scale_writes(history.events.iter()) {
        let fewer = write.to.map_or(0, |to| write.from.saturating_sub(to));
        for _ in 0..fewer {
            let mine = |at: usize| !given[at] && lives[at].pool == write.pool;
            let marked = |at: &usize, by: Time| {
                let told = lives[*at].told.is_none_or(|told| told >= write.began);
                mine(*at) && told && lives[*at].marked.is_some_and(|marked| marked <= by)
            };
            // Whom the controllers chose if nobody was marked.
            let chosen = |at: &usize| mine(*at) && lives[*at].told.is_some_and(|told| told >= write.began);
            let by = write.ended;
            let latest = (0..lives.len()).filter(|at| marked(at, by)).max_by_key(|at| lives[*at].marked);
            // A mark may be seen after the call that came after it.
            let next = || {
                (0..lives.len()).filter(|at| marked(at, by + super::TIE)).min_by_key(|at| lives[*at].marked)
            };
            let first = || (0..lives.len()).filter(chosen).min_by_key(|at| lives[*at].told);
            let Some(at) = latest.or_else(next).or_else(|| if good(write.status) { first() } else { None })
            else {
                break;
            };
            given[at] = good(write.status);
            let (event, replica, server) = (write.event, write.replica, lives[at].id);
            let (began, ended, status) = (write.began, write.ended, write.status);
            backs.push(GiveBack { event, replica, began, ended, server, status });
        }
    }
    backs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::history::query::leases::tests::history;
    use crate::history::{Change, ObjectEvent};

    fn object(change: Change, kind: &str, name: &str, object: Value) -> What {
        let (kind, name) = (kind.to_owned(), name.to_owned());
        What::Object(ObjectEvent { change, kind, namespace: "default".into(), name, object })
    }

    fn deployment(replicas: u64) -> What {
        object(Change::Modified, "MachineDeployment", "small", json!({"spec": {"replicas": replicas}}))
    }

    fn machine(change: Change, name: &str, id: u64, annotations: &Value, deleted: &Value) -> What {
        let meta = json!({"uid": name, "labels": {"cluster.x-k8s.io/deployment-name": "small"},
            "annotations": annotations, "deletionTimestamp": deleted});
        object(
            change,
            "Machine",
            name,
            json!({"metadata": meta, "spec": {"providerID": format!("hcloud://{id}")}}),
        )
    }

    fn scale(began: Time, method: &str, body: Value, status: u16) -> What {
        What::Call(CallEvent {
            replica: 0,
            to: Api::Kubernetes,
            began,
            method: method.into(),
            path: "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machinedeployments/small/scale".into(),
            query: String::new(),
            agent: String::new(),
            request: Some(body),
            status,
            answer: None,
            bytes: (0, 0),
            open: false,
            fate: None,
            done: true,
        })
    }

    fn at(seconds: u64) -> Time {
        history(vec![(seconds, What::End)]).events[0].at
    }

    #[test]
    fn more_is_an_order_of_the_machines_that_come_and_fewer_gives_the_marked_one_back() {
        let mark = json!({"cluster.x-k8s.io/delete-machine": "now"});
        let history = history(vec![
            (0, deployment(1)),
            (0, machine(Change::Added, "a", 1, &Value::Null, &Value::Null)),
            (10, scale(at(10), "PUT", json!({"spec": {"replicas": 2}}), 409)),
            (20, scale(at(20), "PATCH", json!({"spec": {"replicas": 2}}), 200)),
            (21, deployment(2)),
            (22, machine(Change::Added, "b", 2, &Value::Null, &Value::Null)),
            (60, machine(Change::Modified, "a", 1, &mark, &Value::Null)),
            (61, scale(at(61), "PATCH", json!({"spec": {"replicas": 1}}), 200)),
            (62, deployment(1)),
            (63, machine(Change::Modified, "a", 1, &mark, &json!("2026-01-01T00:00:00Z"))),
            (70, scale(at(70), "PATCH", json!({"spec": {}}), 200)),
        ]);
        let orders = orders(&history);
        let told: Vec<_> = orders.iter().map(|order| (order.status, order.server)).collect();
        assert_eq!(told, [(409, None), (200, Some(2))]);
        let backs = give_backs(&history);
        assert_eq!(backs.iter().map(|back| (back.server, back.status)).collect::<Vec<_>>(), [(1, 200)]);
    }

    #[test]
    fn a_mark_that_is_seen_late_is_of_the_call_before() {
        let mark = json!({"cluster.x-k8s.io/delete-machine": "now"});
        let history = history(vec![
            (0, deployment(2)),
            (0, machine(Change::Added, "a", 1, &Value::Null, &Value::Null)),
            (0, machine(Change::Added, "b", 2, &Value::Null, &Value::Null)),
            (60, scale(at(60), "PATCH", json!({"spec": {"replicas": 1}}), 500)),
            (61, machine(Change::Modified, "b", 2, &mark, &Value::Null)),
        ]);
        let backs = give_backs(&history);
        assert_eq!(backs.iter().map(|back| (back.server, back.status)).collect::<Vec<_>>(), [(2, 500)]);
    }
}
