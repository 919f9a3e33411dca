//! Objects of Cluster API → pools, offers and servers, as the rest of the autoscaler knows them. Pure.

use std::collections::{BTreeMap, BTreeSet};

use kube::ResourceExt as _;
use kube::api::DynamicObject;

use crate::defect::Defect;
use crate::market::Goods;
use crate::quantity;
use crate::settings::{Pool, Settings, span};
use crate::view::{Offer, POOL_LABEL, Resources, Server, Taint};

const DEPLOYMENT: &str = "cluster.x-k8s.io/deployment-name";
const PAUSED: &str = "cluster.x-k8s.io/paused";
const BOUND: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-";
const UNNEEDED: &str = "cluster.x-k8s.io/autoscaling-options-scaledownunneededtime";
const CAPACITY: &str = "capacity.cluster-autoscaler.kubernetes.io/";
/// Machines that have no number of their own are given one from here on.
const NUMBERLESS: u64 = 1 << 40;

/// What was seen at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pools: BTreeMap<String, Pool>,
    offers: BTreeMap<String, Offer>,
    machines: Vec<Machine>,
    kept: Vec<String>,
    versions: BTreeMap<String, String>,
}

/// A machine, or a place for one that is asked for and not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    id: u64,
    /// Empty for a mere place.
    pub(super) name: String,
    pub(super) pool: String,
    status: &'static str,
    provider_id: String,
}

impl Seen {
    pub(super) fn of(
        deployments: &[DynamicObject],
        sets: &[DynamicObject],
        machines: &[DynamicObject],
        settings: &Settings,
    ) -> Self {
        let mut seen = Self { machines: machines.iter().map(machine).collect(), ..Self::default() };
        for deployment in deployments {
            let name = deployment.name_any();
            seen.versions.insert(name.clone(), deployment.resource_version().unwrap_or_default());
            let paused = deployment.annotations().contains_key(PAUSED);
            if paused && !settings.has(Defect::IgnoresPauses) {
                continue;
            }
            let Some(pool) = pool(deployment) else { continue };
            seen.places(&name, deployment.data["spec"]["replicas"].as_u64().unwrap_or(0));
            seen.offers.extend(offer(deployment).map(|offer| (name.clone(), offer)));
            if is_rolling(&name, sets) && !settings.has(Defect::IgnoresRollOuts) {
                seen.kept.push(name.clone());
            }
            seen.pools.insert(name, pool);
        }
        seen
    }

    /// What is asked for and not there yet is on its way, or never comes: a place without a machine.
    fn places(&mut self, pool: &str, wanted: u64) {
        let there = self.machines.iter().filter(|it| it.pool == pool && it.status != "deleting").count();
        for number in u64::try_from(there).unwrap_or(u64::MAX)..wanted {
            let id = NUMBERLESS + hash(pool) % NUMBERLESS + number;
            let (name, pool) = (String::new(), pool.to_owned());
            self.machines.push(Machine {
                id,
                name,
                pool,
                status: "initializing",
                provider_id: String::new(),
            });
        }
    }

    pub(super) fn goods(&self) -> Goods {
        let server = |machine: &Machine| Server {
            id: machine.id,
            name: if machine.name.is_empty() {
                format!("{} {}", machine.pool, machine.id)
            } else {
                machine.name.clone()
            },
            status: machine.status.to_owned(),
            labels: [(POOL_LABEL.to_owned(), machine.pool.clone())].into(),
            provider_id: machine.provider_id.clone(),
        };
        Goods {
            pools: Some(self.pools.clone()),
            servers: self.machines.iter().map(server).collect(),
            offers: self.offers.clone(),
            kept: self.kept.clone(),
        }
    }

    pub(super) fn machine(&self, id: u64) -> Option<&Machine> {
        self.machines.iter().find(|machine| machine.id == id)
    }

    /// The version of a deployment when it was seen.
    pub(super) fn version_of(&self, pool: &str) -> &str {
        self.versions.get(pool).map_or("", String::as_str)
    }
}

fn machine(machine: &DynamicObject) -> Machine {
    let provider_id = machine.data["spec"]["providerID"].as_str().unwrap_or_default().to_owned();
    let number = provider_id.rsplit('/').next().and_then(|number| number.parse().ok());
    let status = &machine.data["status"];
    let failed =
        [status, &status["deprecated"]["v1beta1"]].iter().any(|said| said["failureMessage"].is_string());
    let status = if machine.metadata.deletion_timestamp.is_some() {
        "deleting"
    } else if failed && status["nodeRef"].is_null() {
        "failed"
    } else if status["phase"] == "Running" {
        "running"
    } else {
        "initializing"
    };
    let uid = machine.uid().unwrap_or_default();
    Machine {
        id: number.unwrap_or_else(|| 2 * NUMBERLESS + hash(&uid) % NUMBERLESS),
        name: machine.name_any(),
        pool: machine.labels().get(DEPLOYMENT).cloned().unwrap_or_default(),
        status,
        provider_id,
    }
}

