//! A pool as Karpenter is told of it: a `NodePool`, in either version of its API.

use serde_json::{Value, json};

use super::kwok;
use crate::terms::{
    Consolidate, Disruption, DisruptionBudget, DisruptionReason, Karpenter, KarpenterApi, KarpenterCloud,
    Period, Pool, Room,
};

/// What a machine has room for, by its name at the cloud.
pub(super) type RoomOf<'a> = &'a dyn Fn(&str) -> Option<Room>;

/// All pools; the name of a machine that Karpenter's cloud does not sell is an error.
pub fn node_pools(
    pools: &[Pool],
    karpenter: &Karpenter,
    unneeded: Period,
    room: RoomOf<'_>,
) -> Result<Vec<Value>, String> {
    pools.iter().map(|pool| node_pool(pool, karpenter, unneeded, room)).collect()
}

/// One pool.
pub fn node_pool(
    pool: &Pool,
    karpenter: &Karpenter,
    unneeded: Period,
    room: RoomOf<'_>,
) -> Result<Value, String> {
    let disruption = pool.disruption.clone().unwrap_or_default();
    let mut spec = json!({
        "nodeClassRef": class(karpenter),
        "requirements": requirements(pool, karpenter, room)?,
    });
    // Nobody writes empty lists: what reads and writes a claim again may drop them, and that is then a change.
    for (taints, field) in [(&pool.taints, "taints"), (&pool.startup_taints, "startupTaints")] {
        if !taints.is_empty() {
            spec[field] = json!(taints);
        }
    }
    if karpenter.api == KarpenterApi::V1 {
        spec["expireAfter"] = json!(disruption.expire_after.map(written));
        spec["terminationGracePeriod"] = json!(disruption.grace.map(written));
    }
    let mut object = json!({
        "apiVersion": format!("karpenter.sh/{}", karpenter.api.word()), "kind": "NodePool",
        "metadata": {"name": pool.name},
        "spec": {
            "template": {"metadata": {"labels": pool.labels}, "spec": spec},
            "disruption": told(&disruption, karpenter.api, unneeded),
            "limits": {"cpu": format!("{}m", pool.room.cpu_milli * u64::from(pool.max))},
            "weight": pool.priority.map(|priority| priority.clamp(1, 100)),
        },
    });
    drop_nulls(&mut object);
    Ok(object)
}

fn class(karpenter: &Karpenter) -> Value {
    let class = &karpenter.node_class;
    match karpenter.api {
        KarpenterApi::V1 => json!({"group": class.group, "kind": class.kind, "name": class.name}),
        KarpenterApi::V1beta1 => {
            json!({"apiVersion": format!("{}/{}", class.group, class.version), "kind": class.kind,
                "name": class.name})
        }
    }
}

