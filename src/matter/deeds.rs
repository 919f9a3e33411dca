//! What the subject has bought and given back, and the servers there are.

use std::collections::BTreeMap;

use mock_clock::Time;

use crate::history::query::{CLAIM_POOL_LABEL, ordered_pool, scale_writes};
use crate::history::{CallEvent, Change, Event, ServerEvent, What};
use crate::terms::{Api, Provider};

/// What is known of them.
pub(super) struct Deeds {
    provider: Provider,
    has_cloud: bool,
    /// Those that are there.
    servers: BTreeMap<u64, ServerEvent>,
    /// The pools of servers that are or were there, by their ids, and of claims, by their names.
    pools: BTreeMap<String, String>,
    done: Vec<Deed>,
    /// What tells of the scale of machine deployments.
    scale: Vec<Event>,
}

/// The subject has asked for a machine, or for one to go.
struct Deed {
    at: Time,
    pool: Option<String>,
    buys: bool,
}

impl Deeds {
    pub(super) fn of(provider: Provider) -> Self {
        let (servers, pools) = (BTreeMap::new(), BTreeMap::new());
        Self { provider, has_cloud: false, servers, pools, done: Vec::new(), scale: Vec::new() }
    }

    /// Sees an event; says whether anything may be otherwise now.
    pub(super) fn see(&mut self, event: &Event) -> bool {
        match &event.what {
            What::Server(server) => self.server(server),
            What::Object(object) if object.kind == "MachineDeployment" => self.scale.push(event.clone()),
            What::Object(object) if object.kind == "NodeClaim" => {
                if let Some(pool) = object.object["metadata"]["labels"][CLAIM_POOL_LABEL].as_str() {
                    self.pools.insert(object.name.clone(), pool.to_owned());
                }
            }
            What::Call(call) if !call.open => {
                self.has_cloud |= call.to == Api::Cloud;
                return self.call(event, call);
            }
            _ => return false,
        }
        true
    }

    fn server(&mut self, server: &ServerEvent) {
        self.has_cloud = true;
        if let Some(pool) = Provider::pool_named(&server.labels) {
            self.pools.insert(server.id.to_string(), pool.clone());
        }
        match server.change {
            Change::Deleted => drop(self.servers.remove(&server.id)),
            Change::Added | Change::Modified => drop(self.servers.insert(server.id, server.clone())),
        }
    }

    fn call(&mut self, event: &Event, call: &CallEvent) -> bool {
        let name = call.path.rsplit('/').next().unwrap_or_default();
        let ordered = || ordered_pool(call, self.provider).map(str::to_owned);
        let (buys, pool) = match (self.provider, call.to, call.method.as_str()) {
            (Provider::Clusterapi, Api::Kubernetes, _) if call.path.contains("/machinedeployments/") => {
                self.scale.push(event.clone());
                return true;
            }
            (Provider::Hetzner, Api::Cloud, "POST") if name == "servers" => (true, ordered()),
            (Provider::Hetzner, Api::Cloud, "DELETE") if call.path.contains("/servers/") => {
                (false, self.pools.get(name).cloned())
            }
            (Provider::Karpenter, Api::Kubernetes, "POST") if name == "nodeclaims" => (true, ordered()),
            (Provider::Karpenter, Api::Kubernetes, "DELETE") if call.path.contains("/nodeclaims/") => {
                (false, self.pools.get(name).cloned())
            }
            _ => return false,
        };
        self.done.push(Deed { at: call.began, pool, buys });
        true
    }

    /// Whether there is anything of a cloud.
    pub(super) fn has_cloud(&self) -> bool {
        self.has_cloud
    }

    /// The servers there are; those on their way out only if they are asked for, too.
    pub(super) fn servers(&self, pool: Option<&str>, going: bool) -> u32 {
        let counts = |server: &&ServerEvent| {
            let mine = |pool: &str| Provider::pool_named(&server.labels).is_some_and(|of| of == pool);
            pool.is_none_or(mine) && (going || server.status != "deleting")
        };
        super::objects::many(self.servers.values().filter(counts).count())
    }

    /// How many machines were asked for from a moment on.
    pub(super) fn orders(&self, pool: Option<&str>, since: Time) -> u32 {
        self.asked(pool, since, true)
    }

    /// How many were asked to go from a moment on.
    pub(super) fn given_back(&self, pool: &str, since: Time) -> u32 {
        self.asked(Some(pool), since, false)
    }

    fn asked(&self, pool: Option<&str>, since: Time, buys: bool) -> u32 {
        let mine = |of: Option<&str>| pool.is_none() || pool == of;
        let deeds = self
            .done
            .iter()
            .filter(|deed| deed.buys == buys && deed.at >= since && mine(deed.pool.as_deref()));
        let writes = scale_writes(self.scale.iter());
        let scaled = writes.iter().filter(|write| write.began >= since && mine(Some(&write.pool)));
        let machines: u64 = scaled
            .map(|write| match (buys, write.to) {
                (true, _) => write.more(),
                (false, to) => to.map_or(0, |to| write.from.saturating_sub(to)),
            })
            .sum();
        super::objects::many(deeds.count()).saturating_add(u32::try_from(machines).unwrap_or(u32::MAX))
    }
}
