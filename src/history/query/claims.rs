//! Karpenter's claims and pools. A claim is what a server is elsewhere: bought, registered as a node, given back.
//!
//! Claims are numbered in the order in which the history first speaks of them, so that whoever asks for machines by number
//! finds them, too. One for which a server of the cloud was made has the number of that.

use std::collections::BTreeMap;

use mock_clock::Time;
use serde_json::Value;

use super::calls::{GiveBack, Order, calls, good};
use super::pods::{list, moment, objects, strings};
use super::servers::{Server, of_the_cloud};
use super::track::Seen;
use super::{Track, Tracks};
use crate::history::{CallEvent, History, ObjectEvent, What};
use crate::terms::{Api, Taint};

/// The label by which a claim, and its node, say to which pool they belong.
pub const CLAIM_POOL_LABEL: &str = "karpenter.sh/nodepool";
/// What Karpenter holds an object by that it has to end itself.
pub const TERMINATION: &str = "karpenter.sh/termination";
/// The taints of nodes that Karpenter has chosen to disrupt: from 1.0.0 on, and before.
pub const DISRUPTED_TAINTS: [&str; 2] = ["karpenter.sh/disrupted", "karpenter.sh/disruption"];

/// A claim at a moment.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a condition of its own")]
pub struct Claim {
    /// When it came into being, to the second.
    pub created: Option<Time>,
    /// The pool it was made for.
    pub pool: Option<String>,
    /// The node it became.
    pub node: Option<String>,
    /// What the cloud calls its machine.
    pub provider_id: Option<String>,
    /// Its machine was bought.
    pub launched: bool,
    /// Its node was found.
    pub registered: bool,
    /// Its node may be used.
    pub initialized: bool,
    /// Its pool would make it otherwise today.
    pub drifted: bool,
    /// Somebody has told it to go.
    pub ending: bool,
    /// Its node is drained, and its machine is being given back.
    pub terminating: bool,
    /// Karpenter holds it.
    pub held: bool,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Taints of its node.
    pub taints: Vec<Taint>,
    /// Taints of its node until somebody else takes them away.
    pub startup_taints: Vec<Taint>,
}

/// A pool as Karpenter was told of it, at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct NodePool {
    /// What its nodes are made like.
    pub template: Value,
    /// What else is said of it.
    pub behaviour: Value,
}

/// The subject has asked for a claim, or for one to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimCall {
    /// The event.
    pub event: usize,
    /// Which replica.
    pub replica: u32,
    /// When it asked.
    pub began: Time,
    /// When that was over.
    pub ended: Time,
    /// The claim; empty if nobody was told its name.
    pub name: String,
    /// The pool, as the request says it.
    pub pool: Option<String>,
    /// The status of the answer; 0 if it got none.
    pub status: u16,
}

/// The tracks of all claims, by name.
pub fn claims(history: &History) -> Tracks<String, Claim> {
    objects(history, "NodeClaim", |event| Some(read(event)))
}

/// The tracks of Karpenter's pools, by name.
pub fn node_pools(history: &History) -> Tracks<String, NodePool> {
    objects(history, "NodePool", |event| {
        let mut behaviour = event.object["spec"].clone();
        let template = behaviour.get_mut("template").map(Value::take).unwrap_or_default();
        Some(NodePool { template, behaviour })
    })
}

/// The nodes to which volumes are attached, by the name of the attachment.
pub fn attachments(history: &History) -> Tracks<String, String> {
    objects(history, "VolumeAttachment", |event| event.object["spec"]["nodeName"].as_str().map(str::to_owned))
}

/// Whether leases of nodes are anybody's, by name.
pub fn node_leases(history: &History) -> Tracks<String, bool> {
    objects(history, "Lease", |event| {
        let owned = !list(&event.object["metadata"]["ownerReferences"]).is_empty();
        (event.namespace == "kube-node-lease").then_some(owned)
    })
}

/// Claims that the subject has asked for, as the calls ended.
pub fn claim_creations(history: &History) -> Vec<ClaimCall> {
    let of_claims = |call: &CallEvent| call.method == "POST" && call.path.ends_with("/nodeclaims");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let told = |call: &CallEvent| {
        let label = |body: &Value| text(&body["metadata"]["labels"][CLAIM_POOL_LABEL]);
        let name = |body: &Value| text(&body["metadata"]["name"]);
        let (asked, answered) = (call.request.as_ref(), call.answer.as_ref());
        let name = answered.and_then(name).or_else(|| asked.and_then(name)).unwrap_or_default();
        (name, asked.and_then(label).or_else(|| answered.and_then(label)))
    };
    let made = calls(history, Api::Kubernetes).filter(|(_, _, call)| of_claims(call));
    made.map(|(event, ended, call)| {
        let (name, pool) = told(call);
        ClaimCall { event, replica: call.replica, began: call.began, ended, name, pool, status: call.status }
    })
    .collect()
}

