//! The command line: cluster-autoscaler's names and defaults, as far as they concern providers hetzner and clusterapi, and three of ours.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Parser};
use mock_clock::LogLevel;

use crate::defect::{self, Defect};

/// A small, correct node autoscaler that takes cluster-autoscaler's arguments.
#[derive(Clone, Debug, Parser)]
#[command(name = "mock-autoscaler", version, max_term_width = 110, args_override_self = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Arguments {
    /// Print the named defects and end
    #[arg(long)]
    pub(crate) defects: bool,
    /// Be wrong in this way; may be repeated
    #[arg(long = "defect", value_name = "NAME", value_parser = defect::parse)]
    pub(crate) defect: Vec<Defect>,
    /// What the expander `random` draws from
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// How much is told on standard error
    #[arg(long, value_enum, default_value = "info")]
    pub(crate) log: LogLevel,

    /// `hetzner`, `clusterapi` or `karpenter`: with the last, pools are objects, and of what follows only lease, health and
    /// seed count
    #[arg(long, default_value = "hetzner")]
    pub(crate) cloud_provider: String,
    /// A pool as min:max:type:location:name; may be repeated
    #[arg(long, value_name = "POOL")]
    pub(crate) nodes: Vec<String>,
    /// Which machine deployments are pools: `clusterapi:namespace=default`
    #[arg(long, value_name = "SPEC")]
    pub(crate) node_group_auto_discovery: Vec<String>,
    /// How to reach the cluster of the machine deployments, if that is another
    #[arg(long, value_name = "FILE")]
    pub(crate) cloud_config: Option<PathBuf>,
    /// How to reach the API server; inside a pod by its service account
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Where lease, status and priorities live
    #[arg(long, default_value = "kube-system")]
    pub(crate) namespace: String,
    /// Where /health-check is served
    #[arg(long, default_value = ":8085", value_parser = address)]
    pub(crate) address: SocketAddr,
    /// How often everything is looked at
    #[arg(long, default_value = "10s", value_parser = span)]
    pub(crate) scan_interval: Duration,

    /// How the pool is chosen, first to last: least-waste, priority, random
    #[arg(long, default_value = "least-waste", value_delimiter = ',')]
    pub(crate) expander: Vec<String>,
    /// How old a pod must be before something is bought for it
    #[arg(long, default_value = "0s", value_parser = span)]
    pub(crate) new_pod_scale_up_delay: Duration,
    /// Pods below this priority count for nothing
    #[arg(long, default_value_t = -10, allow_negative_numbers = true)]
    pub(crate) expendable_pods_priority_cutoff: i32,
    /// Fill pools to their minimum
    #[arg(long, default_value_t = false, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", action = ArgAction::Set)]
    pub(crate) enforce_node_group_min_size: bool,
    /// No more nodes than this in the cluster; 0 is no limit
    #[arg(long, default_value_t = 0)]
    pub(crate) max_nodes_total: u64,
    /// Cores in the cluster as min:max
    #[arg(long, default_value = "0:320000", value_parser = range)]
    pub(crate) cores_total: (u64, u64),
    /// Memory in the cluster as min:max, in GiB
    #[arg(long, default_value = "0:6400000", value_parser = range)]
    pub(crate) memory_total: (u64, u64),

    /// How long a server may take to become a node
    #[arg(long, default_value = "15m", value_parser = span)]
    pub(crate) max_node_provision_time: Duration,
    /// How long a node may take to become ready
    #[arg(long, default_value = "15m", value_parser = span)]
    pub(crate) max_node_startup_time: Duration,
    /// How long a pool is left alone after its first failure
    #[arg(long, default_value = "5m", value_parser = span)]
    pub(crate) initial_node_group_backoff_duration: Duration,
    /// How long a pool is left alone at most
    #[arg(long, default_value = "30m", value_parser = span)]
    pub(crate) max_node_group_backoff_duration: Duration,
    /// How long after its last failure a pool is as good as new
    #[arg(long, default_value = "3h", value_parser = span)]
    pub(crate) node_group_backoff_reset_timeout: Duration,
    /// So many nodes may be unready whatever the share
    #[arg(long, default_value_t = 3)]
    pub(crate) ok_total_unready_count: usize,
    /// This share of nodes may be unready, in percent
    #[arg(long, default_value_t = 45.0)]
    pub(crate) max_total_unready_percentage: f64,
    /// Taints that a node has until it has started; may be repeated
    #[arg(long, value_name = "KEY")]
    pub(crate) startup_taint: Vec<String>,

    /// Remove nodes at all
    #[arg(long, default_value_t = true, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", action = ArgAction::Set)]
    pub(crate) scale_down_enabled: bool,
    /// Remove nodes that are not ready
    #[arg(long, default_value_t = true, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", action = ArgAction::Set)]
    pub(crate) scale_down_unready_enabled: bool,
    /// How long a node must be unneeded
    #[arg(long, default_value = "10m", value_parser = span)]
    pub(crate) scale_down_unneeded_time: Duration,
    /// How long a node that is not ready must be unneeded
    #[arg(long, default_value = "20m", value_parser = span)]
    pub(crate) scale_down_unready_time: Duration,
    /// Nothing is removed for so long after a scale-up
    #[arg(long, default_value = "10m", value_parser = span)]
    pub(crate) scale_down_delay_after_add: Duration,
    /// Nothing is removed for so long after a removal
    #[arg(long, default_value = "0s", value_parser = span)]
    pub(crate) scale_down_delay_after_delete: Duration,
    /// Nothing is removed for so long after a failed removal
    #[arg(long, default_value = "3m", value_parser = span)]
    pub(crate) scale_down_delay_after_failure: Duration,
    /// How long a node that could not be removed is left alone
    #[arg(long, default_value = "5m", value_parser = span)]
    pub(crate) unremovable_node_recheck_timeout: Duration,
    /// A node that is used more than this stays
    #[arg(long, default_value_t = 0.5)]
    pub(crate) scale_down_utilization_threshold: f64,
    /// So many removals at a time
    #[arg(long, default_value_t = 10)]
    pub(crate) max_scale_down_parallelism: usize,
    /// So many of them with pods
    #[arg(long, default_value_t = 1)]
    pub(crate) max_drain_parallelism: usize,
    /// System pods block
    #[arg(long, default_value_t = true, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", action = ArgAction::Set)]
    pub(crate) skip_nodes_with_system_pods: bool,
    /// Until they are so old (the name is cluster-autoscaler's)
    #[arg(long, default_value = "1h", value_parser = span)]
    pub(crate) blocking_system_pod_distruption_timeout: Duration,
    /// Pods with local storage block
    #[arg(long, default_value_t = true, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", action = ArgAction::Set)]
    pub(crate) skip_nodes_with_local_storage: bool,
    /// Pods of sets with fewer replicas block
    #[arg(long, default_value_t = 0)]
    pub(crate) min_replica_count: i32,
    /// How long an eviction is tried
    #[arg(long, default_value = "2m", value_parser = span)]
    pub(crate) max_pod_eviction_time: Duration,
    /// How long pods may take to end
    #[arg(long, default_value_t = 600)]
    pub(crate) max_graceful_termination_sec: u64,
    /// How long a node is tainted before anything happens to it
    #[arg(long, default_value = "5s", value_parser = span)]
    pub(crate) node_delete_delay_after_taint: Duration,
    /// How long an annotation may delay the end of a node
    #[arg(long, default_value = "2m", value_parser = span)]
    pub(crate) node_deletion_delay_timeout: Duration,
    /// Cordon nodes, too, before they end
    #[arg(long, default_value_t = true, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", action = ArgAction::Set)]
    pub(crate) cordon_node_before_terminating: bool,

    /// Act only while holding the lease
    #[arg(long, default_value_t = true, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", action = ArgAction::Set)]
    pub(crate) leader_elect: bool,
    /// How long a lease lasts
    // Twice as long as that of cluster-autoscaler, and renewed a quarter as often: at its pace most calls of a run would be
    // renewals.
    #[arg(long, default_value = "30s", value_parser = span)]
    pub(crate) leader_elect_lease_duration: Duration,
    /// How long renewing is tried
    #[arg(long, default_value = "20s", value_parser = span)]
    pub(crate) leader_elect_renew_deadline: Duration,
    /// How often it is tried
    #[arg(long, default_value = "8s", value_parser = span)]
    pub(crate) leader_elect_retry_period: Duration,
    /// What the lease is called
    #[arg(long, default_value = "cluster-autoscaler")]
    pub(crate) leader_elect_resource_name: String,
    /// Unhealthy after so long without a loop
    #[arg(long, default_value = "10m", value_parser = span)]
    pub(crate) max_inactivity: Duration,
    /// Unhealthy after so long without a good loop
    #[arg(long, default_value = "15m", value_parser = span)]
    pub(crate) max_failing_time: Duration,
    /// Unhealthy after so long without a first good loop; until then neither of those counts
    #[arg(long, default_value = "20m", value_parser = span)]
    pub(crate) max_startup_time: Duration,
}

