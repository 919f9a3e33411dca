//! The loop around the scheduler: changes in, one pod a turn, writes out, and a wait for whatever comes first.

use std::convert::Infallible;

use mock_clock::Clock as _;

use crate::api::Api;
use crate::control::{Feed, any};
use crate::store::{Change, Compacted};

use super::decide::Decider;
use super::hands::Pen;
use super::observe::{RESOURCES, Seen};
use super::scheduler::Scheduler;
use super::score::Packing;

/// The scheduler that pods ask for if they ask for none.
const NAME: &str = "default-scheduler";

/// Schedules until the task is dropped.
pub(crate) async fn run(api: Api, seed: u64, packing: Packing) {
    loop {
        let Err(Compacted) = follow(&api, seed, packing).await;
        tracing::debug!("the scheduler fell behind the log of changes and starts anew");
    }
}

async fn follow(api: &Api, seed: u64, packing: Packing) -> Result<Infallible, Compacted> {
    let mut scheduler = Scheduler::new(NAME, Decider::new(seed, packing, 0));
    let mut pen = Pen::new(api, NAME);
    let registry = api.registry();
    let shelf = |(group, plural): &(&str, &'static str)| {
        registry.find(group, "v1", plural).map(|found| (*plural, found.shelf.clone()))
    };
    let shelves: Vec<_> = RESOURCES.iter().filter_map(shelf).collect();
    let mut feeds: Vec<Feed<'_>> = shelves.iter().map(|(_, shelf)| Feed::new(api, shelf)).collect();
    for (feed, (plural, _)) in feeds.iter_mut().zip(&shelves) {
        feed.begin(api, |_, change| tell(&mut scheduler, plural, change, api));
    }
    loop {
        for (feed, (plural, _)) in feeds.iter_mut().zip(&shelves) {
            feed.take(api, |_, change| tell(&mut scheduler, plural, change, api))?;
        }
        if scheduler.turn(api.now(), &mut pen) {
            tokio::task::yield_now().await;
            continue;
        }
        let changed = any(&mut feeds);
        match scheduler.next_due() {
            None => changed.await,
            Some(due) => tokio::select! {
                () = changed => {}
                _ = api.clock().sleep_until(due) => {}
            },
        }
    }
}