/// A deployment that says how large it may be is a pool.
fn pool(deployment: &DynamicObject) -> Option<Pool> {
    let annotations = deployment.annotations();
    let bound = |which: &str| annotations.get(&format!("{BOUND}{which}-size"))?.parse::<usize>().ok();
    let listed = |what: &str| {
        let text = annotations.get(&format!("{CAPACITY}{what}")).map(String::as_str).unwrap_or_default();
        text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let pair = |part: &String| part.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    Some(Pool {
        name: deployment.name_any(),
        min: bound("min").unwrap_or(0),
        max: bound("max")?,
        server_type: deployment.name_any(),
        location: String::new(),
        labels: listed("labels").iter().filter_map(pair).collect(),
        taints: listed("taints").iter().filter_map(|part| taint(part)).collect(),
        cloud_init: String::new(),
        images: BTreeMap::new(),
        server_labels: BTreeMap::new(),
        unneeded_time: annotations.get(UNNEEDED).and_then(|text| span(text).ok()),
    })
}

fn taint(text: &str) -> Option<Taint> {
    let (named, effect) = text.rsplit_once(':')?;
    let (key, value) = named.split_once('=').unwrap_or((named, ""));
    Some(Taint { key: key.to_owned(), value: value.to_owned(), effect: effect.to_owned() })
}

/// What a machine of it would have room for, as its annotations say.
fn offer(deployment: &DynamicObject) -> Option<Offer> {
    let said = |what: &str| deployment.annotations().get(&format!("{CAPACITY}{what}"));
    Some(Offer {
        id: 0,
        name: deployment.name_any(),
        resources: Resources {
            cpu: quantity::milli(said("cpu")?),
            memory: quantity::whole(said("memory")?),
            pods: said("maxPods").and_then(|count| count.parse().ok()).unwrap_or(110),
            other: BTreeMap::new(),
        },
        architecture: "x86".to_owned(),
        locations: BTreeSet::from([String::new()]),
    })
}

/// Whether a deployment has machines of more than one template.
fn is_rolling(deployment: &str, sets: &[DynamicObject]) -> bool {
    let inhabited = |set: &&DynamicObject| {
        let count = |part: &str| set.data[part]["replicas"].as_u64().unwrap_or(0);
        set.labels().get(DEPLOYMENT).is_some_and(|of| of == deployment) && count("spec") + count("status") > 0
    };
    sets.iter().filter(inhabited).count() > 1
}

fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::settings::tests::told;

    fn object(value: Value) -> DynamicObject {
        serde_json::from_value(value).unwrap()
    }

    fn deployment(annotations: &Value, replicas: u64) -> DynamicObject {
        object(
            json!({"metadata": {"name": "small", "annotations": annotations}, "spec": {"replicas": replicas}}),
        )
    }

    fn bounds() -> Value {
        json!({"cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": "1",
            "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "3",
            "capacity.cluster-autoscaler.kubernetes.io/cpu": "4000m",
            "capacity.cluster-autoscaler.kubernetes.io/memory": "8192Mi",
            "capacity.cluster-autoscaler.kubernetes.io/labels": "a=b,c=d",
            "capacity.cluster-autoscaler.kubernetes.io/taints": "only=small:NoSchedule"})
    }

    #[test]
    fn a_deployment_with_bounds_is_a_pool_with_what_it_promises() {
        let settings = told(&["--cloud-provider=clusterapi"]).unwrap();
        let goods = Seen::of(&[deployment(&bounds(), 0)], &[], &[], &settings).goods();
        let pool = &goods.pools.unwrap()["small"];
        assert_eq!((pool.min, pool.max, pool.labels["c"].as_str()), (1, 3, "d"));
        assert_eq!((pool.taints[0].key.as_str(), pool.taints[0].effect.as_str()), ("only", "NoSchedule"));
        assert_eq!(goods.offers["small"].resources.cpu, 4000);
        assert!(Seen::of(&[deployment(&json!({}), 0)], &[], &[], &settings).pools.is_empty());
    }

    #[test]
    fn a_machine_that_is_asked_for_and_not_there_is_on_its_way() {
        let settings = told(&["--cloud-provider=clusterapi"]).unwrap();
        let machine = object(json!({"metadata": {"name": "m", "uid": "u", "labels": {DEPLOYMENT: "small"}},
            "spec": {"providerID": "hcloud://7"}, "status": {"phase": "Running"}}));
        let goods = Seen::of(&[deployment(&bounds(), 2)], &[], &[machine], &settings).goods();
        let told: Vec<_> = goods.servers.iter().map(|it| (it.id == 7, it.status.as_str())).collect();
        assert_eq!(told, [(true, "running"), (false, "initializing")]);
    }

    #[test]
    fn what_is_paused_is_no_pool_and_what_is_rolled_out_is_kept() {
        let settings = told(&["--cloud-provider=clusterapi"]).unwrap();
        let mut annotations = bounds();
        annotations[PAUSED] = "true".into();
        assert!(Seen::of(&[deployment(&annotations, 1)], &[], &[], &settings).pools.is_empty());
        let set = |name: &str, count: u64| {
            object(
                json!({"metadata": {"name": name, "labels": {DEPLOYMENT: "small"}}, "spec": {"replicas": count}}),
            )
        };
        let kept = |sets: &[DynamicObject]| Seen::of(&[deployment(&bounds(), 1)], sets, &[], &settings).kept;
        assert_eq!(kept(&[set("a", 1), set("b", 1)]), ["small"]);
        assert!(kept(&[set("a", 1), set("b", 0)]).is_empty());
    }
}
