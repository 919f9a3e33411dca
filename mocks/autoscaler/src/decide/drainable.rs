//! Which pods would have to leave a node, and whether one of them forbids it.

use std::collections::BTreeSet;

use super::counts;
use crate::defect::Defect;
use crate::settings::Settings;
use crate::view::{Budget, Owner, Pod, View};

const SAFE_TO_EVICT: &str = "cluster-autoscaler.kubernetes.io/safe-to-evict";
const SAFE_VOLUMES: &str = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";
const DAEMON_EVICTION: &str = "cluster-autoscaler.kubernetes.io/enable-ds-eviction";

/// Those that would have to leave, and those that may be asked to.
#[derive(Clone, Debug, Default)]
pub(super) struct Leavers {
    pub(super) pods: Vec<Pod>,
    pub(super) daemons: Vec<Pod>,
}

/// Who would leave the node; nothing if somebody blocks.
pub(super) fn leavers(view: &View, settings: &Settings, node: &str) -> Option<Leavers> {
    let mut leavers = Leavers::default();
    for pod in view.pods.values().filter(|pod| pod.node.as_deref() == Some(node) && counts(pod, settings)) {
        match pod.owner {
            Owner::Mirror => {}
            Owner::DaemonSet if settings.has(Defect::DaemonSetsBlock) => return None,
            Owner::DaemonSet => {
                if pod.annotations.get(DAEMON_EVICTION).is_none_or(|value| value != "false") {
                    leavers.daemons.push(pod.clone());
                }
            }
            _ if blocks(pod, view, settings) => return None,
            _ => leavers.pods.push(pod.clone()),
        }
    }
    // An empty node ends with its daemons, but for those that ask to be evicted.
    if leavers.pods.is_empty() {
        leavers
            .daemons
            .retain(|pod| pod.annotations.get(DAEMON_EVICTION).is_some_and(|value| value == "true"));
    }
    within_budgets(&leavers.pods, &view.budgets, settings).then_some(leavers)
}

/// Each budget must allow something before a drain begins.
fn within_budgets(pods: &[Pod], budgets: &[Budget], settings: &Settings) -> bool {
    let exhausted = |pod: &Pod| budgets.iter().any(|budget| budget.covers(pod) && budget.allowed < 1);
    settings.has(Defect::IgnoresBudgets) || !pods.iter().any(exhausted)
}

/// Whether this pod keeps its node.
fn blocks(pod: &Pod, view: &View, settings: &Settings) -> bool {
    let arguments = &settings.arguments;
    let system = pod.namespace == "kube-system";
    if system && settings.has(Defect::SystemPodsAlwaysBlock) {
        return true;
    }
    match pod.annotations.get(SAFE_TO_EVICT).map(String::as_str) {
        Some("true") => return false,
        Some("false") if !settings.has(Defect::IgnoresSafeToEvict) => return true,
        _ => {}
    }
    if pod.owner == Owner::Nobody && !settings.has(Defect::EvictsBarePods) {
        return true;
    }
    if let Owner::Set(uid) = &pod.owner {
        let replicas = view.replicas.get(uid).copied().unwrap_or(i32::MAX);
        if replicas < arguments.min_replica_count && !settings.has(Defect::IgnoresMinReplicaCount) {
            return true;
        }
    }
    let young = view.now.since(pod.created) < arguments.blocking_system_pod_distruption_timeout;
    if system
        && young
        && arguments.skip_nodes_with_system_pods
        && !settings.has(Defect::EvictsSystemPods)
        && !view.budgets.iter().any(|budget| budget.covers(pod))
    {
        return true;
    }
    arguments.skip_nodes_with_local_storage
        && !settings.has(Defect::IgnoresLocalStorage)
        && !has_only_safe_volumes(pod)
}

fn has_only_safe_volumes(pod: &Pod) -> bool {
    let safe: BTreeSet<&str> = pod
        .annotations
        .get(SAFE_VOLUMES)
        .map(|names| names.split(',').map(str::trim).collect())
        .unwrap_or_default();
    pod.local_volumes.iter().all(|volume| safe.contains(volume.as_str()))
}
