//! A bought machine becomes a node, pods run on it, and it goes: cluster, cloud and world together, on a virtual clock.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

#[path = "world/stand.rs"]
mod stand;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::Api;
use kube::api::{DeleteParams, ListParams};
use mock_clock::{Clock as _, Mode, Time, VirtualClock};
use mock_hetzner::Request;
use mock_kubernetes::ControlPlane;
use scaleproof::cloud;
use scaleproof::cluster::{Cluster as _, Existing, Observer, PodCount};
use scaleproof::history::query::POOL_LABEL;
use scaleproof::history::{Change, What};
use scaleproof::terms::{Room, Stage, Taint};
use scaleproof::world::{Apart, FirstBite, FixedNode, LABEL, Owner, Volume, Workload};
use serde_json::{Value, json};
use stand::{Events, Stand, UNINITIALIZED, condition, has_taint, pool, quietly, web, within};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bought_server_becomes_a_ready_node_stage_by_stage() {
    let stand = Stand::start(&[pool("small", 0)]).await;
    let id = stand.buy("small-1", "small");
    stand.ready_nodes(120, "small", 1).await;

    let running = {
        let events = stand.events.lock().unwrap();
        let on = |what: &What| matches!(what, What::Server(server) if server.status == "running");
        events.iter().find(|(_, what)| on(what)).unwrap().0
    };
    let there = stand.first("small-1", "anything", |_| true);
    let known = stand.first("small-1", "a provider id", |node| node["spec"]["providerID"] != Value::Null);
    let network = stand.first("small-1", "a network", |node| {
        condition(node, "NetworkUnavailable")["status"] == "False"
            && condition(node, "Ready")["message"] == "CSINode is not yet initialized"
    });
    let drivers = stand.first("small-1", "drivers", |node| {
        condition(node, "Ready")["status"] == "False"
            && condition(node, "Ready")["message"].as_str().unwrap().contains("runtime status")
    });
    let ready = stand.first("small-1", "readiness", |node| condition(node, "Ready")["status"] == "True");
    // As long as the table says, a tenth more or less, on a grid of a quarter of a second, and what the machine needs.
    assert!(within(there - running, 22_500, 29_000), "boot and registration: {:?}", there - running);
    assert!(within(known - there, 1_800, 3_500), "provider id: {:?}", known - there);
    assert!(within(network - there, 9_000, 12_500), "network: {:?}", network - there);
    assert!(within(drivers - network, 3_600, 5_500), "drivers: {:?}", drivers - network);
    assert!(within(ready - drivers, 1_800, 3_500), "readiness: {:?}", ready - drivers);

    let told = stand.told("Node", "small-1");
    let (first, last) = (&told.first().unwrap().2, &told.last().unwrap().2);
    for taint in [UNINITIALIZED, "node.kubernetes.io/not-ready", "only"] {
        assert!(has_taint(first, taint), "{taint}: {first:#}");
    }
    assert!(
        condition(first, "Ready")["message"].as_str().unwrap().contains("NetworkPluginNotReady"),
        "{first:#}"
    );
    assert!(!has_taint(last, UNINITIALIZED), "{last:#}");
    assert_eq!(last["spec"]["providerID"], format!("hcloud://{id}"));
    let labels = &last["metadata"]["labels"];
    for (label, value) in [
        ("kubernetes.io/hostname", "small-1"),
        ("kubernetes.io/arch", "amd64"),
        ("kind", "small"),
        (POOL_LABEL, "small"),
        ("node.kubernetes.io/instance-type", "cx33"),
        ("topology.kubernetes.io/region", "fsn1"),
        ("csi.hetzner.cloud/location", "fsn1"),
    ] {
        assert_eq!(labels[label], value, "{labels:#}");
    }
    stand.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_run_on_it_and_it_goes_with_its_server() {
    let stand = Stand::start(&[pool("small", 2)]).await;
    stand.ready_nodes(1, "small", 2).await;
    stand.world.deploy(&web(6)).await.unwrap();
    stand.running(60, "web", 6).await;

    let id = stand.buy("small-x", "small");
    stand.ready_nodes(120, "small", 3).await;
    let before = stand.clock.now();
    stand.ask("DELETE", &format!("/v1/servers/{id}"), &json!({}));
    stand.until(120, "the node is gone", |live| live.nodes(POOL_LABEL, "small").len() == 2).await;
    let told = stand.told("Node", "small-x");
    let ready = condition(&told[told.len() - 2].2, "Ready");
    assert_eq!(ready["status"], "Unknown", "it was not ready before it went");
    assert!(within(stand.clock.now() - before, 35_000, 62_000), "{:?}", stand.clock.now() - before);
    stand.until(60, "its lease is gone", |live| live.stray_leases() == 0).await;

    stand.world.scale(&web(6), 1).await.unwrap();
    let one = PodCount { all: 1, running: 1, ..PodCount::default() };
    stand.until(60, "one pod is left", |live| live.pods(LABEL, "web") == one).await;
    stand.world.remove(&web(6)).await.unwrap();
    stand.until(60, "none is left", |live| live.pods(LABEL, "web").all == 0).await;
    stand.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_network_plugin_holds_it_until_it_is_healed() {
    let stand = Stand::start(&[pool("small", 0)]).await;
    let bitten = Arc::new(Mutex::new(Vec::new()));
    let bite = Arc::clone(&bitten);
    let first: FirstBite = Box::new(move |whom| bite.lock().unwrap().push(whom.to_owned()));
    let slow = stand.world.slow_stage(Some("small"), Stage::Network, Duration::from_secs(3600), first);
    let mut agents = Workload { owner: Owner::DaemonSet, ..web(1) };
    agents.tolerates.push(Taint {
        key: "node.kubernetes.io/not-ready".into(),
        value: String::new(),
        effect: "NoSchedule".into(),
    });
    stand.world.deploy(&agents).await.unwrap();
    stand.buy("late", "small");
    stand.until(120, "it is there", |live| live.nodes(POOL_LABEL, "small").len() == 1).await;
    stand.clock.sleep(Duration::from_secs(600)).await;
    let node = stand.live().object("Node", "", "late").unwrap();
    let ready = condition(&node, "Ready");
    assert_eq!(ready["status"], "False");
    assert!(ready["message"].as_str().unwrap().contains("NetworkPluginNotReady"), "{ready}");
    assert_ne!(node["spec"]["providerID"], Value::Null, "only the network is late");
    let waits = PodCount { all: 1, pending: 1, ..PodCount::default() };
    assert_eq!(stand.live().pods(LABEL, "web"), waits, "no pod starts without a network");
    assert_eq!(slow.heal(), 1);
    assert_eq!(*bitten.lock().unwrap(), ["late"]);
    stand.ready_nodes(15, "small", 1).await;
    stand.running(15, "web", 1).await;
    stand.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_flap_fall_silent_and_come_back() {
    let stand = Stand::start(&[pool("small", 3)]).await;
    stand.ready_nodes(1, "small", 3).await;
    let flapping = stand.world.flapping("small", Duration::from_secs(30), quietly());
    stand.ready_nodes(5, "small", 0).await;
    stand.ready_nodes(35, "small", 3).await;
    stand.ready_nodes(35, "small", 0).await;
    assert!(flapping.heal() >= 6);
    stand.ready_nodes(5, "small", 3).await;

    let silent = stand.world.silent_kubelets("small", Some(1), quietly());
    let silenced = stand.clock.now();
    stand.ready_nodes(60, "small", 2).await;
    assert!(stand.clock.now() - silenced > Duration::from_secs(30), "leases are good for a while");
    let told = stand.told("Node", "small-0");
    assert_eq!(condition(&told.last().unwrap().2, "Ready")["status"], "Unknown", "the first by name");
    assert!(silent.heal() > 0);
    stand.ready_nodes(15, "small", 3).await;
    let off = json!({"deed": "power_off", "server": "small-1"});
    stand.cloud.deed(&off).unwrap();
    stand.ready_nodes(70, "small", 2).await;
    stand
        .until(15, "its node is marked", |live| {
            let node = live.object("Node", "", "small-1").unwrap();
            has_taint(&node, "node.cloudprovider.kubernetes.io/shutdown")
        })
        .await;
    stand.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_nobody_introduces_or_that_never_come() {
    let stand = Stand::start(&[pool("small", 0)]).await;
    let careless = stand.world.no_cloud_provider(None, quietly());
    let lonely = stand.buy("lonely", "small");
    stand.ready_nodes(120, "small", 1).await;
    let node = stand.live().object("Node", "", "lonely").unwrap();
    assert!(!has_taint(&node, UNINITIALIZED) && node["spec"]["providerID"].is_null(), "{node:#}");
    assert_eq!(careless.heal(), 1);

    let down = stand.world.controller_down(quietly());
    stand.buy("waiting", "small");
    stand.ready_nodes(120, "small", 2).await;
    stand.ask("DELETE", &format!("/v1/servers/{lonely}"), &json!({}));
    stand.clock.sleep(Duration::from_secs(300)).await;
    let node = stand.live().object("Node", "", "waiting").unwrap();
    assert!(has_taint(&node, UNINITIALIZED) && node["spec"]["providerID"].is_null(), "{node:#}");
    assert!(stand.live().object("Node", "", "lonely").is_some(), "nobody takes it away");
    assert_eq!(down.heal(), 2);
    stand
        .until(15, "one is introduced, one goes", |live| {
            let introduced = |node: Value| node["spec"]["providerID"] != Value::Null;
            live.object("Node", "", "lonely").is_none()
                && live.object("Node", "", "waiting").is_some_and(introduced)
        })
        .await;

    let never = stand.world.never_registers(Some("small"), quietly());
    stand.buy("never", "small");
    stand.clock.sleep(Duration::from_secs(1800)).await;
    assert!(stand.live().object("Node", "", "never").is_none());
    assert_eq!(never.heal(), 1);
    stand.ready_nodes(60, "small", 2).await;
    stand.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_end_in_their_time_or_never() {
    let stand = Stand::start(&[]).await;
    let fixed = FixedNode {
        name: "fixed".into(),
        room: Room { cpu_milli: 4000, memory_mib: 8192 },
        labels: BTreeMap::new(),
        taints: Vec::new(),
        provider_id: Some("other://1".into()),
    };
    stand.world.add_fixed_node(&fixed);
    stand.world.until_ready(1).await;
    let small = Room { cpu_milli: 100, memory_mib: 64 };
    for (name, owner) in [
        ("bare", Owner::Nobody),
        ("daemons", Owner::DaemonSet),
        ("job", Owner::Job),
        ("stateful", Owner::StatefulSet),
        ("slow", Owner::Deployment),
    ] {
        let ends_in = (name == "slow").then_some(Duration::from_secs(90));
        let workload = Workload { owner, ends_in, max_unavailable: Some(0), ..Workload::new(name, 1, small) };
        stand.world.deploy(&workload).await.unwrap();
        stand.running(60, name, 1).await;
        let stubborn = (name == "bare").then(|| stand.world.pod_never_ends("bare", quietly()));
        let before = stand.clock.now();
        stand.world.remove(&workload).await.unwrap();
        if let Some(stubborn) = stubborn {
            stand.clock.sleep(Duration::from_secs(3600)).await;
            assert_eq!(stand.live().pods(LABEL, name).ending, 1);
            assert_eq!(stubborn.heal(), 1);
        }
        stand.until(120, "it is gone", |live| live.pods(LABEL, name).all == 0).await;
        let took = stand.clock.now() - before;
        assert_eq!(took > Duration::from_secs(30), ["slow", "bare"].contains(&name), "{name} took {took:?}");
    }
    let ten_minutes = Some(Duration::from_secs(600));
    let patient = Workload {
        owner: Owner::Nobody,
        ends_in: ten_minutes,
        grace: ten_minutes,
        ..Workload::new("patient", 1, small)
    };
    stand.world.deploy(&patient).await.unwrap();
    stand.running(60, "patient", 1).await;
    stand.world.remove(&patient).await.unwrap();
    stand.clock.sleep(Duration::from_secs(60)).await;
    assert_eq!(stand.live().pods(LABEL, "patient").ending, 1);
    let pods: Api<Pod> = Api::namespaced(stand.client.clone(), "default");
    pods.delete("patient-0", &DeleteParams::default().grace_period(5)).await.unwrap();
    stand.until(8, "it has what it is granted at last", |live| live.pods(LABEL, "patient").all == 0).await;
    let wrong = stand.world.wrong_clock(-3600, quietly());
    stand.clock.sleep(Duration::from_secs(301)).await;
    assert!(wrong.heal() > 0);
    stand.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_are_as_they_were_asked_for() {
    let stand = Stand::start(&[pool("small", 1)]).await;
    let picky = Workload {
        namespace: "apps".into(),
        owner: Owner::Nobody,
        node_selector: BTreeMap::from([("kind".to_owned(), "small".to_owned())]),
        annotations: BTreeMap::from([("note".to_owned(), "kept".to_owned())]),
        volumes: vec![
            Volume::Scratch("s".into()),
            Volume::Memory("m".into()),
            Volume::HostPath("/var/x".into()),
        ],
        priority: Some(-10),
        apart: Some(Apart::Required),
        ..web(2)
    };
    stand.world.deploy(&picky).await.unwrap();
    let wanted = PodCount { all: 2, running: 1, pending: 1, unschedulable: 1, ending: 0 };
    stand.until(60, "one runs, one fits nowhere", |live| live.pods(LABEL, "web") == wanted).await;
    let pod = stand.live().object("Pod", "apps", "web-0").unwrap();
    assert_eq!(
        (&pod["spec"]["priority"], &pod["metadata"]["annotations"]["note"]),
        (&json!(-10), &json!("kept"))
    );
    assert_eq!(pod["spec"]["volumes"].as_array().unwrap().len(), 3, "{pod:#}");
    assert!(pod["metadata"]["managedFields"].is_null());
    stand.world.scale(&picky, 1).await.unwrap();
    stand.until(60, "one is left", |live| live.pods(LABEL, "web").all == 1).await;
    stand.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cloud_tells_who_did_what_and_what_it_cost() {
    let stand = Stand::start(&[pool("small", 1)]).await;
    let sold_out = json!({"kind": "sold_out", "server_type": "cx33"});
    let trouble = stand.cloud.hurt(&sold_out).unwrap();
    assert_eq!((stand.cloud.bites(trouble), stand.cloud.first_bite(trouble)), (0, None));
    let server = json!({"name": "none", "server_type": "cx33", "location": "fsn1", "image": cloud::IMAGE});
    let mut order = Request::new("POST", "/v1/servers").token(stand.cloud.token()).body(server.to_string());
    order.agent = "subject".into();
    let buy = |name: &str| {
        let order = Request { body: server.to_string().replace("none", name).into(), ..order.clone() };
        stand.cloud.mock().with(|engine, now| engine.answer(now, &order).status)
    };
    assert_eq!(buy("none"), 412);
    assert_eq!(stand.cloud.heal(trouble), 1);
    assert!(stand.cloud.hurt(&json!({"kind": "bad weather"})).is_err());
    assert!(stand.cloud.deed(&json!({"deed": "delete", "which": "none"})).is_err());

    assert_eq!(buy("some"), 201);
    stand.clock.sleep(Duration::from_secs(60)).await;
    stand.cloud.deed(&json!({"deed": "delete", "which": "some"})).unwrap();
    stand.clock.sleep(Duration::from_secs(60)).await;
    let told: Vec<(Change, String, String)> = {
        let events = stand.events.lock().unwrap();
        let servers = events.iter().filter_map(|(_, what)| match what {
            What::Server(server) if server.name == "some" => {
                Some((server.change, server.status.clone(), server.by.clone()))
            }
            _ => None,
        });
        servers.collect()
    };
    let (first, last) = (&told[0], told.last().unwrap());
    assert_eq!((first.0, first.1.as_str(), first.2.as_str()), (Change::Added, "initializing", "subject"));
    assert_eq!((last.0, last.2.as_str()), (Change::Deleted, "by hand"));
    assert!(
        told.iter().any(|(change, status, _)| *change == Change::Modified && status == "running"),
        "{told:?}"
    );
    assert_eq!(stand.cloud.servers_by_pool(), BTreeMap::from([("small".to_owned(), 1)]));
    assert!((1..1000).contains(&stand.cloud.cost_millis()), "{}", stand.cloud.cost_millis());
    stand.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_of_somebody_else_is_taken_in_real_time_only() {
    let clock = VirtualClock::start(Mode::Real, None).unwrap();
    let plane = ControlPlane::builder().clock(clock.clone()).start().await.unwrap();
    let path = std::env::temp_dir().join(format!("scaleproof-kubeconfig-{}", std::process::id()));
    std::fs::write(&path, plane.kubeconfig()).unwrap();
    let mut existing = Box::new(Existing::new(&path));
    let access = existing.start(&clock).await.unwrap();
    let accounts: Api<ServiceAccount> = Api::namespaced(access.client().unwrap(), "kube-system");
    let made = async || {
        let all = accounts.list(&ListParams::default()).await.unwrap();
        all.items.iter().filter(|it| it.metadata.name.as_ref().unwrap().starts_with("scaleproof-")).count()
    };
    assert_eq!((made().await, access.subject_token.unwrap().is_empty()), (1, false));
    existing.stop().await;
    assert_eq!(made().await, 0, "what was made for the subject is taken back");
    let access = Existing::new(&path).start(&clock).await.unwrap();
    assert_eq!(
        (access.kind, access.url.as_str(), access.ca_pem.as_str()),
        ("existing", plane.url().as_str(), plane.ca_pem())
    );
    assert!(access.version.starts_with("v1."), "{}", access.version);
    let skipping = VirtualClock::idle_skip().unwrap();
    let error = Existing::new(&path).start(&skipping).await.unwrap_err();
    assert!(error.to_string().contains("--time real"), "{error}");

    // Watches outlive what they watch: another control plane at the same place, with other objects.
    let events: Events = Arc::default();
    let told = Arc::clone(&events);
    let tell: scaleproof::cluster::Tell =
        Arc::new(move |what| told.lock().unwrap().push((Time::EPOCH, what)));
    let mut observer = Observer::start(&access.client().unwrap(), &clock, &tell, &[], &[]);
    observer.until_listed().await;
    let world_of = |name: &'static str| {
        let client = access.client().unwrap();
        async move {
            Workload { owner: Owner::Nobody, ..Workload::new(name, 1, Room::default()) }.deploy(&client).await
        }
    };
    world_of("first").await.unwrap();
    let mut changes = observer.live().changes();
    while observer.live().pods(LABEL, "first").all == 0 {
        changes.changed().await.unwrap();
    }
    plane.compact();
    world_of("second").await.unwrap();
    while observer.live().pods(LABEL, "second").all == 0 {
        changes.changed().await.unwrap();
    }
    std::fs::remove_file(&path).unwrap();
    plane.stop().await;
    let error = Existing::new(&path).start(&clock).await.unwrap_err();
    assert!(error.to_string().contains("kubeconfig"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_servers_at_once() {
    let stand = Stand::start(&[pool("many", 0)]).await;
    for number in 0..200 {
        stand.buy(&format!("many-{number}"), "many");
    }
    stand.ready_nodes(240, "many", 200).await;
    stand.end();
}
