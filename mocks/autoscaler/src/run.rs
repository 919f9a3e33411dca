//! The loop: look, decide, act, tell, sleep. And what comes before it: caches, cloud, and the taints of a predecessor.

use std::sync::Arc;

use mock_clock::{Clock as _, VirtualClock};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::act::Hands;
use crate::decide::{CANDIDATE, Decision, Expander, TO_BE_DELETED, decide};
use crate::defect::Defect;
use crate::health::Health;
use crate::hetzner::{CloudError, Listed};
use crate::kubernetes::{Events, KubeClient, Kubernetes};
use crate::leader::Term;
use crate::market::Market;
use crate::memory::{Memory, Outcome};
use crate::settings::Settings;
use crate::view::View;

/// How often is looked whether the caches are filled.
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(100);

/// The autoscaler, from the first look to the end of the process.
pub(crate) struct Autoscaler {
    hands: Hands,
    outcomes: UnboundedReceiver<Outcome>,
    memory: Memory,
    listed: Listed,
    expander: Expander,
    told_status: bool,
}

impl Autoscaler {
    pub(crate) async fn start(
        settings: Arc<Settings>,
        client: KubeClient,
        market: Market,
    ) -> Result<Self, CloudError> {
        let network = market.network().await?;
        let caches = Arc::new(Kubernetes::start(client.clone(), &settings));
        while !caches.is_filled() && !settings.has(Defect::ActsBeforeSync) {
            client.clock.sleep(LOOK_AGAIN).await;
        }
        let (sender, outcomes) = unbounded_channel();
        let events = Events::new(client.clone(), &settings);
        let expander = Expander::new(settings.arguments.seed);
        let hands = Hands { settings, client, caches, market, network, events, outcomes: sender };
        let (memory, listed) = (Memory::default(), Listed::default());
        Ok(Self { hands, outcomes, memory, listed, expander, told_status: false })
    }

    /// Loops for ever, and does nothing while the term does not hold.
    pub(crate) async fn run(&mut self, health: &Health, term: &Term) {
        if self.hands.settings.has(Defect::StartsLate) {
            self.clock().sleep(std::time::Duration::from_secs(110)).await;
        }
        self.clean_up().await;
        health.begin();
        let clock = self.clock();
        loop {
            let began = clock.now();
            if !term.holds(began) {
                clock.sleep(LOOK_AGAIN).await;
                continue;
            }
            health.active();
            match self.once().await {
                Ok(()) => health.success(),
                Err(error) => tracing::warn!("failed to look at the cloud: {error}"),
            }
            clock.sleep_until(began + self.hands.settings.arguments.scan_interval).await;
        }
    }

    fn clock(&self) -> VirtualClock {
        self.hands.client.clock.clone()
    }

    /// A predecessor may have died while it removed nodes: they are needed until somebody decides otherwise.
    async fn clean_up(&self) {
        if self.hands.settings.has(Defect::LeavesOldTaints) {
            return;
        }
        for node in self.hands.caches.tainted(TO_BE_DELETED) {
            self.hands.restore(&node).await;
        }
        for node in self.hands.caches.tainted(CANDIDATE) {
            if let Err(refusal) = self.hands.client.untaint(&node, CANDIDATE, false).await {
                tracing::warn!("failed to take the soft taint of {node} away: {refusal}");
            }
        }
    }

    async fn once(&mut self) -> Result<(), CloudError> {
        while let Ok(outcome) = self.outcomes.try_recv() {
            self.listed.forget_servers();
            self.memory.learn(self.clock().now(), &outcome, &self.hands.settings);
        }
        let view = match self.look().await {
            Ok(view) => view,
            Err(error) => {
                self.tell_status(&format!(
                    "autoscalerStatus: Running\nclusterWide:\n  health: unknown ({error})\n"
                ))
                .await;
                return Err(error);
            }
        };
        let settings = Arc::clone(&self.hands.settings);
        let decision = decide(&view, &mut self.memory, &settings, &mut self.expander);
        if !decision.buys.is_empty() || !decision.discard.is_empty() {
            self.listed.forget_servers();
        }
        let status = status(&view, &decision);
        self.hands.carry_out(decision, &view, &mut self.memory).await;
        self.tell_status(&status).await;
        Ok(())
    }

    /// Shows that it is alive, whether or not the cloud is.
    async fn tell_status(&mut self, status: &str) {
        if self.told_status && self.hands.settings.has(Defect::WritesStatusOnce) {
            return;
        }
        self.told_status = true;
        if let Err(refusal) = self.hands.client.write_status(status).await {
            tracing::warn!("failed to write the status: {refusal}");
        }
    }

    async fn look(&mut self) -> Result<View, CloudError> {
        let goods = self.hands.market.look(&mut self.listed).await?;
        if let Some(pools) = goods.pools {
            // Deeds that are under way keep what they were begun with.
            let settings = Settings { pools, ..(*self.hands.settings).clone() };
            self.hands.settings = Arc::new(settings);
        }
        let by_priority = self.hands.settings.arguments.expander.iter().any(|name| name == "priority");
        let priorities = if by_priority { self.hands.client.priorities().await } else { None };
        let mut view = self.hands.caches.view(goods.servers, goods.offers, priorities);
        view.kept = goods.kept.into_iter().collect();
        Ok(view)
    }
}

/// What the status map says.
fn status(view: &View, decision: &Decision) -> String {
    let ready = view.nodes.values().filter(|node| node.ready).count();
    let health = if decision.healthy { "Healthy" } else { "Unhealthy" };
    format!(
        "time: {}\nautoscalerStatus: Running\nclusterWide:\n  health:\n    status: {health}\n    nodeCounts:\n      \
         registered:\n        total: {}\n        ready: {ready}\n",
        view.now,
        view.nodes.len(),
    )
}
