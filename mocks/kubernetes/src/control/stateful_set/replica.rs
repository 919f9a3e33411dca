//! One pod of a StatefulSet: its number, and the pod it is to be.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{PersistentVolumeClaimVolumeSource, Pod, Volume};

use super::{Work, claims};
use crate::control::brief::Brief;
use crate::control::family::Child;
use crate::control::history;
use crate::control::pod_maker::pod_of;
use crate::store::Object;

pub(super) const REVISION: &str = "controller-revision-hash";
const NAME: &str = "statefulset.kubernetes.io/pod-name";
const INDEX: &str = "apps.kubernetes.io/pod-index";

#[derive(Clone, Debug)]
pub(super) struct Replica {
    pub(super) pod: Brief,
    /// None if its name does not end in one.
    pub(super) number: Option<i32>,
}

impl Replica {
    pub(super) fn revision(&self) -> &str {
        self.pod.object.label(REVISION).unwrap_or_default()
    }
}

impl Child for Replica {
    type Kind = Pod;

    fn of(object: &Arc<Object>) -> Option<Self> {
        let number = object.key.name.rsplit_once('-').and_then(|(_, number)| number.parse().ok());
        Some(Self { pod: Brief::of(object)?, number: number.filter(|number| *number >= 0) })
    }

    fn object(&self) -> &Arc<Object> {
        &self.pod.object
    }

    fn is_adoptable(&self) -> bool {
        true
    }

    fn fits(&self, parent: &str) -> bool {
        self.number.is_some_and(|number| *self.pod.name() == format!("{parent}-{number}"))
    }
}

impl Work<'_> {
    /// The pod of a number, of the template it is to have now.
    pub(super) fn pod(&self, number: i32) -> Pod {
        let old = self.is_rolling() && number < self.start().saturating_add(self.partition());
        let revision = if old { &self.current } else { &self.history.latest };
        let template = history::template_of(revision).unwrap_or_else(|| self.spec().template.clone());
        let mut pod = pod_of(&template, &self.set);
        let name = format!("{}-{number}", self.name());
        let metadata = &mut pod.metadata;
        metadata.generate_name = Some(format!("{}-", self.name()));
        metadata.name = Some(name.clone());
        let labels = metadata.labels.get_or_insert_default();
        labels.insert(NAME.to_owned(), name.clone());
        labels.insert(INDEX.to_owned(), number.to_string());
        labels.insert(REVISION.to_owned(), history::name(revision).to_owned());
        let claimed: Vec<Volume> = self.templates().map(|claim| self.volume(claim, number)).collect();
        let spec = pod.spec.get_or_insert_default();
        spec.hostname = Some(name);
        spec.subdomain.clone_from(&self.spec().service_name);
        let volumes = spec.volumes.take().unwrap_or_default();
        let other = |volume: &Volume| claimed.iter().all(|claim| claim.name != volume.name);
        let others: Vec<Volume> = volumes.into_iter().filter(other).collect();
        let all: Vec<Volume> = claimed.iter().cloned().chain(others).collect();
        spec.volumes = (!all.is_empty()).then_some(all);
        pod
    }

    fn volume(&self, claim: &claims::Template, number: i32) -> Volume {
        let name = claim.metadata.name.clone().unwrap_or_default();
        let claim_name = self.claim_name(claim, number);
        let source = PersistentVolumeClaimVolumeSource { claim_name, read_only: None };
        Volume { name, persistent_volume_claim: Some(source), ..Volume::default() }
    }
}