/// Claims that the subject has asked to go, each once: the first time that this was granted.
pub fn claim_deletions(history: &History) -> Vec<ClaimCall> {
    let mut first: BTreeMap<String, ClaimCall> = BTreeMap::new();
    for (event, ended, call) in calls(history, Api::Kubernetes) {
        let Some(name) =
            call.path.strip_prefix("/apis/karpenter.sh/").and_then(|rest| rest.split_once("/nodeclaims/"))
        else {
            continue;
        };
        if call.method == "DELETE" && good(call.status) {
            let (replica, began, status) = (call.replica, call.began, call.status);
            let name = name.1.to_owned();
            first.entry(name.clone()).or_insert(ClaimCall {
                event,
                replica,
                began,
                ended,
                name,
                pool: None,
                status,
            });
        }
    }
    let mut all: Vec<ClaimCall> = first.into_values().collect();
    all.sort_by_key(|call| call.event);
    all
}

/// Claims that were asked for, as orders of machines.
pub(super) fn orders(history: &History) -> Vec<Order> {
    let numbers = numbers(history);
    let order = |call: ClaimCall| Order {
        event: call.event,
        replica: call.replica,
        began: call.began,
        ended: call.ended,
        server: numbers.get(&call.name).copied(),
        pool: call.pool,
        name: call.name,
        status: call.status,
    };
    claim_creations(history).into_iter().map(order).collect()
}

/// Claims that were asked to go, as machines given back.
pub(super) fn give_backs(history: &History) -> Vec<GiveBack> {
    let numbers = numbers(history);
    let give_back = |call: ClaimCall| {
        let ClaimCall { event, replica, began, ended, status, .. } = call;
        Some(GiveBack { event, replica, began, ended, server: *numbers.get(&call.name)?, status })
    };
    claim_deletions(history).into_iter().filter_map(give_back).collect()
}

/// Claims as the servers that they stand for, by their numbers.
pub(super) fn servers(history: &History) -> Tracks<u64, Server> {
    let numbers = numbers(history);
    let server = |name: &str, claim: &Claim| Server {
        name: claim.node.clone().unwrap_or_else(|| name.to_owned()),
        status: if claim.launched { "running" } else { "initializing" }.to_owned(),
        pool: claim.pool.clone(),
        claim: None,
    };
    let track = |(name, track): (String, Track<Claim>)| {
        let of = |seen: &Seen<Claim>| Seen {
            event: seen.event,
            at: seen.at,
            state: seen.state.as_ref().map(|claim| server(&name, claim)),
        };
        Some((*numbers.get(&name)?, Track { seen: track.seen.iter().map(of).collect() }))
    };
    claims(history).into_iter().filter_map(track).collect()
}

/// Claims by their numbers.
fn numbers(history: &History) -> BTreeMap<String, u64> {
    let mut numbers = BTreeMap::new();
    let mut number = |name: &str| {
        let next = numbers.len() as u64 + 1;
        numbers.entry(name.to_owned()).or_insert(next);
    };
    for event in &history.events {
        match &event.what {
            What::Object(object) if object.kind == "NodeClaim" => number(&object.name),
            What::Call(call) if call.method == "POST" && call.path.ends_with("/nodeclaims") => {
                let answer = call.answer.as_ref().and_then(|answer| answer["metadata"]["name"].as_str());
                answer.into_iter().for_each(&mut number);
            }
            _ => {}
        }
    }
    for (id, track) in of_the_cloud(history) {
        if let Some(number) = track.last().and_then(|server| numbers.get_mut(server.claim.as_ref()?)) {
            *number = id;
        }
    }
    numbers
}

/// Numbers of claims by what the cloud calls their machines.
pub(super) fn numbers_by_machine(history: &History) -> BTreeMap<String, u64> {
    let numbers = numbers(history);
    let of = |(name, track): (&String, &Track<Claim>)| {
        let id = track.seen.iter().rev().find_map(|seen| seen.state.as_ref()?.provider_id.clone());
        Some((id?, *numbers.get(name)?))
    };
    claims(history).iter().filter_map(of).collect()
}

fn read(event: &ObjectEvent) -> Claim {
    let (meta, spec, status) = (&event.object["metadata"], &event.object["spec"], &event.object["status"]);
    let is = |kind: &str| {
        list(&status["conditions"]).iter().any(|it| it["type"] == kind && it["status"] == "True")
    };
    let said = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let labels = strings(&meta["labels"]);
    Claim {
        created: moment(&meta["creationTimestamp"]),
        pool: labels.get(CLAIM_POOL_LABEL).cloned(),
        node: said(&status["nodeName"]),
        provider_id: said(&status["providerID"]),
        launched: is("Launched"),
        registered: is("Registered"),
        initialized: is("Initialized"),
        drifted: is("Drifted"),
        ending: !meta["deletionTimestamp"].is_null(),
        terminating: is("InstanceTerminating"),
        held: list(&meta["finalizers"]).iter().any(|finalizer| finalizer == TERMINATION),
        labels,
        taints: taints(&spec["taints"]),
        startup_taints: taints(&spec["startupTaints"]),
    }
}

fn taints(written: &Value) -> Vec<Taint> {
    list(written).iter().map(super::nodes::taint).collect()
}