/// A duration as Go writes it: `1h30m`, `10s`, `500ms`, `0`.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no duration like 1h30m, 10s or 500ms");
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let (mut rest, mut seconds) = (text, 0.0);
    while !rest.is_empty() {
        let unit = rest.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(wrong)?;
        let end = rest[unit..].find(|c: char| !c.is_ascii_alphabetic()).map_or(rest.len(), |end| unit + end);
        let number: f64 = rest[..unit].parse().map_err(|_| wrong())?;
        seconds += number
            * match &rest[unit..end] {
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "us" => 1e-6,
                "ns" => 1e-9,
                _ => return Err(wrong()),
            };
        rest = &rest[end..];
    }
    if text.is_empty() { Err(wrong()) } else { Duration::try_from_secs_f64(seconds).map_err(|_| wrong()) }
}

/// Two numbers with a colon between them.
fn range(text: &str) -> Result<(u64, u64), String> {
    let parsed = text.split_once(':').and_then(|(min, max)| Some((min.parse().ok()?, max.parse().ok()?)));
    parsed.ok_or_else(|| format!("{text:?} is no range like 0:100"))
}

/// An address; without a host it is every one of this machine's.
fn address(text: &str) -> Result<SocketAddr, String> {
    let whole = if text.starts_with(':') { format!("0.0.0.0{text}") } else { text.to_owned() };
    whole.parse().map_err(|_| format!("{text:?} is no address like 127.0.0.1:8085"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        assert_eq!(span("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(span("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(span("0"), Ok(Duration::ZERO));
        for wrong in ["", "10", "ten", "1d", "-1s"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn switches_are_those_of_go() {
        let parsed = |argument: &str| Arguments::try_parse_from(["x", argument]).unwrap();
        assert!(parsed("--enforce-node-group-min-size").enforce_node_group_min_size);
        assert!(!parsed("--leader-elect=false").leader_elect);
        assert_eq!(parsed("--expendable-pods-priority-cutoff=-5").expendable_pods_priority_cutoff, -5);
        assert_eq!(parsed("--address=:1").address.port(), 1);
    }
}
