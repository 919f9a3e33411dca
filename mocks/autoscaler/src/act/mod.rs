//! Carries out what was decided, each deed in a task of its own: the loop waits for none of them.
//!
//! What becomes of a deed comes back as an [`Outcome`].

mod remove;

use std::sync::Arc;

use mock_clock::Clock as _;
use tokio::sync::mpsc::UnboundedSender;

use crate::decide::{Buy, CANDIDATE, Decision};
use crate::defect::Defect;
use crate::hetzner::CloudError;
use crate::kubernetes::{Events, KubeClient, Kubernetes, Refusal, Told};
use crate::market::Market;
use crate::memory::{Memory, Outcome};
use crate::settings::Settings;
use crate::view::View;

/// Everything that deeds need.
#[derive(Clone, Debug)]
pub(crate) struct Hands {
    pub(crate) settings: Arc<Settings>,
    pub(crate) client: KubeClient,
    pub(crate) caches: Arc<Kubernetes>,
    pub(crate) market: Market,
    pub(crate) network: Option<u64>,
    pub(crate) events: Events,
    pub(crate) outcomes: UnboundedSender<Outcome>,
}

impl Hands {
    /// Begins all that was decided.
    pub(crate) async fn carry_out(&self, decision: Decision, view: &View, memory: &mut Memory) {
        for server in decision.discard {
            self.events.tell(
                Told::Status,
                "DeleteUnregistered",
                format!("removing unregistered server {server}"),
            );
            tokio::spawn(self.clone().discard(server));
        }
        for pool in decision.timed_out {
            let message = format!("nodes added to {pool} failed to register in time");
            self.events.tell(Told::Status, "ScaleUpTimedOut", message);
        }
        for buy in decision.buys {
            self.buy(&buy, view, memory);
        }
        for (pod, why) in decision.hopeless {
            self.events.tell(Told::Pod(&pod), "NotTriggerScaleUp", why);
        }
        for removal in decision.removals {
            let pods = if removal.pods.is_empty() { "empty" } else { "underutilized" };
            self.events.tell(Told::Node(&removal.node), "ScaleDown", format!("removing {pods} node"));
            tokio::spawn(self.clone().remove(removal));
        }
        for node in decision.mark {
            soft(&node, self.client.taint(&node, CANDIDATE, "PreferNoSchedule", false).await);
        }
        for node in decision.unmark {
            soft(&node, self.client.untaint(&node, CANDIDATE, false).await);
        }
    }

    /// Buys machines, each in a task of its own.
    fn buy(&self, buy: &Buy, view: &View, memory: &mut Memory) {
        let Some(pool) = self.settings.pools.get(&buy.pool) else { return };
        let Some(offer) = view.offers.get(&pool.server_type) else { return };
        let to = buy.from + buy.count;
        tracing::info!("scaling {} up from {} to {to}", buy.pool, buy.from);
        let change = format!("{{{} {}->{to} (max: {})}}", buy.pool, buy.from, pool.max);
        self.events.tell(
            Told::Status,
            "ScaledUpGroup",
            format!("Scale-up: group {} size set to {to}", buy.pool),
        );
        for pod in &buy.pods {
            self.events.tell(
                Told::Pod(pod),
                "TriggeredScaleUp",
                format!("pod triggered scale-up: [{change}]"),
            );
        }
        let mut deeds = Vec::new();
        for number in 0..buy.count {
            // As unique as a moment; the clock never gives one twice.
            let name = format!("{}-{:x}{number:02x}", pool.name, self.client.clock.now().unix_nanos());
            memory.purchases.insert(name.clone(), pool.name.clone());
            let (hands, pool, offer, network) = (self.clone(), pool.clone(), offer.clone(), self.network);
            deeds.push(tokio::spawn(async move {
                let bought = hands.market.buy(&pool, &name, &offer, network).await;
                hands.report(&bought, &name, &pool.name);
                bought.ok().flatten()
            }));
        }
        if self.settings.has(Defect::DropsPartialSuccess) {
            let market = self.market.clone();
            tokio::spawn(async move {
                let mut bought = Vec::new();
                for deed in deeds {
                    bought.push(deed.await.ok().flatten());
                }
                if bought.contains(&None) {
                    for id in bought.into_iter().flatten() {
                        market.take_back(id).await;
                    }
                }
            });
        }
    }

    fn report(&self, bought: &Result<Option<u64>, CloudError>, name: &str, pool: &str) {
        let (name, pool) = (name.to_owned(), pool.to_owned());
        let outcome = match bought {
            Ok(server) => Outcome::Bought { server: *server, name, pool },
            Err(error) => {
                tracing::warn!("failed to buy {name}: {error}");
                self.events.tell(
                    Told::Status,
                    "FailedToScaleUpGroup",
                    format!("Scale-up failed for group {pool}: {error}"),
                );
                Outcome::NotBought { name, pool }
            }
        };
        self.tell(outcome);
    }

    async fn discard(self, server: u64) {
        if let Err(error) = self.market.delete(server).await
            && !error.is_not_found()
        {
            tracing::warn!("failed to delete server {server}: {error}");
            self.tell(Outcome::NotDeleted { server });
        }
    }

    fn tell(&self, outcome: Outcome) {
        // At the end of the process nobody listens.
        let _ = self.outcomes.send(outcome);
    }
}

/// A soft taint that could not be written is written by the next loop.
fn soft(node: &str, written: Result<bool, Refusal>) {
    if let Err(refusal) = written {
        tracing::warn!("failed to write the soft taint of {node}: {refusal}");
    }
}
