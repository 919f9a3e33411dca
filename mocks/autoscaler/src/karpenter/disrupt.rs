//! Nodes that need not be: empty ones, ones that are not as their pool says, and ones whose pods fit elsewhere. Those that may
//! go are looked at again after a while, tainted, and only then told to go; one whose pods need another node waits for that.

use std::time::Duration;

use k8s_openapi::api::core::v1;
use mock_clock::Time;
use serde_json::json;

use super::machines::Machine;
use super::objects::{DISRUPTED, DO_NOT_DISRUPT, HASH, NodeClaim, NodePool};
use super::provision::hash;
use super::{Karpenter, Sight, has_taint, is_pinned, is_ready, name_of};
use crate::defect::Defect;
use crate::kubernetes::Refusal;
use crate::settings::span;
use crate::view::Pod;

/// After so long what may go is looked at again.
const VALIDATION: Duration = Duration::from_secs(15);
/// So long a replacement may take.
const COMMAND: Duration = Duration::from_secs(600);

/// A node that was chosen and waits for its replacement.
#[derive(Debug)]
pub(super) struct Command {
    node: String,
    replacement: Option<String>,
    since: Time,
}

impl Karpenter {
    pub(super) async fn disrupt(&mut self, sight: &Sight) -> Result<(), Refusal> {
        self.mark_drift(sight).await?;
        let tired = Duration::from_secs(300);
        if self.has(Defect::TiresUntilRestarted)
            && self.memory.began.is_some_and(|began| sight.now > began + tired)
        {
            return Ok(());
        }
        let mut going: Vec<String> = Vec::new();
        for claim in sight.claims.values() {
            let Some(node) = sight.node_of(claim) else { continue };
            if !self.may_go(sight, claim, node) {
                self.memory.candidates.remove(claim.name());
                continue;
            }
            let since = *self.memory.candidates.entry(claim.name().to_owned()).or_insert(sight.now);
            if sight.now < since + VALIDATION || !self.budget_allows(sight, claim.pool(), &going) {
                continue;
            }
            self.memory.candidates.remove(claim.name());
            going.push(claim.name().to_owned());
            self.choose(sight, claim, node).await?;
        }
        Ok(())
    }

