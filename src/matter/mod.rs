//! Whether what a scenario expects is so: asked event by event, by the run while it goes on and by the judge afterwards,
//! so that both see the same. It judges nothing.

mod deeds;
mod objects;

use mock_clock::Time;
use serde_json::Value;

use crate::document::selected;
use crate::history::{Event, FaultChange, What};
use crate::scenario::{Count, Matter, NodeState, PodState};
use crate::terms::Provider;
use deeds::Deeds;
use objects::Objects;

/// How something is at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether it is as it was expected.
    pub so: bool,
    /// What there was, in words.
    pub says: String,
}

/// Watches whether something is so. It sees every event of a history from the first one on.
pub struct Watch<'a> {
    matter: &'a Matter,
    provider: Provider,
    began: Time,
    objects: Objects,
    deeds: Deeds,
    cost_millis: u64,
    bitten: bool,
}

impl<'a> Watch<'a> {
    /// For a subject that buys in this way.
    pub fn new(matter: &'a Matter, provider: Provider) -> Self {
        Self {
            matter,
            provider,
            began: Time::EPOCH,
            objects: Objects::of(kinds(matter, provider)),
            deeds: Deeds::of(provider),
            cost_millis: 0,
            bitten: false,
        }
    }

    /// The step begins: what the subject does is counted from here on.
    pub fn begin(&mut self, at: Time) {
        self.began = at;
    }

    /// Sees the next event; says whether anything may be otherwise now.
    pub fn see(&mut self, event: &Event) -> bool {
        let changed = match (&event.what, self.matter) {
            (What::Object(object), _) => self.objects.see(object),
            (What::Bill(bill), Matter::Bill { .. }) => {
                self.cost_millis = bill.cost_millis;
                true
            }
            (What::Fault(fault), Matter::Bitten(name)) if fault.name == *name => {
                self.bitten = match fault.change {
                    FaultChange::Injected(_) => false,
                    FaultChange::Bit(_) => true,
                    FaultChange::Healed(times) => self.bitten || times > 0,
                };
                true
            }
            _ => false,
        };
        let counts = matches!(
            self.matter,
            Matter::Servers { .. }
                | Matter::Size { .. }
                | Matter::Ordered(_)
                | Matter::GivenBack(_)
                | Matter::Orders { .. }
        );
        (counts && self.deeds.see(event)) || changed
    }

    /// How it is.
    pub fn state(&self) -> State {
        match self.matter {
            Matter::Running(workload) => {
                let all = self.pods(Some(workload), None);
                let wanted = all - self.pods(Some(workload), Some(PodState::Ending));
                let running = self.pods(Some(workload), Some(PodState::Running));
                let says = format!("{running} of {wanted} pods of {workload} ran");
                State { so: wanted > 0 && running >= wanted, says }
            }
            Matter::Unschedulable(workload) => {
                let many = self.pods(Some(workload), Some(PodState::Unschedulable));
                let says = of(&there(many, "unschedulable pod"), Some(workload));
                State { so: many > 0, says }
            }
            Matter::Gone(workload) => {
                let many = self.pods(Some(workload), None);
                State { so: many == 0, says: of(&there(many, "pod"), Some(workload)) }
            }
            Matter::Pods { workload, state, count } => {
                let many = self.pods(workload.as_deref(), *state);
                counted(*count, many, &in_state(state.as_ref(), "pod"), workload.as_deref())
            }
            Matter::Nodes { pool, state, count } => self.nodes(pool.as_deref(), *state, *count),
            Matter::ReadyNodes { pool, count } => self.nodes(Some(pool), Some(NodeState::Ready), *count),
            Matter::Servers { pool, count } => {
                let many = self.servers(pool.as_deref());
                counted(*count, many, "server", pool.as_deref())
            }
            Matter::Size { pool, count } => {
                let size = self.size(pool);
                State { so: count.fits(size), says: format!("the size of {pool} was {size}") }
            }
            Matter::Ordered(pool) => {
                let many = self.deeds.orders(Some(pool), self.began);
                State { so: many > 0, says: ordered(many, Some(pool)) }
            }
            Matter::Orders { pool, count } => {
                let many = self.deeds.orders(pool.as_deref(), self.began);
                State { so: count.fits(many), says: ordered(many, pool.as_deref()) }
            }
            Matter::GivenBack(pool) => {
                let many = self.deeds.given_back(pool, self.began);
                State { so: many > 0, says: format!("{many} of {pool} were given back") }
            }
            Matter::Bill { at_most_millis } => {
                let cost = self.cost_millis;
                let says = format!("the servers had cost €{}.{:03}", cost / 1000, cost % 1000);
                State { so: cost <= *at_most_millis, says }
            }
            Matter::Bitten(name) => {
                let whom = if self.bitten { "somebody" } else { "nobody" };
                State { so: self.bitten, says: format!("{name} had hurt {whom}") }
            }
            Matter::Object { .. } => self.object(),
        }
    }

    fn pods(&self, workload: Option<&str>, state: Option<PodState>) -> u32 {
        let is = |pod: &&Value| {
            workload.is_none_or(|name| pod["metadata"]["labels"][objects::WORKLOAD] == name)
                && state.is_none_or(|state| objects::pod_is(pod, state))
        };
        objects::many(self.objects.of_kind("Pod").filter(is).count())
    }

    fn nodes(&self, pool: Option<&str>, state: Option<NodeState>, count: Count) -> State {
        let is = |node: &&Value| {
            pool.is_none_or(|pool| objects::pool_of(node) == Some(pool))
                && state.is_none_or(|state| objects::node_is(node, state))
        };
        let many = objects::many(self.objects.of_kind("Node").filter(is).count());
        counted(count, many, &in_state(state.as_ref(), "node"), pool)
    }

