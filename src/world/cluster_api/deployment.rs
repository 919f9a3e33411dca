//! The controller of machine deployments: one set for each template there ever was, as many machines as are asked for in the
//! newest, and a roll-out from the others that never has fewer than asked for.

use std::sync::Arc;

use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::{Value, json};

use super::kinds::{CLUSTER_NAME, DEPLOYMENT_NAME, Kind, PAUSED, REVISION, TEMPLATE_HASH};
use super::reading::{available, is_ending, is_paused, pool_of, replicas};
use super::rounds;
use super::shelf::Object;
use super::shop::Shop;
use crate::world::injuries::Injury;

/// So many machines more than asked for there may be while a template is rolled out.
const SURGE: u64 = 1;
/// What stands in the annotation of a deployment that a fault has paused.
const BY_A_FAULT: &str = "scaleproof";

/// Works for ever.
pub(super) async fn work(shop: Arc<Shop>) {
    rounds::again(shop, Kind::Deployment, |shop, it| async move { reconcile(&shop, &it).await }).await;
}

/// Pauses a deployment as long as somebody wants it paused; whoever else has paused it is left to it.
async fn pause(shop: &Shop, deployment: &DynamicObject, name: &str) {
    let wanted = shop.site.injuries.find(|injury| matches!(injury, Injury::Paused { pool } if pool == name));
    let paused = deployment.annotations().get(PAUSED).is_some_and(|by| by == BY_A_FAULT);
    if wanted.is_some() != paused {
        let by = wanted.as_ref().map(|_| BY_A_FAULT);
        shop.patch(Kind::Deployment, name, &json!({"metadata": {"annotations": {PAUSED: by}}})).await;
        // From here on whoever looks must leave it alone.
        wanted.inspect(|wound| wound.bite(name));
    }
}

async fn reconcile(shop: &Shop, deployment: &DynamicObject) {
    if is_ending(deployment) {
        return;
    }
    let sets = shop.shelf.owned(Kind::Set, deployment);
    let hash = template_hash(deployment);
    let newest = sets.iter().find(|set| set.labels().get(TEMPLATE_HASH) == Some(&hash));
    let aims = aims(deployment, newest, &sets);
    let name = deployment.name_any();
    pause(shop, deployment, &name).await;
    if is_paused(deployment) {
        return;
    }
    if newest.is_none() {
        shop.pace(&name, &name).await;
        let first = sets.iter().map(|set| replicas(set)).sum::<u64>();
        let wanted = replicas(deployment);
        let count = if first == 0 { wanted } else { wanted.min((wanted + SURGE).saturating_sub(first)) };
        shop.create(Kind::Set, new_set(deployment, &hash, count, sets.len() + 1)).await;
        return;
    }
    for (set, count) in aims {
        shop.pace(&name, &name).await;
        shop.patch(Kind::Set, &set, &json!({"spec": {"replicas": count}})).await;
    }
    tell(shop, deployment, newest, &sets).await;
}

/// How many machines each set should have instead of those it has.
fn aims(deployment: &DynamicObject, newest: Option<&Object>, sets: &[Object]) -> Vec<(String, u64)> {
    let Some(newest) = newest else { return Vec::new() };
    let wanted = replicas(deployment);
    let others: Vec<&Object> =
        sets.iter().filter(|set| set.uid() != newest.uid() && replicas(set) > 0).collect();
    let old: u64 = others.iter().map(|set| replicas(set)).sum();
    let mut aims = Vec::new();
    // A deployment whose roll-outs are paused is still made larger and smaller.
    let stands = deployment.data["spec"]["paused"] == true;
    let grown = if stands && old > 0 {
        wanted.saturating_sub(old)
    } else {
        wanted.min(replicas(newest).max((wanted + SURGE).saturating_sub(old)))
    };
    if grown != replicas(newest) {
        aims.push((newest.name_any(), grown));
    }
    // Old ones go as new ones can be used.
    let usable = if stands { grown } else { available(newest).min(grown) };
    let mut kept = wanted.saturating_sub(usable).min(old);
    for set in others {
        let count = replicas(set).min(kept);
        kept -= count;
        if count != replicas(set) {
            aims.push((set.name_any(), count));
        }
    }
    aims
}