    /// Claims whose pool would make them otherwise today say so.
    async fn mark_drift(&self, sight: &Sight) -> Result<(), Refusal> {
        for claim in sight.claims.values().filter(|claim| !claim.is_ending()) {
            let Some(pool) = sight.pools.get(claim.pool()) else { continue };
            let mut now = hash(pool);
            if self.has(Defect::DriftsByWeight) {
                now = format!("{now}{}", pool.spec["weight"]);
            }
            match claim.metadata.annotations.as_ref().and_then(|all| all.get(HASH)) {
                None => {
                    self.patch_claim(claim.name(), json!({"metadata": {"annotations": {HASH: now}}}), false)
                        .await?;
                }
                Some(made) if *made != now => {
                    if !claim.is("Drifted") && !self.has(Defect::NeverDrifts) {
                        self.say(claim, "Drifted", json!({})).await?;
                    }
                }
                Some(_) if claim.is("Drifted") => self.unsay(claim, "Drifted").await?,
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Whether nothing keeps a node, and there is a reason.
    fn may_go(&self, sight: &Sight, claim: &NodeClaim, node: &v1::Node) -> bool {
        let name = name_of(node);
        let annotated = node
            .metadata
            .annotations
            .iter()
            .flatten()
            .any(|(key, value)| key == DO_NOT_DISRUPT && value == "true");
        let kept = |pod: &Pod| {
            (is_pinned(pod) && !self.has(Defect::IgnoresDoNotDisrupt))
                || (sight.is_blocked(pod) && !self.has(Defect::DisruptsDespiteBudgets))
        };
        let idle = claim.is("Initialized")
            && !claim.is_ending()
            && is_ready(node)
            && node.metadata.deletion_timestamp.is_none();
        idle && !has_taint(node, DISRUPTED)
            && !self.memory.commands.contains_key(claim.name())
            && !self.memory.nominated.contains_key(name)
            && (!annotated || self.has(Defect::IgnoresNodeDoNotDisrupt))
            && !sight.tenants(name).any(kept)
            && (self.has_drifted(sight, claim, name) || self.is_spare(sight, claim, name))
    }

    fn has_drifted(&self, sight: &Sight, claim: &NodeClaim, node: &str) -> bool {
        let forgotten = self.has(Defect::KeepsEmptyDrifted) && sight.tenants(node).next().is_none();
        claim.is("Drifted") && !forgotten
    }

    /// Whether a node has been left alone long enough, and its pods, if it has any, fit elsewhere.
    fn is_spare(&self, sight: &Sight, claim: &NodeClaim, node: &str) -> bool {
        let Some(pool) = sight.pools.get(claim.pool()) else { return false };
        let disruption = &pool.spec["disruption"];
        let never = disruption["consolidateAfter"] == "Never" && !self.has(Defect::IgnoresNever);
        let after =
            disruption["consolidateAfter"].as_str().and_then(|text| span(text).ok()).unwrap_or_default();
        let after = if self.has(Defect::ConsolidatesTooEarly) { Duration::ZERO } else { after };
        let changed = self.memory.tenants.get(node).map_or(sight.now, |(_, at)| *at);
        let since = changed.max(claim.since("Initialized").unwrap_or(sight.now));
        if never || sight.now < since + after {
            return false;
        }
        let pods: Vec<Pod> = sight.tenants(node).filter(|pod| !pod.ending).cloned().collect();
        if pods.is_empty() {
            let churns = self.has(Defect::WaitsWhilePodsCome)
                && sight.pods.iter().any(|pod| sight.now < pod.created + Duration::from_secs(30));
            return !self.has(Defect::KeepsEmptyNodes) && !churns;
        }
        if disruption["consolidationPolicy"] == "WhenEmpty" {
            return self.has(Defect::RemovesUsedEmpties);
        }
        let room = self.room(sight);
        let here = room.places.iter().position(|place| place.name == node);
        here.is_some_and(|here| room.without(here, &pods).is_some())
    }

    /// Whether one more of a pool may go.
    fn budget_allows(&self, sight: &Sight, pool: &str, going: &[String]) -> bool {
        if self.has(Defect::IgnoresPoolBudgets) {
            return true;
        }
        let of_pool: Vec<&NodeClaim> =
            sight.claims.values().filter(|claim| claim.pool() == pool && claim.is("Initialized")).collect();
        let busy = of_pool.iter().filter(|claim| {
            let unready = sight.node_of(claim).is_none_or(|node| !is_ready(node));
            claim.is_ending()
                || unready
                || going.iter().any(|name| name == claim.name())
                || self.memory.commands.contains_key(claim.name())
        });
        let allowed = sight.pools.get(pool).map_or(0, |pool| allowed(pool, of_pool.len()));
        busy.count() < allowed
    }

    async fn choose(&mut self, sight: &Sight, claim: &NodeClaim, node: &v1::Node) -> Result<(), Refusal> {
        let name = name_of(node);
        let homeless = claim.is("Drifted") && sight.tenants(name).any(|pod| !pod.ending);
        let machine = claim.machine().and_then(Machine::named).filter(|_| homeless);
        if machine.as_ref().is_some_and(|machine| !self.limits_allow(sight, claim.pool(), machine)) {
            return Ok(());
        }
        if !self.has(Defect::SkipsDisruptionTaint) {
            self.client.taint(name, DISRUPTED, "NoSchedule", false).await?;
        }
        let replacement = match machine {
            Some(machine) => self.make_claim(sight, claim.pool(), &machine).await?,
            None => None,
        };
        if replacement.is_none() || self.has(Defect::ReplacesTooLate) {
            return if self.has(Defect::LeavesDisruptionTaint) {
                Ok(())
            } else {
                self.delete_claim(claim.name()).await
            };
        }
        let command = Command { node: name.to_owned(), replacement, since: sight.now };
        self.memory.commands.insert(claim.name().to_owned(), command);
        Ok(())
    }

    /// What waits for a replacement goes when that is there, and is let go when it is not to be had.
    pub(super) async fn carry_on(&mut self, sight: &Sight) -> Result<(), Refusal> {
        let commands = std::mem::take(&mut self.memory.commands);
        for (claim, command) in commands {
            let new = command.replacement.as_ref().and_then(|name| sight.claims.get(name));
            let failed =
                new.is_none_or(NodeClaim::is_ending) && sight.now > command.since + Duration::from_secs(5);
            if new.is_some_and(|new| new.is("Initialized")) {
                self.delete_claim(&claim).await?;
            } else if failed || sight.now > command.since + COMMAND {
                self.client.untaint(&command.node, DISRUPTED, false).await?;
            } else {
                self.memory.commands.insert(claim, command);
            }
        }
        Ok(())
    }
}

/// How many of so many nodes may go at a time.
fn allowed(pool: &NodePool, nodes: usize) -> usize {
    let budgets = pool.spec["disruption"]["budgets"].as_array();
    let part = |text: &str| match text.strip_suffix('%') {
        Some(percent) => percent.parse::<usize>().map_or(0, |percent| (nodes * percent).div_ceil(100)),
        None => text.parse().unwrap_or(0),
    };
    let told = budgets.into_iter().flatten().filter_map(|budget| budget["nodes"].as_str()).map(part);
    told.min().unwrap_or_else(|| part("10%"))
}
