//! Clusters that are made of other people's programs.
#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Api;
use kube::api::PostParams;
use mock_clock::{Clock as _, IdleSkip, Mode, VirtualClock};
use scaleproof::cluster::{Choice, Cluster as _, Envtest};

const PROGRAMS: [&str; 4] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/// A folder with scripts that bear the names of the programs.
fn folder_of(name: &str, script: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for program in PROGRAMS {
        let path = folder.join(program);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

async fn refused(folder: &Path) -> String {
    let clock = VirtualClock::idle_skip().unwrap();
    let mut cluster = Box::new(Envtest::new(folder, folder.join("run")));
    let error = cluster.start(&clock).await.unwrap_err().to_string();
    cluster.stop().await;
    fs::remove_dir_all(folder).unwrap();
    error
}

#[tokio::test]
async fn a_program_that_is_missing_is_named() {
    let folder = folder_of("missing", "#!/bin/sh\n");
    fs::remove_file(folder.join(PROGRAMS[3])).unwrap();
    let error = refused(&folder).await;
    assert!(error.contains("find the program kube-scheduler in"), "{error}");
}

#[tokio::test]
async fn a_program_that_ends_at_once_is_told_with_its_last_words() {
    let folder = folder_of("ends", "#!/bin/sh\necho first; echo the disk is full >&2; exit 3\n");
    let error = refused(&folder).await;
    assert!(error.contains("etcd: it has ended (exit status: 3): the disk is full"), "{error}");
}

#[tokio::test]
async fn a_server_that_never_answers_is_waited_for_in_virtual_time() {
    let folder = folder_of("silent", "#!/bin/sh\nexec sleep 3600\n");
    let error = refused(&folder).await;
    assert!(error.contains("kube-apiserver: it has not answered in 60 s"), "{error}");
}

/// A pod that a real scheduler binds, and an idle minute.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the programs of a control plane; KUBEBUILDER_ASSETS says where they are"]
async fn a_real_control_plane_lives_on_the_clock() {
    let Choice::Envtest(folder) = "envtest".parse().unwrap() else { unreachable!() };
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("envtest-{}", std::process::id()));
    let clock =
        VirtualClock::start(Mode::IdleSkip(IdleSkip { watch_percent: 50, ..IdleSkip::default() }), None)
            .unwrap();
    let mut cluster = Box::new(Envtest::new(folder, &directory));
    let access = cluster.start(&clock).await.unwrap_or_else(|e| panic!("failed to {e}"));
    println!("{} after {:?} of real time", access.version, clock.real_elapsed());
    let client = access.client().unwrap();
    let node = serde_json::json!({
        "metadata": {"name": "some"},
        "status": {
            "allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "Test", "message": "",
                "lastHeartbeatTime": null, "lastTransitionTime": null}],
        },
    });
    let nodes: Api<Node> = Api::all(client.clone());
    nodes.create(&PostParams::default(), &serde_json::from_value(node).unwrap()).await.unwrap();
    let pod = serde_json::json!({
        "metadata": {"name": "some"},
        "spec": {"containers": [{"name": "some", "image": "some"}], "tolerations": [{"operator": "Exists"}]},
    });
    let pods: Api<Pod> = Api::namespaced(client, "default");
    pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    while pods.get("some").await.unwrap().spec.unwrap().node_name.as_deref() != Some("some") {
        clock.sleep(Duration::from_millis(200)).await;
    }
    clock.sleep(Duration::from_secs(60)).await;
    println!("after a minute {}", clock.status());
    cluster.stop().await;
    assert!(!directory.join("etcd").exists());
    fs::remove_dir_all(directory).unwrap();
}
