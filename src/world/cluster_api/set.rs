//! The controller of machine sets: as many machines as are asked for; of too many, those that were marked go first, then those
//! that are no use, then as the policy says.

use std::sync::Arc;

use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::{Value, json};

use super::deployment::{owner, pool_name, short};
use super::kinds::{DELETE_MACHINE, Kind, SET_NAME};
use super::reading::{failure, is_ending, is_paused, is_ready, node_of, replicas};
use super::rounds;
use super::shelf::Object;
use super::shop::Shop;
use crate::world::injuries::Injury;

/// Works for ever.
pub(super) async fn work(shop: Arc<Shop>) {
    rounds::again(shop, Kind::Set, |shop, it| async move { reconcile(&shop, &it).await }).await;
}

async fn reconcile(shop: &Shop, set: &DynamicObject) {
    let owner_paused = shop.shelf.get(Kind::Deployment, &pool_name(set)).is_some_and(|it| is_paused(&it));
    if is_ending(set) || is_paused(set) || owner_paused {
        return;
    }
    let there: Vec<Object> = living(shop, set);
    let wanted = usize::try_from(replicas(set)).unwrap_or(usize::MAX);
    if there.len() < wanted && !is_refused(shop, set) {
        shop.pace(&pool_name(set), &set.name_any()).await;
        // While it waited, somebody may have thought better of it.
        let now = shop.shelf.get(Kind::Set, &set.name_any()).map_or(0, |set| replicas(&set));
        for _ in there.len()..usize::try_from(now).unwrap_or(0) {
            let count = shop.count_up(&set.name_any());
            shop.create(Kind::Machine, machine(set, count)).await;
        }
    } else if there.len() > wanted {
        shop.pace(&pool_name(set), &set.name_any()).await;
        let surplus = living(shop, set);
        let now = shop.shelf.get(Kind::Set, &set.name_any()).map_or(0, |set| replicas(&set));
        let too_many = surplus.len().saturating_sub(usize::try_from(now).unwrap_or(usize::MAX));
        for machine in in_order_of_deletion(shop, set, surplus).into_iter().take(too_many) {
            shop.delete(Kind::Machine, &machine.name_any()).await;
        }
    }
    tell(shop, set).await;
}

/// Its machines that have not been told to go.
fn living(shop: &Shop, set: &DynamicObject) -> Vec<Object> {
    shop.shelf.owned(Kind::Machine, set).into_iter().filter(|machine| !is_ending(machine)).collect()
}

/// Whether no machine of it can be made.
fn is_refused(shop: &Shop, set: &DynamicObject) -> bool {
    let pool = pool_name(set);
    let refused = |injury: &Injury| matches!(injury, Injury::MachinesRefused { pool: of } if *of == pool);
    shop.site.injuries.find(refused).inspect(|wound| wound.bite(&set.name_any())).is_some()
}

fn machine(set: &DynamicObject, count: u64) -> Value {
    let name = set.name_any();
    let template = &set.data["spec"]["template"];
    let mut labels = template["metadata"]["labels"].clone();
    labels[SET_NAME] = name.clone().into();
    json!({
        "metadata": {
            "name": format!("{name}-{}", short(&format!("{name}/{count}"))),
            "labels": labels, "annotations": template["metadata"]["annotations"],
            "ownerReferences": [owner(Kind::Set, set)],
        },
        "spec": template["spec"],
    })
}

/// How gladly a machine is given up: the higher, the sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Priority {
    Useful,
    NoUse,
    Marked,
}

fn in_order_of_deletion(shop: &Shop, set: &DynamicObject, mut machines: Vec<Object>) -> Vec<Object> {
    let policy = policy(set);
    let age = |machine: &Object| machine.metadata.creation_timestamp.clone();
    machines.sort_by(|one, other| {
        let ages = match policy {
            "Oldest" => age(one).cmp(&age(other)),
            "Newest" => age(other).cmp(&age(one)),
            _ => std::cmp::Ordering::Equal,
        };
        priority(shop, other).cmp(&priority(shop, one)).then(ages).then(one.name_any().cmp(&other.name_any()))
    });
    machines
}

/// Who goes first of those that are all of use.
fn policy(set: &DynamicObject) -> &str {
    let spec = &set.data["spec"];
    spec["deletePolicy"].as_str().or(spec["deletion"]["order"].as_str()).unwrap_or("Random")
}

fn priority(shop: &Shop, machine: &Object) -> Priority {
    if machine.annotations().contains_key(DELETE_MACHINE) {
        return Priority::Marked;
    }
    let node = node_of(machine).and_then(|name| shop.shelf.get(Kind::Node, name));
    let is_of_use = failure(machine).is_none() && node.is_some_and(|node| is_ready(&node));
    if is_of_use { Priority::Useful } else { Priority::NoUse }
}

async fn tell(shop: &Shop, set: &DynamicObject) {
    let machines = shop.shelf.owned(Kind::Machine, set);
    let node = |machine: &Object| shop.shelf.get(Kind::Node, node_of(machine)?);
    let ready = machines.iter().filter(|machine| node(machine).is_some_and(|node| is_ready(&node))).count();
    let labels = set.data["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten();
    let selector: Vec<String> =
        labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    let status = json!({
        "observedGeneration": set.metadata.generation, "selector": selector.join(","),
        "replicas": machines.len(), "readyReplicas": ready, "availableReplicas": ready,
    });
    shop.tell(Kind::Set, set, &status).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_machines_go_before_useless_ones_and_those_before_the_rest() {
        assert!(Priority::Marked > Priority::NoUse && Priority::NoUse > Priority::Useful);
    }

    #[test]
    fn both_versions_say_their_policy() {
        let set = |spec: Value| {
            serde_json::from_value::<DynamicObject>(json!({"metadata": {}, "spec": spec})).unwrap()
        };
        assert_eq!(policy(&set(json!({"deletePolicy": "Oldest"}))), "Oldest");
        assert_eq!(policy(&set(json!({"deletion": {"order": "Newest"}}))), "Newest");
        assert_eq!(policy(&set(json!({}))), "Random");
    }
}
