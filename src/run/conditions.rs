//! What a step waits for, and how it is seen.

use std::sync::Arc;
use std::time::Duration;

use mock_clock::{Clock as _, Time};

use super::stage::Stage;
use crate::history::query::{CLAIM_POOL_LABEL, scale_writes};
use crate::history::{Event, What};
use crate::plan::{Condition, Span};
use crate::terms::{Api, Provider};

/// By then the history has it, too.
const TOLD: Duration = Duration::from_millis(100);
/// How often what nobody tells is looked at.
const LOOK: Duration = Duration::from_secs(1);

impl Stage {
    /// Waits for a condition; says what was there instead if it has not come in its time.
    pub(super) async fn until(&mut self, condition: &Condition, at_most: Duration) -> Option<String> {
        let deadline = self.clock.now() + at_most;
        let mut nodes = self.observer.live().changes();
        let mut servers = self.machine_changes();
        let mut since = None;
        loop {
            nodes.borrow_and_update();
            servers.borrow_and_update();
            let lacks = self.lacks(condition);
            since = since.filter(|_| lacks.is_none()).or_else(|| lacks.is_none().then(|| self.clock.now()));
            let Some(instead) = lacks.or_else(|| self.lasts_too_short(condition, since)) else {
                // The next step begins when the history shows it: what it expects is judged by that.
                self.clock.sleep(TOLD).await;
                return None;
            };
            if self.clock.now() >= deadline {
                return Some(instead);
            }
            tokio::select! {
                _ = nodes.changed() => {}
                _ = servers.changed() => {}
                _ = self.clock.sleep(LOOK) => {}
            }
        }
    }

    /// What is there instead of what is waited for; nothing if it is there.
    fn lacks(&self, condition: &Condition) -> Option<String> {
        let live = self.observer.live();
        let pods = |workload: &str| live.pods(crate::world::LABEL, workload);
        match condition {
            Condition::Running(workload) | Condition::RunningFor { workload, .. } => {
                let count = pods(workload);
                let wanted = count.all - count.ending;
                (wanted == 0 || count.running < wanted)
                    .then(|| format!("{} of {wanted} pods of {workload} ran", count.running))
            }
            Condition::Unschedulable(workload) => {
                (pods(workload).unschedulable == 0).then(|| format!("no pod of {workload} was unschedulable"))
            }
            Condition::Gone(workload) => {
                let all = pods(workload).all;
                (all > 0).then(|| format!("{all} pods of {workload} were there"))
            }
            Condition::Servers { pool, count } => {
                let there = self.machines_by_pool().get(pool).copied().unwrap_or(0);
                (there != *count).then(|| format!("{pool} had {there} servers"))
            }
            Condition::ReadyNodes { pool, count } => {
                let ready = live.ready_nodes(self.pool_label, pool);
                (ready != *count as usize).then(|| format!("{pool} had {ready} ready nodes"))
            }
            Condition::Ordered(pool) => {
                let events = self.events();
                let more = self.scaled(&events, pool, |from, to| to > from);
                let orders = more || events.iter().any(|event| is_order(event, pool));
                (!orders).then(|| format!("nothing was ordered for {pool}"))
            }
            Condition::GivenBack(pool) => {
                let events = self.events();
                let fewer = self.scaled(&events, pool, |from, to| to < from);
                let back = fewer || events.iter().any(|event| gives_back(event, pool, &events));
                (!back).then(|| format!("nothing of {pool} was given back"))
            }
            Condition::Bitten(name) => {
                (self.healing.ward().bites(name) == 0).then(|| format!("{name} had hurt nobody"))
            }
            Condition::BittenTimes { fault, times } => {
                let bites = self.healing.ward().bites(fault);
                (bites < u64::from(*times)).then(|| format!("{fault} had hurt {bites} times"))
            }
            Condition::ServerStatus { pool, status, count } => {
                let there = self.cloud.servers_in(pool, status);
                let lacks = count.map_or(there == 0, |count| there != count);
                lacks.then(|| format!("{there} servers of {pool} were {status}"))
            }
        }
    }

    /// That something is as it is waited for, and has not been for long enough.
    fn lasts_too_short(&self, condition: &Condition, since: Option<Time>) -> Option<String> {
        let Condition::RunningFor { workload, lasting: Span::Fixed(lasting) } = condition else {
            return None;
        };
        let lasts = self.clock.now() - since?;
        (lasts < lasting.0).then(|| format!("all pods of {workload} have run for {} s only", lasts.as_secs()))
    }

    /// Whether the subject has written the size of a pool's deployment in this way.
    fn scaled(&self, events: &[Arc<Event>], pool: &str, how: impl Fn(u64, u64) -> bool) -> bool {
        if self.cluster_api.is_none() {
            return false;
        }
        let writes = scale_writes(events.iter().map(Arc::as_ref));
        writes.iter().any(|write| write.pool == pool && write.to.is_some_and(|to| how(write.from, to)))
    }

    fn events(&self) -> Vec<Arc<Event>> {
        self.recorder.events()
    }
}

fn is_order(event: &Event, pool: &str) -> bool {
    let What::Call(call) = &event.what else { return false };
    let Some(body) = call.request.as_ref().filter(|_| call.method == "POST") else { return false };
    match call.to {
        Api::Cloud => {
            let of = |provider: &Provider| body["labels"][provider.pool_label()] == pool;
            call.path.ends_with("/servers") && Provider::ALL.iter().any(of)
        }
        Api::Kubernetes => {
            call.path.ends_with("/nodeclaims") && body["metadata"]["labels"][CLAIM_POOL_LABEL] == pool
        }
    }
}

fn gives_back(event: &Event, pool: &str, events: &[Arc<Event>]) -> bool {
    let What::Call(call) = &event.what else { return false };
    let Some((of, name)) = call.path.rsplit_once('/').filter(|_| call.method == "DELETE") else {
        return false;
    };
    let claims = call.to == Api::Kubernetes && of.ends_with("/nodeclaims");
    let servers = call.to == Api::Cloud;
    events.iter().any(|event| match &event.what {
        What::Server(server) if servers => {
            name.parse::<u64>() == Ok(server.id)
                && Provider::pool_named(&server.labels).is_some_and(|of| of == pool)
        }
        What::Object(claim) if claims && claim.kind == "NodeClaim" => {
            claim.name == name && claim.object["metadata"]["labels"][CLAIM_POOL_LABEL] == pool
        }
        _ => false,
    })
}