    fn servers(&self, pool: Option<&str>) -> u32 {
        let mine = |object: &&Value| pool.is_none_or(|pool| objects::pool_of(object) == Some(pool));
        match self.provider {
            Provider::Clusterapi => objects::many(self.objects.of_kind("Machine").filter(mine).count()),
            Provider::Karpenter if !self.deeds.has_cloud() => {
                objects::many(self.objects.of_kind("NodeClaim").filter(mine).count())
            }
            Provider::Hetzner | Provider::Karpenter => self.deeds.servers(pool, true),
        }
    }

    fn size(&self, pool: &str) -> u32 {
        match self.provider {
            Provider::Hetzner => self.deeds.servers(Some(pool), false),
            Provider::Clusterapi => {
                let deployment = self.objects.named("MachineDeployment", None, Some(pool)).next();
                let replicas = deployment.and_then(|object| object["spec"]["replicas"].as_u64());
                replicas.and_then(|many| u32::try_from(many).ok()).unwrap_or(0)
            }
            Provider::Karpenter => {
                let stays = |claim: &&Value| {
                    objects::pool_of(claim) == Some(pool) && claim["metadata"]["deletionTimestamp"].is_null()
                };
                objects::many(self.objects.of_kind("NodeClaim").filter(stays).count())
            }
        }
    }

    fn object(&self) -> State {
        let Matter::Object { kind, namespace, name, path, condition, is, .. } = self.matter else {
            return State { so: false, says: String::new() };
        };
        let path = path.clone().or_else(|| {
            let condition = condition.as_ref()?;
            Some(format!(".status.conditions[?(@.type=='{condition}')].status"))
        });
        let wanted = is.as_deref().or_else(|| condition.as_ref().map(|_| "True"));
        let objects: Vec<&Value> = self.objects.named(kind, namespace.as_deref(), name.as_deref()).collect();
        let found = |object: &Value| -> Vec<String> {
            let values = path.as_ref().and_then(|path| selected(path, object)).unwrap_or_default();
            values.into_iter().map(plain).collect()
        };
        let fits = |object: &&Value| match (&path, wanted) {
            (None, _) => true,
            (Some(_), None) => !found(object).is_empty(),
            (Some(_), Some(wanted)) => found(object).iter().any(|value| same(value, wanted)),
        };
        let so = objects.iter().any(fits);
        let says = match (objects.as_slice(), name, &path) {
            ([], Some(name), _) => format!("no {kind} {name} was there"),
            ([], None, _) => format!("no {kind} was there"),
            (_, Some(name), None) => format!("{kind} {name} was there"),
            ([one], Some(name), Some(path)) => {
                let found = found(one);
                let was = if found.is_empty() { "nothing".to_owned() } else { found.join(", ") };
                format!("{path} of {kind} {name} was {was}")
            }
            (several, ..) => {
                let fitting = several.iter().filter(|object| fits(object)).count();
                format!("it was so for {fitting} of {} objects of kind {kind}", several.len())
            }
        };
        State { so, says }
    }
}

/// The kinds of objects that something is about.
fn kinds(matter: &Matter, provider: Provider) -> Vec<String> {
    let kinds: &[&str] = match (matter, provider) {
        (Matter::Object { kind, .. }, _) => return vec![kind.clone()],
        (Matter::Running(_) | Matter::Unschedulable(_) | Matter::Gone(_) | Matter::Pods { .. }, _) => {
            &["Pod"]
        }
        (Matter::Nodes { .. } | Matter::ReadyNodes { .. }, _) => &["Node"],
        (Matter::Servers { .. }, Provider::Clusterapi) => &["Machine"],
        (Matter::Size { .. }, Provider::Clusterapi) => &["MachineDeployment"],
        (Matter::Servers { .. } | Matter::Size { .. }, Provider::Karpenter) => &["NodeClaim"],
        _ => &[],
    };
    kinds.iter().map(|kind| (*kind).to_owned()).collect()
}

fn counted(count: Count, many: u32, what: &str, whose: Option<&str>) -> State {
    State { so: count.fits(many), says: of(&there(many, what), whose) }
}

fn there(many: u32, what: &str) -> String {
    match many {
        0 => format!("there was no {what}"),
        1 => format!("there was 1 {what}"),
        _ => format!("there were {many} {what}s"),
    }
}

fn of(what: &str, whose: Option<&str>) -> String {
    whose.map_or_else(|| what.to_owned(), |whose| format!("{what} of {whose}"))
}

fn ordered(many: u32, pool: Option<&str>) -> String {
    let pool = pool.map(|pool| format!(" for {pool}")).unwrap_or_default();
    match many {
        0 => format!("nothing was ordered{pool}"),
        1 => format!("1 machine was ordered{pool}"),
        _ => format!("{many} machines were ordered{pool}"),
    }
}

/// `ready node`, or just `node`.
fn in_state<S: serde::Serialize>(state: Option<&S>, what: &str) -> String {
    let word = serde_json::to_value(state).unwrap_or_default();
    word.as_str().map_or_else(|| what.to_owned(), |word| format!("{word} {what}"))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether a value is the one that is meant: what is true or false is written in several ways.
fn same(value: &str, wanted: &str) -> bool {
    let flag = ["true", "false"].contains(&wanted.to_lowercase().as_str());
    value == wanted || (flag && value.eq_ignore_ascii_case(wanted))
}