fn tell(scheduler: &mut Scheduler, plural: &str, change: &Change, api: &Api) {
    let (object, now) = (&change.object, api.now());
    if change.deleted {
        scheduler.miss(plural, &object.key.namespace, &object.key.name, now);
    } else if let Some(seen) = Seen::parse(plural, &object.json) {
        scheduler.see(&seen, now);
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1 as core;
    use mock_clock::{Time, VirtualClock};
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;
    use crate::api::{Delete, Kind, Write};

    struct Bench {
        api: Api,
        hand: mock_clock::Hand,
    }

    impl Bench {
        fn new() -> Self {
            let (clock, hand) = VirtualClock::manual("2030-01-01T00:00:00Z".parse::<Time>().unwrap());
            let api = Api::new(clock, 1);
            crate::birth::furnish(&api).unwrap();
            tokio::spawn(run(api.clone(), 7, Packing::LeastAllocated));
            Self { api, hand }
        }

        fn make<K: Kind + DeserializeOwned>(&self, namespace: &str, object: Value) {
            let object: K = serde_json::from_value(object).unwrap();
            self.api.make(namespace, &object, &Write::by("test")).unwrap();
        }

        fn node(&self, name: &str, cpu: &str) {
            let has = json!({"cpu": cpu, "memory": "8Gi", "pods": "110"});
            self.make::<core::Node>("", json!({"metadata": {"name": name}}));
            let status = |node: &mut core::Node| {
                node.status = serde_json::from_value(json!({"capacity": has, "allocatable": has})).unwrap();
                Ok(())
            };
            self.api.edit(("", name, "status"), &Write::by("test"), status).unwrap();
            let untaint = |node: &mut core::Node| {
                node.spec = Some(core::NodeSpec::default());
                Ok(())
            };
            self.api.edit(("", name, ""), &Write::by("test"), untaint).unwrap();
        }

        fn pod(&self, name: &str, cpu: &str, spec: &Value) {
            let mut pod = json!({"metadata": {"name": name}, "spec": {
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}});
            for (key, value) in spec.as_object().into_iter().flatten() {
                pod["spec"][key] = value.clone();
            }
            self.make::<core::Pod>("default", pod);
        }

        fn read(&self, name: &str) -> core::Pod {
            self.api.read("default", name).unwrap()
        }

        fn on(&self, name: &str) -> Option<String> {
            self.read(name).spec.unwrap().node_name
        }

        fn scheduled(&self, name: &str) -> core::PodCondition {
            let conditions = self.read(name).status.unwrap().conditions.unwrap();
            conditions.into_iter().find(|one| one.type_ == "PodScheduled").unwrap()
        }

        fn events(&self, reason: &str) -> Vec<(String, Option<i32>)> {
            let events = self.api.read_all::<core::Event>("default");
            let events = events.into_iter().filter(|event| event.reason.as_deref() == Some(reason));
            events.map(|event| (event.message.unwrap_or_default(), event.count)).collect()
        }
    }

    async fn settle() {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_pod_gets_a_node_and_an_event() {
        let bench = Bench::new();
        bench.node("n", "1");
        bench.pod("p", "500m", &Value::Null);
        settle().await;
        assert_eq!(bench.on("p").as_deref(), Some("n"));
        assert_eq!(bench.scheduled("p").status, "True");
        assert_eq!(bench.events("Scheduled"), [("Successfully assigned default/p to n".to_owned(), Some(1))]);
    }

    #[tokio::test]
    async fn a_refused_pod_is_told_once_and_bound_when_a_node_comes() {
        let bench = Bench::new();
        bench.pod("p", "2", &Value::Null);
        settle().await;
        let condition = bench.scheduled("p");
        assert_eq!(
            (condition.status.as_str(), condition.reason.as_deref()),
            ("False", Some("Unschedulable"))
        );
        assert_eq!(condition.message.as_deref(), Some("no nodes available to schedule pods"));
        bench.hand.advance(std::time::Duration::from_secs(2));
        bench.node("small", "1");
        settle().await;
        let small = bench.scheduled("p");
        let expected = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 \
                        nodes are available: 1 Preemption is not helpful for scheduling.";
        assert_eq!(small.message.as_deref(), Some(expected));
        assert_eq!(small.last_transition_time, condition.last_transition_time, "the status is the same");
        let before = bench.read("p").metadata.resource_version;
        bench.hand.advance(std::time::Duration::from_secs(300));
        settle().await;
        assert_eq!(bench.read("p").metadata.resource_version, before, "nothing new is not written");
        assert!(bench.events("FailedScheduling").iter().any(|(_, count)| *count == Some(2)));
        bench.node("large", "4");
        settle().await;
        assert_eq!(bench.on("p").as_deref(), Some("large"));
    }

    #[tokio::test]
    async fn room_is_made_for_the_more_important() {
        let bench = Bench::new();
        bench.node("n", "1");
        bench.pod("low", "1", &Value::Null);
        settle().await;
        assert_eq!(bench.on("low").as_deref(), Some("n"));
        bench.pod("high", "1", &json!({"priorityClassName": "system-cluster-critical"}));
        settle().await;
        let status = bench.read("high").status.unwrap();
        assert_eq!(status.nominated_node_name.as_deref(), Some("n"));
        let low = bench.read("low");
        assert!(low.metadata.deletion_timestamp.is_some(), "the victim goes with grace");
        let conditions = low.status.unwrap().conditions.unwrap();
        assert!(conditions.iter().any(|one| one.reason.as_deref() == Some("PreemptionByScheduler")));
        assert_eq!(bench.events("Preempted").len(), 1);
        bench.api.discard::<core::Pod>("default", "low", &Delete::now(), &Write::by("test")).unwrap();
        settle().await;
        assert_eq!(bench.on("high").as_deref(), Some("n"));
    }

    #[tokio::test]
    async fn a_claim_gets_its_node_before_the_pod_does() {
        let bench = Bench::new();
        bench.node("n", "1");
        bench.make::<k8s_openapi::api::storage::v1::StorageClass>(
            "",
            json!({"metadata": {"name": "wait"}, "provisioner": "csi.x", "volumeBindingMode": "WaitForFirstConsumer"}),
        );
        bench.make::<core::PersistentVolumeClaim>(
            "default",
            json!({"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "wait",
                "resources": {"requests": {"storage": "1Gi"}}}}),
        );
        let volumes = json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]});
        bench.pod("p", "100m", &volumes);
        settle().await;
        assert_eq!(bench.on("p"), None, "the volume is not there yet");
        let bind = |claim: &mut core::PersistentVolumeClaim| {
            let annotations = claim.metadata.annotations.as_mut().unwrap();
            assert_eq!(annotations[super::super::volume::SELECTED_NODE], "n");
            annotations.insert("pv.kubernetes.io/bind-completed".to_owned(), "yes".to_owned());
            claim.spec.as_mut().unwrap().volume_name = Some("pv".to_owned());
            Ok(())
        };
        bench.api.edit(("default", "c", ""), &Write::by("test"), bind).unwrap();
        settle().await;
        assert_eq!(bench.on("p").as_deref(), Some("n"));
    }
}