fn requirements(pool: &Pool, karpenter: &Karpenter, room: RoomOf<'_>) -> Result<Value, String> {
    let machines = std::iter::once(&pool.machine).chain(&pool.also);
    let named = |machine: &String| match karpenter.cloud {
        KarpenterCloud::Hetzner => Ok(machine.clone()),
        KarpenterCloud::Kwok => room(machine).and_then(|room| kwok::sells(room, "amd64")).ok_or_else(|| {
            format!("tell Karpenter of pool {}: kwok sells nothing like {machine}", pool.name)
        }),
    };
    let machines: Vec<String> = machines.map(named).collect::<Result<_, _>>()?;
    let mut requirements =
        vec![json!({"key": "node.kubernetes.io/instance-type", "operator": "In", "values": machines})];
    // Before 1.0.0 what kwok sells does not say in these words how it is paid.
    if karpenter.cloud != KarpenterCloud::Kwok || karpenter.api != KarpenterApi::V1beta1 {
        requirements
            .push(json!({"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}));
    }
    if karpenter.cloud == KarpenterCloud::Hetzner {
        let zone = json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": [pool.location]});
        requirements.push(zone);
    }
    Ok(json!(requirements))
}

/// How nodes are disrupted, in the words of its API.
fn told(disruption: &Disruption, api: KarpenterApi, unneeded: Period) -> Value {
    let after = disruption.after.unwrap_or(unneeded);
    let budgets = disruption.budgets.as_ref().map(|budgets| budgets.iter().map(budget).collect::<Vec<_>>());
    let (policy, after) = match (disruption.consolidate, api) {
        (Consolidate::WhenEmpty, _) => ("WhenEmpty", Some(written(after))),
        (Consolidate::WhenEmptyOrUnderutilized, KarpenterApi::V1) => {
            ("WhenEmptyOrUnderutilized", Some(written(after)))
        }
        // Before 1.0.0 such nodes do not wait.
        (Consolidate::WhenEmptyOrUnderutilized, KarpenterApi::V1beta1) => ("WhenUnderutilized", None),
        (Consolidate::Never, _) => ("WhenEmpty", Some("Never".to_owned())),
    };
    let expire = (api == KarpenterApi::V1beta1).then(|| disruption.expire_after.map(written));
    json!({"consolidationPolicy": policy, "consolidateAfter": after, "budgets": budgets,
        "expireAfter": expire.flatten()})
}

fn budget(budget: &DisruptionBudget) -> Value {
    let reasons = budget.reasons.iter().map(|reason| match reason {
        DisruptionReason::Empty => "Empty",
        DisruptionReason::Underutilized => "Underutilized",
        DisruptionReason::Drifted => "Drifted",
    });
    let reasons: Vec<&str> = reasons.collect();
    json!({"nodes": budget.nodes, "schedule": budget.schedule, "duration": budget.duration,
        "reasons": Some(reasons).filter(|reasons| !reasons.is_empty())})
}

/// A period as Karpenter reads it: in whole seconds.
fn written(Period(period): Period) -> String {
    format!("{}s", period.as_secs())
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::NodeClass;

    fn karpenter(api: KarpenterApi) -> Karpenter {
        let node_class = NodeClass {
            group: "karpenter.kwok.sh".into(),
            version: "v1alpha1".into(),
            kind: "KWOKNodeClass".into(),
            name: "default".into(),
        };
        Karpenter { api, cloud: KarpenterCloud::Kwok, node_class }
    }

    fn pool() -> Pool {
        serde_json::from_value(json!({
            "name": "small", "machine": "cx33", "location": "fsn1", "min": 0, "max": 5, "priority": 10,
            "room": {"cpu_milli": 4000, "memory_mib": 8192},
            "disruption": {"consolidate": "when_empty", "after": "1m30s", "grace": "5m", "expire_after": "1h",
                "budgets": [{"nodes": "100%", "reasons": ["empty"]}]},
        }))
        .unwrap()
    }

    #[expect(clippy::unnecessary_wraps, reason = "this is what a pool asks for")]
    fn room(_: &str) -> Option<Room> {
        Some(Room { cpu_milli: 4000, memory_mib: 8192 })
    }

    #[test]
    fn a_pool_says_the_same_in_both_versions_of_the_api() {
        let unneeded = Period(std::time::Duration::from_secs(60));
        let now = node_pool(&pool(), &karpenter(KarpenterApi::V1), unneeded, &room).unwrap();
        assert_eq!(now["apiVersion"], "karpenter.sh/v1");
        assert_eq!(now["spec"]["limits"], json!({"cpu": "20000m"}));
        let budgets = json!([{"nodes": "100%", "reasons": ["Empty"]}]);
        let disruption =
            json!({"consolidationPolicy": "WhenEmpty", "consolidateAfter": "90s", "budgets": budgets});
        assert_eq!(now["spec"]["disruption"], disruption);
        let template = &now["spec"]["template"]["spec"];
        assert_eq!(
            (&template["expireAfter"], &template["terminationGracePeriod"]),
            (&json!("3600s"), &json!("300s"))
        );
        assert_eq!(template["requirements"][0]["values"], json!(["c-4x-amd64-linux"]));

        let mut pool = pool();
        pool.disruption = None;
        let before = node_pool(&pool, &karpenter(KarpenterApi::V1beta1), unneeded, &room).unwrap();
        assert_eq!(before["spec"]["disruption"], json!({"consolidationPolicy": "WhenUnderutilized"}));
        let class =
            json!({"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "name": "default"});
        assert_eq!(before["spec"]["template"]["spec"]["nodeClassRef"], class);
        assert!(node_pool(&pool, &karpenter(KarpenterApi::V1), unneeded, &|_| None).is_err());
    }
}
