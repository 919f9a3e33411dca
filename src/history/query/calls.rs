//! What the subject asked for: orders, give-backs, evictions, writes of nodes and of its status.

use std::collections::BTreeMap;

use mock_clock::Time;
use serde_json::Value;

use super::{POOL_LABEL, claims, scaling};
use crate::history::{CallEvent, History, What};
use crate::terms::{Api, Provider};

/// The subject has asked for a machine: a server of the cloud, one more of a machine deployment, or a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The event.
    pub event: usize,
    /// Which replica.
    pub replica: u32,
    /// When it asked.
    pub began: Time,
    /// When that was over.
    pub ended: Time,
    /// For which pool.
    pub pool: Option<String>,
    /// What the server was to be called.
    pub name: String,
    /// The status of the answer; 0 if it got none.
    pub status: u16,
    /// The server, if the answer tells it.
    pub server: Option<u64>,
}

/// The subject has asked to take a machine back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GiveBack {
    /// The event.
    pub event: usize,
    /// Which replica.
    pub replica: u32,
    /// When it asked.
    pub began: Time,
    /// When that was over.
    pub ended: Time,
    /// The server.
    pub server: u64,
    /// The status of the answer; 0 if it got none.
    pub status: u16,
}

/// The subject has asked for a pod to be evicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eviction {
    /// The event.
    pub event: usize,
    /// Which replica.
    pub replica: u32,
    /// When it asked.
    pub began: Time,
    /// When that was over.
    pub ended: Time,
    /// Namespace and name of the pod.
    pub pod: String,
    /// The status of the answer; 0 if it got none.
    pub status: u16,
}

/// The subject has written to a node, or has deleted one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeWrite {
    /// The event.
    pub event: usize,
    /// Which replica.
    pub replica: u32,
    /// When it asked.
    pub began: Time,
    /// The node.
    pub node: String,
    /// The status of the answer; 0 if it got none.
    pub status: u16,
}

/// Whether an answer says that it was done.
pub(super) fn good(status: u16) -> bool {
    (200..300).contains(&status)
}

impl Order {
    /// Whether the cloud took it.
    pub fn taken(&self) -> bool {
        good(self.status)
    }

    /// Whether the cloud said no. An answer that never came says nothing.
    pub fn refused(&self) -> bool {
        self.status >= 300
    }
}

impl GiveBack {
    /// Whether the cloud took it.
    pub fn taken(&self) -> bool {
        good(self.status)
    }
}

impl Eviction {
    /// Whether it was granted.
    pub fn granted(&self) -> bool {
        good(self.status)
    }

    /// Whether it was not, though the pod was there.
    pub fn refused(&self) -> bool {
        self.status >= 300 && self.status != 404
    }
}

/// Calls that are over, to one API.
pub(super) fn calls(history: &History, to: Api) -> impl Iterator<Item = (usize, Time, &CallEvent)> {
    history.events.iter().enumerate().filter_map(move |(event, happened)| match &happened.what {
        What::Call(call) if call.to == to && !call.open => Some((event, happened.at, call)),
        _ => None,
    })
}

/// Orders, as they ended.
pub fn orders(history: &History) -> Vec<Order> {
    match history.header.subject.provider {
        Provider::Hetzner => orders_of_servers(history),
        Provider::Clusterapi => scaling::orders(history),
        Provider::Karpenter => claims::orders(history),
    }
}

/// The pool that the body of an order names, or else the answer to it.
pub fn ordered_pool(call: &CallEvent, provider: Provider) -> Option<&str> {
    let label = provider.pool_label();
    let named = |body| {
        let body: &Value = body;
        body["labels"][label].as_str().or_else(|| body["metadata"]["labels"][label].as_str())
    };
    [&call.request, &call.answer].into_iter().flatten().find_map(named)
}

fn orders_of_servers(history: &History) -> Vec<Order> {
    let of_servers = |call: &CallEvent| call.method == "POST" && call.path.ends_with("/servers");
    let wish = |call: &CallEvent, key: &str| {
        call.request.as_ref().and_then(|body| body[key].as_str().map(str::to_owned))
    };
    calls(history, Api::Cloud)
        .filter(|(_, _, call)| of_servers(call))
        .map(|(event, ended, call)| Order {
            event,
            replica: call.replica,
            began: call.began,
            ended,
            pool: call
                .request
                .as_ref()
                .and_then(|body| body["labels"][POOL_LABEL].as_str().map(str::to_owned)),
            name: wish(call, "name").unwrap_or_default(),
            status: call.status,
            server: call.answer.as_ref().and_then(|answer| answer["server"]["id"].as_u64()),
        })
        .collect()
}

/// Machines given back, as the calls ended.
pub fn give_backs(history: &History) -> Vec<GiveBack> {
    match history.header.subject.provider {
        Provider::Hetzner => give_backs_of_servers(history),
        Provider::Clusterapi => scaling::give_backs(history),
        Provider::Karpenter => claims::give_backs(history),
    }
}

fn give_backs_of_servers(history: &History) -> Vec<GiveBack> {
    let server = |call: &CallEvent| {
        let (before, id) = call.path.rsplit_once('/')?;
        if call.method == "DELETE" && before.ends_with("/servers") { id.parse().ok() } else { None }
    };
    calls(history, Api::Cloud)
        .filter_map(|(event, ended, call)| {
            let (replica, began, status) = (call.replica, call.began, call.status);
            Some(GiveBack { event, replica, began, ended, server: server(call)?, status })
        })
        .collect()
}

