//! Making and deleting pods for somebody, with the events that tell of it.

use k8s_openapi::api::core::v1::{ObjectReference, Pod, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::brief::Brief;
use super::events::{Recorder, about};
use super::family::{controller_ref, writes};
use crate::api::{Api, Delete, Kind};
use crate::status::Status;

/// No reconciliation makes or deletes more pods than this: the changes bring it back for the rest.
pub(super) const BURST: usize = 500;

/// Makes and deletes the pods of one parent.
pub(super) struct PodMaker<'a> {
    api: &'a Api,
    recorder: &'a mut Recorder,
    parent: ObjectReference,
    namespace: String,
}

impl<'a> PodMaker<'a> {
    pub(super) fn new<P: Kind>(api: &'a Api, recorder: &'a mut Recorder, parent: &P) -> Self {
        let namespace = parent.metadata().namespace.clone().unwrap_or_default();
        Self { api, recorder, parent: about(parent), namespace }
    }

    /// Makes a pod. Nothing is wrong if the namespace is about to go.
    pub(super) fn make(&mut self, pod: &Pod) -> Result<(), Status> {
        match self.api.make(&self.namespace, pod, &writes()) {
            Ok(pod) => {
                let name = pod.metadata.name.unwrap_or_default();
                self.normal("SuccessfulCreate", &format!("Created pod: {name}"));
                Ok(())
            }
            Err(status) if is_namespace_going(&status) => Ok(()),
            Err(status) => {
                self.warning("FailedCreate", &format!("Error creating: {}", status.message));
                Err(status)
            }
        }
    }

    /// Deletes a pod, if it is still the one that is meant.
    pub(super) fn delete(&mut self, pod: &Brief) -> Result<(), Status> {
        let delete = Delete::default().only(pod.uid());
        match self.api.discard::<Pod>(&self.namespace, pod.name(), &delete, &writes()) {
            Ok(()) => {
                self.normal("SuccessfulDelete", &format!("Deleted pod: {}", pod.name()));
                Ok(())
            }
            Err(status) if status.code == 409 => Ok(()),
            Err(status) => {
                self.warning("FailedDelete", &format!("Error deleting: {}", status.message));
                Err(status)
            }
        }
    }

    pub(super) fn normal(&mut self, reason: &str, message: &str) {
        self.recorder.normal(self.api, &self.parent, reason, message);
    }

    pub(super) fn warning(&mut self, reason: &str, message: &str) {
        self.recorder.warning(self.api, &self.parent, reason, message);
    }
}

/// A pod of a template, as yet without a name.
pub(super) fn pod_of<P: Kind>(template: &PodTemplateSpec, parent: &P) -> Pod {
    let given = template.metadata.clone().unwrap_or_default();
    let name = parent.metadata().name.as_deref().unwrap_or_default();
    Pod {
        metadata: ObjectMeta {
            generate_name: Some(format!("{name}-")),
            labels: given.labels,
            annotations: given.annotations,
            finalizers: given.finalizers,
            owner_references: Some(vec![controller_ref(parent)]),
            ..ObjectMeta::default()
        },
        spec: template.spec.clone(),
        status: None,
    }
}

/// Nothing can be made in a namespace that is being deleted, and nothing needs to be.
pub(super) fn is_namespace_going(status: &Status) -> bool {
    status.details.causes.iter().any(|cause| cause.reason == "NamespaceTerminating")
}