async fn tell(shop: &Shop, deployment: &DynamicObject, newest: Option<&Object>, sets: &[Object]) {
    let count = |set: &DynamicObject, what: &str| set.data["status"][what].as_u64().unwrap_or(0);
    let sum = |what: &str| sets.iter().map(|set| count(set, what)).sum::<u64>();
    let (all, usable, wanted) = (sum("replicas"), sum("availableReplicas"), replicas(deployment));
    let updated = newest.map_or(0, |set| count(set, "replicas"));
    let labels = &deployment.data["spec"]["selector"]["matchLabels"];
    let said = labels.as_object().into_iter().flatten();
    let selector: Vec<String> =
        said.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    let phase = match all.cmp(&wanted) {
        std::cmp::Ordering::Less => "ScalingUp",
        std::cmp::Ordering::Greater => "ScalingDown",
        std::cmp::Ordering::Equal if usable < wanted => "ScalingUp",
        std::cmp::Ordering::Equal => "Running",
    };
    let mut status = json!({
        "observedGeneration": deployment.metadata.generation, "selector": selector.join(","), "phase": phase,
        "replicas": all, "readyReplicas": sum("readyReplicas"), "availableReplicas": usable,
    });
    let more = match shop.contract {
        super::Contract::V1beta1 => {
            json!({"updatedReplicas": updated, "unavailableReplicas": wanted.saturating_sub(usable)})
        }
        super::Contract::V1beta2 => json!({"upToDateReplicas": updated}),
    };
    merge(&mut status, more);
    shop.tell(Kind::Deployment, deployment, &status).await;
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

fn new_set(deployment: &DynamicObject, hash: &str, count: u64, revision: usize) -> Value {
    let name = deployment.name_any();
    let spec = &deployment.data["spec"];
    let mut selector = spec["selector"].clone();
    let mut template = spec["template"].clone();
    selector["matchLabels"][TEMPLATE_HASH] = hash.into();
    template["metadata"]["labels"][TEMPLATE_HASH] = hash.into();
    let mut labels = template["metadata"]["labels"].clone();
    labels[DEPLOYMENT_NAME] = name.clone().into();
    labels[CLUSTER_NAME] = spec["clusterName"].clone();
    json!({
        "metadata": {
            "name": format!("{name}-{hash}"), "labels": labels, "annotations": {REVISION: revision.to_string()},
            "ownerReferences": [owner(Kind::Deployment, deployment)],
        },
        "spec": {"clusterName": spec["clusterName"], "replicas": count, "selector": selector, "template": template},
    })
}

/// How something says whose it is.
pub(super) fn owner(kind: Kind, object: &DynamicObject) -> Value {
    json!({
        "apiVersion": object.types.as_ref().map(|types| types.api_version.clone()), "kind": kind.name(),
        "name": object.name_any(), "uid": object.uid(), "controller": true, "blockOwnerDeletion": true,
    })
}

/// What tells one template from another: labels and annotations of it change machines where they are.
fn template_hash(deployment: &DynamicObject) -> String {
    short(&deployment.data["spec"]["template"]["spec"].to_string())
}

/// Five letters and digits that stand for a text: FNV, as names of Kubernetes look.
pub(super) fn short(text: &str) -> String {
    const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mut hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    let mut word = String::new();
    for _ in 0..5 {
        word.push(char::from(LETTERS[usize::try_from(hash % 27).unwrap_or(0)]));
        hash = step(hash / 27, b'.');
    }
    word
}

/// The pool of whatever a deployment owns, for those who hurt it.
pub(super) fn pool_name(object: &DynamicObject) -> String {
    pool_of(object).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, replicas: u64, available: u64) -> Object {
        let object = json!({"metadata": {"name": name, "uid": name}, "spec": {"replicas": replicas},
            "status": {"availableReplicas": available}});
        Arc::new(serde_json::from_value(object).unwrap())
    }

    fn deployment(replicas: u64, paused: bool) -> DynamicObject {
        serde_json::from_value(
            json!({"metadata": {"name": "d"}, "spec": {"replicas": replicas, "paused": paused}}),
        )
        .unwrap()
    }

    /// What becomes of sets of which the first is the newest.
    fn aimed(deployment: &DynamicObject, sets: &[Object]) -> Vec<(String, u64)> {
        aims(deployment, sets.first(), sets)
    }

    fn to(set: &str, count: u64) -> (String, u64) {
        (set.to_owned(), count)
    }

    #[test]
    fn one_set_has_what_is_asked_for() {
        assert_eq!(aimed(&deployment(3, false), &[set("a", 1, 1)]), [to("a", 3)]);
        assert_eq!(aimed(&deployment(0, false), &[set("a", 2, 2)]), [to("a", 0)]);
        assert!(aimed(&deployment(3, false), &[set("a", 3, 0), set("old", 0, 0)]).is_empty());
    }

    #[test]
    fn a_template_is_rolled_out_with_one_more_and_never_one_less() {
        let wanted = deployment(3, false);
        assert_eq!(aimed(&wanted, &[set("new", 0, 0), set("old", 3, 3)]), [to("new", 1)]);
        assert!(aimed(&wanted, &[set("new", 1, 0), set("old", 3, 3)]).is_empty());
        assert_eq!(aimed(&wanted, &[set("new", 1, 1), set("old", 3, 3)]), [to("old", 2)]);
        assert_eq!(aimed(&wanted, &[set("new", 1, 1), set("old", 2, 2)]), [to("new", 2)]);
        assert_eq!(aimed(&wanted, &[set("new", 3, 3), set("old", 1, 1)]), [to("old", 0)]);
    }

    #[test]
    fn what_is_paused_grows_and_shrinks_without_a_roll_out() {
        assert!(aimed(&deployment(3, true), &[set("new", 0, 0), set("old", 3, 3)]).is_empty());
        assert_eq!(aimed(&deployment(4, true), &[set("new", 0, 0), set("old", 3, 3)]), [to("new", 1)]);
        assert_eq!(aimed(&deployment(2, true), &[set("new", 0, 0), set("old", 3, 3)]), [to("old", 2)]);
    }

    #[test]
    fn names_stand_for_texts() {
        assert_ne!(short("a"), short("b"));
        assert_eq!(short("a"), short("a"));
        assert!(short("").bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
    }
}
