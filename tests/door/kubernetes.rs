//! The Kubernetes API behind the door: kube-rs, watches that are hurt, many calls on one connection.

use std::pin::pin;
use std::time::Duration;

use base64::Engine as _;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use http_body_util::BodyExt as _;
use k8s_openapi::api::core::v1::Node;
use kube::api::{ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use mock_clock::Clock as _;
use mock_kubernetes::ControlPlane;
use scaleproof::door::{Answer, CallMatch, Fate, Injury, Upstream, Way};
use scaleproof::terms;
use serde_json::json;
use tokio::net::TcpStream;

use super::stage::{Stage, encrypted, get, multiplexed};

const TOKEN: &str = "a-token-of-the-cluster";

/// A control plane behind a door, and a client before it.
struct Scene {
    stage: Stage,
    door: std::net::SocketAddr,
    nodes: kube::Api<Node>,
    _control_plane: ControlPlane,
}

impl Scene {
    async fn new() -> Self {
        let stage = Stage::new();
        let control_plane = ControlPlane::builder().bare().clock(stage.clock.clone());
        let control_plane = control_plane.token(TOKEN, "a", &["system:masters"]).start().await.unwrap();
        let upstream = Upstream::new(&control_plane.url(), Some(control_plane.ca_pem())).unwrap();
        let door = stage.door.encrypted(Way::new(1, terms::Api::Kubernetes, &upstream)).await.unwrap();
        let text = control_plane.kubeconfig_with_token(&format!("https://{door}"), TOKEN);
        let mut parsed = Kubeconfig::from_yaml(&text).unwrap();
        let authority = base64::engine::general_purpose::STANDARD.encode(stage.door.authority_pem());
        parsed.clusters[0].cluster.as_mut().unwrap().certificate_authority_data = Some(authority);
        let config =
            kube::Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await.unwrap();
        let nodes = kube::Api::all(kube::Client::try_from(config).unwrap());
        Self { stage, door, nodes, _control_plane: control_plane }
    }

    async fn create(&self, name: &str) {
        let node = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
        self.nodes.create(&PostParams::default(), &node).await.unwrap();
    }

    async fn watch(&self) -> impl Stream<Item = kube::Result<WatchEvent<Node>>> + Unpin {
        Box::pin(self.nodes.watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap())
    }

    fn hurt_watches(&self, fate: Fate) {
        let watches = CallMatch { query: Some("watch=true".to_owned()), ..CallMatch::default() };
        self.stage.door.rules().install("x", Injury::new(watches, fate, None), |_| {});
    }

    fn heal(&self) -> u64 {
        self.stage.door.rules().remove("x").unwrap()
    }

    /// Time goes on, a while.
    async fn wait(&self) {
        self.stage.clock.sleep(Duration::from_secs(60)).await;
    }
}

fn added(event: Option<kube::Result<WatchEvent<Node>>>, name: &str) {
    let Some(Ok(WatchEvent::Added(node))) = event else { panic!("{event:?}") };
    assert_eq!(node.metadata.name.as_deref(), Some(name));
}

#[tokio::test]
async fn a_client_creates_lists_patches_and_watches() {
    let scene = Scene::new().await;
    scene.create("a").await;
    let mut watch = scene.watch().await;
    added(watch.next().await, "a");
    scene.wait().await;
    scene.create("b").await;
    added(watch.next().await, "b");
    let patch = Patch::Merge(json!({ "metadata": { "labels": { "l": "x" } } }));
    scene.nodes.patch("a", &PatchParams::default(), &patch).await.unwrap();
    assert!(matches!(watch.next().await, Some(Ok(WatchEvent::Modified(_)))));
    assert_eq!(scene.nodes.list(&ListParams::default()).await.unwrap().items.len(), 2);
    drop(watch);
    let calls = scene.stage.recorded(6).await;
    let told: Vec<_> = calls
        .iter()
        .map(|call| {
            (call.method.as_str(), call.status, call.open, call.request.is_some(), call.answer.is_some())
        })
        .collect();
    assert_eq!(
        told,
        [
            ("POST", 201, false, true, true),
            ("GET", 200, true, false, false),
            ("POST", 201, false, true, true),
            ("PATCH", 200, false, true, true),
            ("GET", 200, false, false, false),
            ("GET", 200, false, false, false),
        ]
    );
    assert!(calls.iter().all(|call| call.replica == 1 && call.done && !format!("{call:?}").contains(TOKEN)));
}

#[tokio::test]
async fn a_conflict_from_the_door_is_one_to_the_client() {
    let scene = Scene::new().await;
    let patches = CallMatch { method: Some("PATCH".to_owned()), ..CallMatch::default() };
    let conflict = Injury::new(patches, Fate::Answer(Answer::of(409)), None);
    scene.stage.door.rules().install("x", conflict, |_| {});
    let patched = scene.nodes.patch("a", &PatchParams::default(), &Patch::Merge(json!({}))).await;
    let Err(kube::Error::Api(status)) = patched else { panic!("{patched:?}") };
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
}

#[tokio::test]
async fn a_stalled_watch_tells_nothing_and_is_cut_when_it_is_healed() {
    let scene = Scene::new().await;
    let mut running = scene.watch().await;
    scene.create("a").await;
    added(running.next().await, "a");
    scene.hurt_watches(Fate::StallWatch);
    let mut late = scene.watch().await;
    scene.create("b").await;
    let mut told = pin!(futures_util::future::select(running.next(), late.next()));
    tokio::select! {
        _ = told.as_mut() => panic!("a stalled watch has told something"),
        () = scene.wait() => {}
    }
    assert!(scene.heal() >= 2, "each has kept something back");
    told.await;
    for watch in [&mut running as &mut (dyn Stream<Item = _> + Unpin), &mut late] {
        assert!(!matches!(watch.next().await, Some(Ok(_))));
    }
    assert!(
        scene
            .stage
            .recorded(6)
            .await
            .iter()
            .all(|call| call.fate.is_none() == (call.method == "POST" || call.open)
                || call.fate.as_deref() == Some("x"))
    );
}

#[tokio::test]
async fn a_watch_is_dropped_and_the_next_one_lives() {
    let scene = Scene::new().await;
    let mut watch = scene.watch().await;
    scene.wait().await;
    scene.hurt_watches(Fate::DropWatch);
    assert!(watch.next().await.is_none());
    assert!(scene.watch().await.next().await.is_none(), "one that is opened meanwhile");
    assert_eq!(scene.heal(), 2);
    let mut watch = scene.watch().await;
    scene.create("a").await;
    added(watch.next().await, "a");
}

#[tokio::test]
async fn an_expired_watch_is_told_410() {
    let scene = Scene::new().await;
    scene.create("a").await;
    let mut watch = scene.watch().await;
    added(watch.next().await, "a");
    scene.hurt_watches(Fate::Expire);
    let Some(Ok(WatchEvent::Error(status))) = watch.next().await else { panic!("no error") };
    assert_eq!((status.code, status.reason.as_str()), (410, "Expired"));
    assert!(watch.next().await.is_none());
    let again = scene.nodes.watch(&WatchParams::default(), "7").await;
    let Err(kube::Error::Api(status)) = again.map(|_| ()) else { panic!("it was opened") };
    assert_eq!(status.code, 410);
    assert_eq!(scene.heal(), 2);
}

#[tokio::test]
async fn many_calls_share_a_connection_and_one_that_is_cut_hurts_no_other() {
    let scene = Scene::new().await;
    let stream = TcpStream::connect(scene.door).await.unwrap();
    let stream = encrypted(scene.stage.door.authority_pem(), "localhost", stream, "h2").await;
    let connection = multiplexed(stream).await;
    let ask = |target: &str| {
        let mut request = get(&format!("https://localhost{target}"));
        request.headers_mut().remove("host");
        request.headers_mut().insert("authorization", format!("Bearer {TOKEN}").parse().unwrap());
        connection.clone().send_request(request)
    };
    let mut watch = ask("/api/v1/nodes?watch=true").await.unwrap().into_body();
    let paths = CallMatch { path: Some("/api/v1/pods".to_owned()), ..CallMatch::default() };
    scene.stage.door.rules().install("x", Injury::new(paths, Fate::Cut, None), |_| {});
    let (versions, cut) =
        tokio::join!(futures_util::future::join_all((0..100).map(|_| ask("/version"))), ask("/api/v1/pods"));
    assert!(versions.into_iter().all(|response| response.unwrap().status() == 200));
    assert!(cut.is_err());
    scene.create("a").await;
    let event: Bytes = watch.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(event.starts_with(b"{\"type\":\"ADDED\""), "{event:?}");
    drop(watch);
    assert_eq!(scene.heal(), 1);
    scene.stage.recorded(104).await;
}
