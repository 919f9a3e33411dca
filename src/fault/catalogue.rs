//! The catalogue of faults: what each is called for ever, and what it does.

use crate::code::Code;
use crate::plan::FaultSpec;

/// A fault in the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// Its code.
    pub code: &'static str,
    /// As a scenario writes it.
    pub name: &'static str,
    /// What it does.
    pub does: &'static str,
}

const fn described(code: &'static str, name: &'static str, does: &'static str) -> Described {
    Described { code, name, does }
}

const CATALOGUE: [Described; 22] = [
    described(
        "F101",
        "slow_kubelet",
        "a stage of new machines takes longer: boot, register, provider id, network, CSI, ready, pull, start",
    ),
    described("F102", "never_registers", "new machines never become nodes"),
    described("F103", "flapping", "nodes are ready and not ready in turn"),
    described("F104", "lost_heartbeats", "kubelets are silent"),
    described(
        "F105",
        "no_cloud_provider",
        "kubelets run without --cloud-provider=external, so their nodes never get a provider id",
    ),
    described("F106", "cloud_controller_down", "no provider ids are set, and nodes without machines stay"),
    described("F107", "pod_never_ends", "pods of a workload ignore that they should end"),
    described("F108", "world_clock", "the wall clock of the nodes is wrong"),
    described("F201", "lease_leak", "leases of nobody come into being"),
    described(
        "F203",
        "zombie_kubelets",
        "kubelets live on when their nodes are gone, and make leases of nobody",
    ),
    described("F204", "stuck_attachment", "a volume stays attached to each node of a pool"),
    described("F205", "taints_by_hand", "somebody taints each node of a pool as soon as it is there"),
    described("F202", "edits", "somebody else edits objects all the time"),
    described("F301", "evictions_refused", "evictions are answered with 429"),
    described(
        "F302",
        "calls",
        "chosen calls have another fate: delayed, answered instead, cut, hung, done without an answer, …",
    ),
    described("F303", "api_group_missing", "a group of the Kubernetes API is answered with 404"),
    described("F401", "cloud", "a trouble of the cloud, as mock-hetzner knows them"),
    described("F501", "slow_cluster_api", "controllers of Cluster API wait before they do anything"),
    described("F502", "machines_refused", "machine sets can make no machines"),
    described("F503", "machines_never_come", "the infrastructure makes nothing of machines"),
    described("F504", "machines_fail", "the infrastructure says that it has failed to make machines"),
    described("F505", "paused_group", "a machine deployment is paused"),
];

/// All faults.
pub fn catalogue() -> &'static [Described] {
    &CATALOGUE
}

/// What a fault is called.
pub(super) fn code(spec: &FaultSpec) -> Code {
    Code::new(match spec {
        FaultSpec::SlowKubelet { .. } => "F101",
        FaultSpec::NeverRegisters { .. } => "F102",
        FaultSpec::Flapping { .. } => "F103",
        FaultSpec::LostHeartbeats { .. } => "F104",
        FaultSpec::NoCloudProvider { .. } => "F105",
        FaultSpec::CloudControllerDown => "F106",
        FaultSpec::PodNeverEnds(_) => "F107",
        FaultSpec::WorldClock { .. } => "F108",
        FaultSpec::LeaseLeak { .. } => "F201",
        FaultSpec::Edits { .. } => "F202",
        FaultSpec::ZombieKubelets { .. } => "F203",
        FaultSpec::StuckAttachment { .. } => "F204",
        FaultSpec::TaintsByHand { .. } => "F205",
        FaultSpec::EvictionsRefused => "F301",
        FaultSpec::Calls { .. } => "F302",
        FaultSpec::ApiGroupMissing(_) => "F303",
        FaultSpec::Cloud(_) => "F401",
        FaultSpec::SlowClusterApi { .. } => "F501",
        FaultSpec::MachinesRefused { .. } => "F502",
        FaultSpec::MachinesNeverCome { .. } => "F503",
        FaultSpec::MachinesFail { .. } => "F504",
        FaultSpec::PausedGroup { .. } => "F505",
    })
}
