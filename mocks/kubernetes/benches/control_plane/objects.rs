//! What is created: texts, because making them must cost less than reading them.

use bytes::Bytes;

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";
pub(crate) const NODES: &str = "/api/v1/nodes";

/// About 1 kB.
pub(crate) fn config_map(number: usize) -> Bytes {
    let filling = "0123456789abcdef".repeat(56);
    let text = format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"config-{number}"}},"data":{{"filling":"{filling}"}}}}"#
    );
    text.into()
}

/// A node that is ready, about 2 kB.
pub(crate) fn node(number: usize) -> Bytes {
    let capacity = r#"{"cpu":"16","ephemeral-storage":"103880232Ki","hugepages-1Gi":"0","hugepages-2Mi":"0","memory":"65536Mi","pods":"110"}"#;
    let conditions: Vec<String> = [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ]
    .iter()
    .map(|(kind, status, reason, message)| {
        format!(
            r#"{{"type":"{kind}","status":"{status}","reason":"{reason}","message":"{message}","lastHeartbeatTime":"2030-01-01T00:00:00Z","lastTransitionTime":"2030-01-01T00:00:00Z"}}"#
        )
    })
    .collect();
    let conditions = conditions.join(",");
    let zone = number % 3;
    let text = format!(
        r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"node-{number}","labels":{{"kubernetes.io/hostname":"node-{number}","kubernetes.io/arch":"amd64","kubernetes.io/os":"linux",
"node.kubernetes.io/instance-type":"m5.4xlarge","topology.kubernetes.io/region":"region-1","topology.kubernetes.io/zone":"region-1{zone}"}}}},
"spec":{{"providerID":"cloud://region-1/node-{number}","podCIDR":"10.0.0.0/24","podCIDRs":["10.0.0.0/24"]}},
"status":{{"capacity":{capacity},"allocatable":{capacity},"conditions":[{conditions}],
"addresses":[{{"type":"InternalIP","address":"10.0.0.1"}},{{"type":"Hostname","address":"node-{number}"}}],
"nodeInfo":{{"machineID":"0123456789abcdef","systemUUID":"0123456789abcdef","bootID":"0123456789abcdef","kernelVersion":"6.12.0","osImage":"Linux",
"containerRuntimeVersion":"containerd://2.1.0","kubeletVersion":"v1.35.0","kubeProxyVersion":"","operatingSystem":"linux","architecture":"amd64"}}}}}}"#
    );
    text.into()
}