/// Evictions, as the calls ended.
pub fn evictions(history: &History) -> Vec<Eviction> {
    let pod = |call: &CallEvent| {
        let rest = call.path.strip_prefix("/api/v1/namespaces/")?.strip_suffix("/eviction")?;
        let (namespace, name) = rest.split_once("/pods/")?;
        (call.method == "POST").then(|| format!("{namespace}/{name}"))
    };
    calls(history, Api::Kubernetes)
        .filter_map(|(event, ended, call)| {
            let (replica, began, status) = (call.replica, call.began, call.status);
            Some(Eviction { event, replica, began, ended, pod: pod(call)?, status })
        })
        .collect()
}

/// Pods that the subject has asked to be deleted, without asking for their eviction.
pub fn pod_deletions(history: &History) -> Vec<Eviction> {
    let pod = |call: &CallEvent| {
        let (namespace, name) = call.path.strip_prefix("/api/v1/namespaces/")?.split_once("/pods/")?;
        (call.method == "DELETE" && !name.contains('/')).then(|| format!("{namespace}/{name}"))
    };
    calls(history, Api::Kubernetes)
        .filter_map(|(event, ended, call)| {
            let (replica, began, status) = (call.replica, call.began, call.status);
            Some(Eviction { event, replica, began, ended, pod: pod(call)?, status })
        })
        .collect()
}

fn on_nodes(history: &History, methods: &[&str]) -> Vec<NodeWrite> {
    calls(history, Api::Kubernetes)
        .filter(|(_, _, call)| methods.contains(&&*call.method))
        .filter_map(|(event, _, call)| {
            let node = call.path.strip_prefix("/api/v1/nodes/")?.split('/').next()?.to_owned();
            Some(NodeWrite { event, replica: call.replica, began: call.began, node, status: call.status })
        })
        .collect()
}

/// Writes of nodes. What was written, the nodes' own tracks tell: bodies may be protobuf.
pub fn node_writes(history: &History) -> Vec<NodeWrite> {
    on_nodes(history, &["PUT", "PATCH"])
}

/// Node objects that the subject has asked to be deleted.
pub fn node_deletions(history: &History) -> Vec<NodeWrite> {
    on_nodes(history, &["DELETE"])
}

/// Servers that the cloud has agreed to delete, whatever stands in the place of servers, and when it was asked first.
pub fn asked_back(history: &History) -> BTreeMap<u64, Time> {
    let id = |call: &CallEvent| call.path.rsplit_once("/servers/")?.1.parse().ok();
    let asked =
        calls(history, Api::Cloud).filter(|(_, _, call)| call.method == "DELETE" && good(call.status));
    let mut first = BTreeMap::new();
    for (id, began) in asked.filter_map(|(_, _, call)| Some((id(call)?, call.began))) {
        first.entry(id).or_insert(began);
    }
    first
}

/// When, in which event and by which replica the subject's status was published.
pub fn status_writes(history: &History) -> Vec<(Time, usize, u32)> {
    let writes = |call: &CallEvent| {
        let named = call.path.ends_with("/configmaps/cluster-autoscaler-status");
        let first = call.method == "POST" && call.path.ends_with("/configmaps");
        good(call.status) && (first || (named && (call.method == "PUT" || call.method == "PATCH")))
    };
    calls(history, Api::Kubernetes)
        .filter(|(_, _, call)| writes(call))
        .map(|(event, at, call)| (at, event, call.replica))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::history::query::leases::tests::history;

    fn call(to: Api, method: &str, path: &str, status: u16) -> CallEvent {
        CallEvent {
            replica: 0,
            to,
            began: Time::EPOCH,
            method: method.into(),
            path: path.into(),
            query: String::new(),
            agent: String::new(),
            request: None,
            status,
            answer: None,
            bytes: (0, 0),
            open: false,
            fate: None,
            done: true,
        }
    }

    #[test]
    fn calls_are_told_by_method_and_path() {
        let mut order = call(Api::Cloud, "POST", "/v1/servers", 201);
        order.request = Some(json!({"name": "a-1", "labels": {POOL_LABEL: "a"}}));
        order.answer = Some(json!({"server": {"id": 7}}));
        let history = history(
            [
                order,
                call(Api::Cloud, "DELETE", "/v1/servers/7", 423),
                call(Api::Cloud, "POST", "/v1/servers/7/actions/poweron", 201),
                call(Api::Kubernetes, "POST", "/api/v1/namespaces/default/pods/web/eviction", 429),
                call(Api::Kubernetes, "PUT", "/api/v1/nodes/n", 200),
                call(Api::Kubernetes, "DELETE", "/api/v1/nodes/n", 200),
                call(
                    Api::Kubernetes,
                    "PUT",
                    "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status",
                    200,
                ),
            ]
            .into_iter()
            .map(|call| (0, What::Call(call)))
            .collect(),
        );
        let orders = orders(&history);
        assert_eq!(orders.len(), 1);
        assert_eq!(
            (orders[0].pool.as_deref(), orders[0].server, &*orders[0].name),
            (Some("a"), Some(7), "a-1")
        );
        assert_eq!(
            give_backs(&history).iter().map(|g| (g.server, g.taken())).collect::<Vec<_>>(),
            [(7, false)]
        );
        assert_eq!(evictions(&history).iter().map(|e| &*e.pod).collect::<Vec<_>>(), ["default/web"]);
        assert_eq!(node_writes(&history)[0].event, 4);
        assert_eq!(node_deletions(&history)[0].event, 5);
        assert_eq!(status_writes(&history)[0].1, 6);
    }
}
