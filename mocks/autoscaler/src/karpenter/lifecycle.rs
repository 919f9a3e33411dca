//! From a claim to a node that can be used: held, launched, registered, initialised; or given up.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};

use super::machines::Machine;
use super::objects::{FINALIZER, INITIALIZED, NodeClaim, REGISTERED, TYPE, UNREGISTERED, at};
use super::{Karpenter, Sight, has_taint, is_ready, name_of};
use crate::defect::Defect;
use crate::kubernetes::Refusal;
use crate::settings::span;

/// How long a claim may take to have a node.
const REGISTRATION: Duration = Duration::from_secs(15 * 60);

impl Karpenter {
    pub(super) async fn lifecycle(&mut self, sight: &Sight) -> Result<(), Refusal> {
        for claim in sight.claims.values().filter(|claim| !claim.is_ending()) {
            let node = sight.node_of(claim);
            if !claim.is_held() && !self.has(Defect::ClaimsWithoutFinalizer) {
                self.hold(claim).await?;
            } else if !claim.is("Launched") {
                self.launch(claim).await?;
            } else if !claim.is("Registered") {
                match node {
                    Some(node) => self.register(claim, node).await?,
                    None => self.give_up(claim, sight).await?,
                }
            } else if let Some(node) = node {
                if !claim.is("Initialized") {
                    self.initialize(claim, node).await?;
                }
                self.expire(claim, sight).await?;
            } else {
                self.delete_claim(claim.name()).await?;
            }
        }
        Ok(())
    }

    async fn hold(&self, claim: &NodeClaim) -> Result<(), Refusal> {
        let patch = json!({"metadata": {"finalizers": [FINALIZER], "resourceVersion": claim.metadata.resource_version}});
        self.patch_claim(claim.name(), patch, false).await
    }

    /// The node is the machine: it is called as its claim, so that a second one cannot be made.
    async fn launch(&self, claim: &NodeClaim) -> Result<(), Refusal> {
        let Some(machine) = claim.machine().and_then(Machine::named) else { return Ok(()) };
        let id = format!("kwok://{}", claim.name());
        let mut labels = claim.metadata.labels.clone().unwrap_or_default();
        labels.extend(own_labels(&machine, claim.name()));
        let node = json!({
            "metadata": {"name": claim.name(), "labels": labels},
            "spec": {"providerID": id, "taints": [{"key": UNREGISTERED, "effect": "NoExecute"}]},
            "status": {"capacity": machine.quantities(), "allocatable": machine.quantities()},
        });
        let Ok(node) = serde_json::from_value::<v1::Node>(node) else { return Ok(()) };
        let nodes: Api<v1::Node> = Api::all(self.client.client.clone());
        match self.client.ask(nodes.create(&PostParams::default(), &node)).await {
            Err(refusal) if refusal.code != 409 => return Err(refusal),
            _ => {}
        }
        let status =
            json!({"providerID": id, "capacity": machine.quantities(), "allocatable": machine.quantities()});
        self.say(claim, "Launched", status).await
    }

    async fn register(&self, claim: &NodeClaim, node: &v1::Node) -> Result<(), Refusal> {
        let half = self.has(Defect::RegistersByHalves);
        let taints = taints(&claim.spec["taints"]).into_iter().chain(taints(&claim.spec["startupTaints"]));
        let taints: Vec<v1::Taint> = taints.collect();
        let owner = owner(claim);
        let labels = claim.metadata.labels.clone().unwrap_or_default();
        let registered = |node: &mut v1::Node| {
            let spec = node.spec.get_or_insert_default();
            let on = spec.taints.get_or_insert_default();
            on.retain(|taint| taint.key != UNREGISTERED);
            let missing: Vec<v1::Taint> = taints
                .iter()
                .filter(|new| !on.iter().any(|old| old.key == new.key && old.effect == new.effect))
                .cloned()
                .collect();
            on.extend(missing);
            if !half {
                node.metadata.finalizers.get_or_insert_default().push(FINALIZER.to_owned());
                node.metadata.owner_references = Some(vec![owner.clone()]);
            }
            let of_node = node.metadata.labels.get_or_insert_default();
            of_node.extend(labels.clone());
            of_node.insert(REGISTERED.to_owned(), "true".to_owned());
            true
        };
        self.client.change_node(name_of(node), registered).await?;
        self.say(claim, "Registered", json!({"nodeName": name_of(node)})).await
    }

    async fn initialize(&self, claim: &NodeClaim, node: &v1::Node) -> Result<(), Refusal> {
        let starting = taints(&claim.spec["startupTaints"]).iter().any(|taint| has_taint(node, &taint.key));
        if (!is_ready(node) || starting) && !self.has(Defect::InitializesTooEarly) {
            if self.has(Defect::DisruptsStartingNodes) && self.is_older(claim, Duration::from_secs(20)) {
                return self.delete_claim(claim.name()).await;
            }
            return Ok(());
        }
        let label = |node: &mut v1::Node| {
            node.metadata.labels.get_or_insert_default().insert(INITIALIZED.to_owned(), "true".to_owned());
            true
        };
        self.client.change_node(name_of(node), label).await?;
        self.say(claim, "Initialized", json!({})).await
    }

    /// A claim that never had a node is not waited for any longer.
    async fn give_up(&self, claim: &NodeClaim, _: &Sight) -> Result<(), Refusal> {
        if self.is_older(claim, REGISTRATION) && !self.has(Defect::LeaksUnregisteredServers) {
            return self.delete_claim(claim.name()).await;
        }
        Ok(())
    }

    /// A node that is too old goes, whatever budgets say.
    async fn expire(&self, claim: &NodeClaim, _: &Sight) -> Result<(), Refusal> {
        let age = claim.spec["expireAfter"].as_str().and_then(|text| span(text).ok());
        match age {
            Some(age) if self.is_older(claim, age) && !self.has(Defect::NeverExpires) => {
                self.delete_claim(claim.name()).await
            }
            _ => Ok(()),
        }
    }

    fn is_older(&self, claim: &NodeClaim, age: Duration) -> bool {
        use mock_clock::Clock as _;
        let created = claim.metadata.creation_timestamp.as_ref().map(at);
        created.is_some_and(|created| self.client.clock.now() >= created + age)
    }
}

/// What every node of a machine says of itself.
pub(super) fn own_labels(machine: &Machine, name: &str) -> BTreeMap<String, String> {
    let pairs = [
        (TYPE, machine.name.as_str()),
        ("kubernetes.io/arch", machine.architecture.as_str()),
        ("kubernetes.io/os", "linux"),
        ("kubernetes.io/hostname", name),
        ("karpenter.sh/capacity-type", "on-demand"),
        ("topology.kubernetes.io/zone", "test-zone-a"),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

pub(super) fn taints(written: &Value) -> Vec<v1::Taint> {
    serde_json::from_value(written.clone()).unwrap_or_default()
}

fn owner(claim: &NodeClaim) -> OwnerReference {
    OwnerReference {
        api_version: "karpenter.sh/v1".to_owned(),
        kind: "NodeClaim".to_owned(),
        name: claim.name().to_owned(),
        uid: claim.metadata.uid.clone().unwrap_or_default(),
        block_owner_deletion: Some(true),
        controller: None,
    }
}
