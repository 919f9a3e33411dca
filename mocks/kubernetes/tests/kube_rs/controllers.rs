//! What controllers are made of: reconciling with owned objects, finalizers, leader election.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer::{Event, finalizer};
use kube::runtime::watcher;
use kube::{Api, Client, Resource as _, ResourceExt as _};
use mock_clock::Clock as _;
use serde_json::json;

use crate::Bare;

/// Each config map gets a secret of its name.
async fn give_secret(map: Arc<ConfigMap>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let mut secret = Secret::default();
    secret.metadata.name = map.metadata.name.clone();
    secret.metadata.owner_references = map.controller_owner_ref(&()).map(|owner| vec![owner]);
    secret.string_data = map.data.clone();
    let apply = PatchParams::apply("giver").force();
    let secrets = Api::<Secret>::default_namespaced((*client).clone());
    secrets.patch(&map.name_any(), &apply, &Patch::Apply(secret)).await?;
    Ok(Action::await_change())
}

#[tokio::test]
async fn a_controller_keeps_what_it_owns() {
    let bare = Bare::start().await;
    bare.config_map("a").await;
    let secrets = Api::<Secret>::default_namespaced(bare.client.clone());
    let stream = Controller::new(bare.config_maps(), watcher::Config::default())
        .owns(secrets.clone(), watcher::Config::default())
        .run(give_secret, |_, _, _| Action::requeue(Duration::from_secs(1)), Arc::new(bare.client.clone()));
    let running = tokio::spawn(stream.for_each(|_| async {}));
    let there = |secret: Option<&Secret>| secret.is_some();
    let first = kube::runtime::wait::await_condition(secrets.clone(), "a", there);
    let first = bare.clock().timeout(Duration::from_secs(15), first).await.unwrap().unwrap().unwrap();
    assert_eq!(first.data.as_ref().unwrap()["count"].0, b"0");

    secrets.delete("a", &DeleteParams::default()).await.unwrap();
    let uid = first.uid().unwrap();
    let again = |secret: Option<&Secret>| secret.is_some_and(|secret| secret.uid().as_ref() != Some(&uid));
    let again = kube::runtime::wait::await_condition(secrets, "a", again);
    bare.clock().timeout(Duration::from_secs(15), again).await.expect("it is made again").unwrap();
    running.abort();
}

#[tokio::test]
async fn a_finalizer_runs_before_its_object_goes() {
    const HOLD: &str = "example.com/hold";
    let bare = Bare::start().await;
    let map = Arc::new(bare.config_map("a").await);
    let maps = bare.config_maps();
    let cleaned = AtomicU32::new(0);
    let reconcile = |map: Arc<ConfigMap>| {
        finalizer(&maps, HOLD, map, async |event| {
            if matches!(event, Event::Cleanup(_)) {
                cleaned.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<_, kube::Error>(Action::await_change())
        })
    };
    reconcile(map).await.unwrap();
    let held = maps.get("a").await.unwrap();
    assert_eq!(held.finalizers(), [HOLD]);
    let deletion = maps.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(deletion.left().unwrap().metadata.deletion_timestamp.is_some());
    reconcile(Arc::new(maps.get("a").await.unwrap())).await.unwrap();
    assert!(maps.get_opt("a").await.unwrap().is_none());
    assert_eq!(cleaned.into_inner(), 1);
}

/// One try to lead: takes a lease that is free, keeps one's own.
async fn leads(leases: &Api<Lease>, candidate: &str, now: i64, lasts: i64) -> bool {
    let stamp = |lease: &mut Lease| {
        let spec = lease.spec.get_or_insert_default();
        spec.holder_identity = Some(candidate.to_owned());
        spec.renew_time =
            Some(serde_json::from_value(json!(format!("2026-01-01T00:00:{now:02}.000000Z"))).unwrap());
        spec.lease_duration_seconds = i32::try_from(lasts).ok();
    };
    let Some(mut lease) = leases.get_opt("leader").await.unwrap() else {
        let mut lease = Lease::default();
        lease.metadata.name = Some("leader".to_owned());
        stamp(&mut lease);
        return leases.create(&PostParams::default(), &lease).await.is_ok();
    };
    let spec = lease.spec.clone().unwrap_or_default();
    let renewed = spec.renew_time.map_or(0, |time| time.0.as_second() - 1_767_225_600);
    let free = spec.holder_identity.is_none_or(|holder| holder == candidate) || renewed + lasts < now;
    if !free {
        return false;
    }
    stamp(&mut lease);
    leases.replace("leader", &PostParams::default(), &lease).await.is_ok()
}

#[tokio::test]
async fn one_of_many_leads() {
    let bare = Bare::start().await;
    let leases = Api::<Lease>::default_namespaced(bare.client.clone());
    let candidates = ["a", "b", "c", "d"];
    let mut reign: Vec<&str> = Vec::new();
    for now in 0..20 {
        // The one who leads at first is gone from the tenth second on.
        let alive = candidates.iter().filter(|candidate| now < 10 || reign.first() != Some(*candidate));
        let tries =
            alive.map(|candidate| async { leads(&leases, candidate, now, 4).await.then_some(*candidate) });
        let led: Vec<&str> = futures_util::future::join_all(tries).await.into_iter().flatten().collect();
        assert!(led.len() <= 1, "{led:?} lead at once");
        assert!(led.len() == 1 || (10..14).contains(&now), "nobody leads at {now}");
        if let Some(leader) = led.first().filter(|leader| reign.last() != Some(*leader)) {
            reign.push(leader);
        }
    }
    assert_eq!(reign.len(), 2, "{reign:?}");
    let last = leases.list(&ListParams::default()).await.unwrap();
    let holder = last.items[0].spec.as_ref().unwrap().holder_identity.as_deref();
    assert_eq!(holder, reign.last().copied());
}
