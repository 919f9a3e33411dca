//! What a step waits for, and how it is seen.

use std::time::Duration;

use mock_clock::{Clock as _, Time};

use super::stage::Stage;
use crate::matter::Watch;
use crate::plan::{Condition, Matter, Span};

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
            Condition::Ordered(pool) => (!self.has_been(&Matter::Ordered(pool.clone())))
                .then(|| format!("nothing was ordered for {pool}")),
            Condition::GivenBack(pool) => (!self.has_been(&Matter::GivenBack(pool.clone())))
                .then(|| format!("nothing of {pool} was given back")),
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

    /// Whether something has happened since the scenario began, as the judge sees it.
    fn has_been(&self, matter: &Matter) -> bool {
        let mut watch = Watch::new(matter, self.provider);
        for event in self.recorder.events() {
            watch.see(&event);
        }
        watch.state().so
    }
}
