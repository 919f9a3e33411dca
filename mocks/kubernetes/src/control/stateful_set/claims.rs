//! The claims of numbered pods: made before the pod, kept after it, or owned so that they go with it.

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use super::Work;
use super::replica::Replica;
use crate::control::events::about;
use crate::control::family::{controller_ref, edit, writes};
use crate::status::Status;
use crate::store::Object;

pub(super) type Template = PersistentVolumeClaim;

impl Work<'_> {
    pub(super) fn templates(&self) -> impl Iterator<Item = &Template> {
        self.spec().volume_claim_templates.iter().flatten()
    }

    pub(super) fn claim_name(&self, template: &Template, number: i32) -> String {
        format!("{}-{}-{number}", template.metadata.name.as_deref().unwrap_or_default(), self.name())
    }

    /// Makes the claims of a number that are not there.
    pub(super) fn make_claims(&mut self, number: i32) -> Result<(), Status> {
        let drafts: Vec<Template> = self.templates().map(|template| self.claim(template, number)).collect();
        for claim in drafts {
            let name = claim.metadata.name.clone().unwrap_or_default();
            let (set, pod) = (self.name(), format!("{}-{number}", self.name()));
            let resource = self.api.resource::<PersistentVolumeClaim>();
            if self.api.find(&resource, self.namespace(), &name).is_some() {
                continue;
            }
            if let Err(status) = self.api.make(self.namespace(), &claim, &writes()) {
                let why = &status.message;
                let message =
                    format!("Create Claim {name} for Pod {pod} in StatefulSet {set} failed error: {why}");
                self.recorder.warning(self.api, &about(&self.set), "FailedCreate", &message);
                return Err(status);
            }
            let message = format!("Create Claim {name} Pod {pod} in StatefulSet {set} success");
            self.recorder.normal(self.api, &about(&self.set), "SuccessfulCreate", &message);
        }
        Ok(())
    }

    fn claim(&self, template: &Template, number: i32) -> Template {
        let mut claim = template.clone();
        claim.metadata.name = Some(self.claim_name(template, number));
        claim.metadata.namespace = None;
        claim.status = None;
        let selected = self.spec().selector.match_labels.clone().unwrap_or_default();
        claim.metadata.labels.get_or_insert_default().extend(selected);
        claim
    }

    fn deletes(&self, when: &str) -> bool {
        let policy = self.spec().persistent_volume_claim_retention_policy.as_ref();
        let policy = policy.and_then(|policy| match when {
            "scaled" => policy.when_scaled.as_deref(),
            _ => policy.when_deleted.as_deref(),
        });
        policy == Some("Delete")
    }

    /// Whether a claim of a number still belongs to an earlier pod and is about to go with it.
    pub(super) fn has_stale_claim(&self, number: i32) -> bool {
        let pod = format!("{}-{number}", self.name());
        let is_stale =
            |object: &Object| object.owners.iter().any(|owner| &*owner.kind == "Pod" && *owner.name == pod);
        let resource = self.api.resource::<PersistentVolumeClaim>();
        let find = |template| self.api.find(&resource, self.namespace(), &self.claim_name(template, number));
        self.deletes("scaled") && self.templates().filter_map(find).any(|object| is_stale(&object))
    }

    /// Gives a pod's claims the owner with which they are to go, if any.
    pub(super) fn settle_claims(&self, replica: &Replica) -> Result<(), Status> {
        let Some(number) = replica.number else { return Ok(()) };
        let resource = self.api.resource::<PersistentVolumeClaim>();
        for template in self.templates() {
            let found = self.api.find(&resource, self.namespace(), &self.claim_name(template, number));
            if let Some(object) = found {
                self.settle_claim(&object, replica, number)?;
            }
        }
        Ok(())
    }

    fn settle_claim(&self, object: &Object, replica: &Replica, number: i32) -> Result<(), Status> {
        let set = self.set.metadata.uid.as_deref().unwrap_or_default();
        let pod = replica.pod.uid();
        let named = |kind: &str, name: &str, uid: &str| {
            object
                .owners
                .iter()
                .any(|owner| *owner.kind == *kind && *owner.name == *name && *owner.uid != *uid)
        };
        if named("StatefulSet", self.name(), set) || named("Pod", replica.pod.name(), pod) {
            return Ok(());
        }
        let scaled_down = !self.is_in_range(number);
        let owner = if scaled_down && self.deletes("scaled") {
            Some(pod)
        } else {
            self.deletes("deleted").then_some(set)
        };
        let has = |uid: &str| object.owners.iter().any(|known| *known.uid == *uid);
        if has(set) == (owner == Some(set)) && has(pod) == (owner == Some(pod)) {
            return Ok(());
        }
        let reference: Option<OwnerReference> = match owner {
            Some(uid) if uid == set => Some(controller_ref(&self.set)),
            Some(_) => replica.pod.read().map(|pod: Pod| controller_ref(&pod)),
            None => None,
        };
        edit::<PersistentVolumeClaim>(self.api, object, |claim| {
            let owners = claim.metadata.owner_references.get_or_insert_default();
            owners.retain(|known| known.uid != set && known.uid != pod);
            if !owners.iter().any(|known| known.controller == Some(true)) {
                owners.extend(reference.clone());
            }
        })
    }
}
