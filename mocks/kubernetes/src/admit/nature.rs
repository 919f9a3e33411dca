//! What a real server knows about each built-in kind: its status, its generation, how it may be updated, its names.
//!
//! Plain facts, asked by kind. Custom resources are not here.

/// What may be done with objects of a kind.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nature {
    /// There is a `status` that only its subresource writes.
    pub(crate) has_status: bool,
    /// `metadata.generation` counts changes.
    pub(crate) tracks_generation: bool,
    /// A PUT to a name that is free creates.
    pub(crate) allows_create_on_update: bool,
    /// A PUT without `resourceVersion` overwrites.
    pub(crate) allows_unconditional_update: bool,
}

/// The rule a kind's names follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRule {
    Subdomain,
    Label,
    /// A label that starts with a letter.
    Label1035,
    /// Anything that can stand in a path.
    Segment,
    /// A subdomain in any case, which names a driver.
    Driver,
    /// Whatever it is.
    Any,
}

pub(crate) fn nature(group: &str, kind: &str) -> Nature {
    Nature {
        has_status: has_status(group, kind),
        tracks_generation: tracks_generation(group, kind),
        allows_create_on_update: allows_create_on_update(group, kind),
        allows_unconditional_update: allows_unconditional_update(group, kind),
    }
}

pub(crate) fn has_status(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        (
            "",
            "Pod"
                | "Node"
                | "Namespace"
                | "Service"
                | "ReplicationController"
                | "PersistentVolume"
                | "PersistentVolumeClaim"
                | "ResourceQuota"
        ) | ("apps", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet")
            | ("batch", "Job" | "CronJob")
            | ("policy", "PodDisruptionBudget")
            | ("autoscaling", "HorizontalPodAutoscaler")
            | ("networking.k8s.io", "Ingress" | "ServiceCIDR")
            | ("storage.k8s.io", "VolumeAttachment")
            | ("certificates.k8s.io", "CertificateSigningRequest" | "PodCertificateRequest")
            | ("flowcontrol.apiserver.k8s.io", "FlowSchema" | "PriorityLevelConfiguration")
            | ("resource.k8s.io", "ResourceClaim" | "DeviceTaintRule")
            | ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")
            | ("apiregistration.k8s.io", "APIService")
            | ("apiextensions.k8s.io", "CustomResourceDefinition")
    )
}

pub(crate) fn tracks_generation(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("", "Pod" | "ReplicationController" | "PodTemplate")
            | ("apps", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet")
            | ("batch", "Job" | "CronJob")
            | ("policy", "PodDisruptionBudget")
            | ("networking.k8s.io", "Ingress" | "IngressClass" | "NetworkPolicy")
            | ("discovery.k8s.io", "EndpointSlice")
            | ("scheduling.k8s.io", "PriorityClass")
            | ("storage.k8s.io", "CSIDriver")
            | ("flowcontrol.apiserver.k8s.io", "FlowSchema" | "PriorityLevelConfiguration")
            | ("resource.k8s.io", "DeviceClass" | "ResourceSlice" | "DeviceTaintRule")
            | ("admissionregistration.k8s.io", _)
            | ("apiextensions.k8s.io", "CustomResourceDefinition")
    )
}

pub(crate) fn allows_create_on_update(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("", "Endpoints" | "Event" | "LimitRange" | "Service")
            | ("events.k8s.io", "Event")
            | ("coordination.k8s.io" | "rbac.authorization.k8s.io", _)
            | ("node.k8s.io", "RuntimeClass")
    )
}

pub(crate) fn allows_unconditional_update(group: &str, kind: &str) -> bool {
    !matches!(
        (group, kind),
        ("admissionregistration.k8s.io" | "coordination.k8s.io", _)
            | ("apiextensions.k8s.io", "CustomResourceDefinition")
            | ("apiregistration.k8s.io", "APIService")
            | ("certificates.k8s.io", "ClusterTrustBundle" | "PodCertificateRequest")
            | ("node.k8s.io", "RuntimeClass")
            | ("policy", "PodDisruptionBudget")
            | ("storage.k8s.io", "CSIDriver" | "CSINode" | "CSIStorageCapacity" | "VolumeAttachment")
    )
}

pub(crate) fn name_rule(group: &str, kind: &str) -> NameRule {
    match (group, kind) {
        ("", "Namespace") | ("apps", "StatefulSet") => NameRule::Label,
        ("", "Service") => NameRule::Label1035,
        ("rbac.authorization.k8s.io", _) => NameRule::Segment,
        ("storage.k8s.io", "CSIDriver") => NameRule::Driver,
        ("policy", "PodDisruptionBudget") => NameRule::Any,
        _ => NameRule::Subdomain,
    }
}

/// Whether objects of the kind stand outside every namespace.
pub(crate) fn is_cluster_scoped(group: &str, kind: &str) -> bool {
    match group {
        "" => matches!(kind, "Namespace" | "Node" | "PersistentVolume"),
        "storage.k8s.io" => kind != "CSIStorageCapacity",
        "scheduling.k8s.io" => kind == "PriorityClass",
        "networking.k8s.io" => matches!(kind, "IngressClass" | "IPAddress" | "ServiceCIDR"),
        "rbac.authorization.k8s.io" => matches!(kind, "ClusterRole" | "ClusterRoleBinding"),
        "resource.k8s.io" => matches!(kind, "DeviceClass" | "ResourceSlice" | "DeviceTaintRule"),
        "certificates.k8s.io" => kind != "PodCertificateRequest",
        "node.k8s.io"
        | "flowcontrol.apiserver.k8s.io"
        | "admissionregistration.k8s.io"
        | "apiextensions.k8s.io"
        | "apiregistration.k8s.io" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_are_conditional_and_can_be_put_into_being() {
        let lease = nature("coordination.k8s.io", "Lease");
        assert_eq!(
            lease,
            Nature {
                has_status: false,
                tracks_generation: false,
                allows_create_on_update: true,
                allows_unconditional_update: false,
            }
        );
    }

    #[test]
    fn pods_count_their_generation_and_nodes_do_not() {
        assert!(nature("", "Pod").tracks_generation);
        assert!(!nature("", "Node").tracks_generation);
        assert!(nature("", "Node").has_status);
    }
}
