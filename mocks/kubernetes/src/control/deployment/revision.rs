//! Which ReplicaSet is the new one, what it is called, and the numbers that say in which order templates came.

use k8s_openapi::api::apps::v1::{ReplicaSet, ReplicaSetSpec};
use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{Work, replicas};
use crate::control::events::about;
use crate::control::family::{controller_ref, writes};
use crate::control::hash::short_hash;
use crate::status::Status;

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// What was wanted when a set was last scaled, and how many pods there might have been.
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MOST: &str = "deployment.kubernetes.io/max-replicas";
/// Annotations that sets do not inherit.
const OWN: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    REVISION,
    HISTORY,
    DESIRED,
    MOST,
];
const HASH_LABEL: &str = "pod-template-hash";
const HISTORY_LENGTH: usize = 2000;
const NAME_LENGTH: usize = 253;

/// Whether two templates differ in nothing but the hash.
pub(super) fn same_template(left: &PodTemplateSpec, right: &PodTemplateSpec) -> bool {
    let bare = |template: &PodTemplateSpec| {
        let mut metadata = template.metadata.clone().unwrap_or_default();
        if let Some(labels) = &mut metadata.labels {
            labels.remove(HASH_LABEL);
        }
        metadata.labels = metadata.labels.filter(|labels| !labels.is_empty());
        metadata.annotations = metadata.annotations.filter(|annotations| !annotations.is_empty());
        metadata
    };
    left.spec == right.spec && bare(left) == bare(right)
}

pub(super) fn of(metadata: &ObjectMeta) -> Option<String> {
    metadata.annotations.as_ref()?.get(REVISION).cloned()
}

fn number(set: &ReplicaSet) -> i64 {
    of(&set.metadata).and_then(|text| text.parse().ok()).unwrap_or_default()
}

impl Work<'_> {
    /// Brings revision and annotations of the new set, if there is one, and of the deployment up to date.
    pub(super) fn adopt_revision(&mut self) -> Result<(), Status> {
        let Some(set) = &self.new else { return Ok(()) };
        let mut changed = set.clone();
        self.annotate(&mut changed);
        let min_ready = self.spec().min_ready_seconds.filter(|seconds| *seconds != 0);
        if let Some(spec) = &mut changed.spec
            && spec.min_ready_seconds.filter(|seconds| *seconds != 0) != min_ready
        {
            spec.min_ready_seconds = min_ready;
        }
        if changed != *set {
            let name = changed.metadata.name.clone().unwrap_or_default();
            let place = (self.namespace(), &*name, "");
            let written = self.api.edit::<ReplicaSet>(place, &writes(), |found| {
                found.metadata.annotations.clone_from(&changed.metadata.annotations);
                if let Some(spec) = &mut found.spec {
                    spec.min_ready_seconds = min_ready;
                }
                Ok(())
            })?;
            self.new = Some(written);
        }
        let found = self.new.as_ref().map(|set| set.metadata.name.clone().unwrap_or_default());
        let revision = self.new.as_ref().and_then(|set| of(&set.metadata)).unwrap_or_default();
        self.note_found(&found.unwrap_or_default(), revision)
    }

    /// The deployment takes over the revision, and progress is counted from here if nothing was said of it yet.
    fn note_found(&mut self, set: &str, revision: String) -> Result<(), Status> {
        let mut changed = self.set_revision(revision);
        if self.deadline().is_some() && self.progressing().is_none() {
            let message = format!("Found new replica set {set:?}");
            self.set_condition("Progressing", "True", "FoundNewReplicaSet", &message);
            changed = true;
        }
        if changed { self.write_status() } else { Ok(()) }
    }

    fn set_revision(&mut self, revision: String) -> bool {
        if of(&self.deployment.metadata).as_ref() == Some(&revision) {
            return false;
        }
        let annotations = self.deployment.metadata.annotations.get_or_insert_default();
        annotations.insert(REVISION.to_owned(), revision);
        true
    }

    /// The annotations of a new set: those of the deployment, and a revision higher than that of any old set.
    fn annotate(&self, set: &mut ReplicaSet) {
        let next = self.old.iter().map(number).max().unwrap_or_default() + 1;
        let before = of(&set.metadata);
        let known = number(set);
        let annotations = set.metadata.annotations.get_or_insert_default();
        for (key, value) in self.deployment.metadata.annotations.iter().flatten() {
            if !OWN.contains(&key.as_str()) {
                annotations.insert(key.clone(), value.clone());
            }
        }
        if known >= next {
            return;
        }
        annotations.insert(REVISION.to_owned(), next.to_string());
        if let Some(before) = before {
            let history = annotations.remove(HISTORY).filter(|history| !history.is_empty());
            annotations.insert(HISTORY.to_owned(), remember(history, &before));
        }
    }

    /// Makes the set of the template. Its name tells the template, so that it is made once.
    pub(super) fn create_set(&mut self) -> Result<(), Status> {
        let set = self.draft_set();
        let namespace = self.namespace().to_owned();
        let name = set.metadata.name.clone().unwrap_or_default();
        let (made, fresh) = match self.api.make(&namespace, &set, &writes()) {
            Ok(made) => (made, true),
            Err(status) if status.reason == "AlreadyExists" => {
                (self.same_set(&namespace, &name, status)?, false)
            }
            Err(status) if crate::control::pod_maker::is_namespace_going(&status) => return Err(status),
            Err(status) => return self.note_refused(&name, status),
        };
        let count = replicas(&made);
        if fresh && count > 0 {
            let message = format!("Scaled up replica set {name} from 0 to {count}");
            self.recorder.normal(self.api, &about(&self.deployment), "ScalingReplicaSet", &message);
        }
        let mut changed = self.set_revision(of(&made.metadata).unwrap_or_default());
        if fresh && self.deadline().is_some() {
            let message = format!("Created new replica set {name:?}");
            self.set_condition("Progressing", "True", "NewReplicaSetCreated", &message);
            changed = true;
        }
        self.new = Some(made);
        if changed { self.write_status() } else { Ok(()) }
    }

    fn draft_set(&self) -> ReplicaSet {
        let mut template = self.spec().template.clone();
        let hash = short_hash(&template, self.status().collision_count);
        let labels = template.metadata.get_or_insert_default().labels.get_or_insert_default();
        labels.insert(HASH_LABEL.to_owned(), hash.clone());
        let labels = labels.clone();
        let mut selector = self.spec().selector.clone();
        selector.match_labels.get_or_insert_default().insert(HASH_LABEL.to_owned(), hash.clone());
        let room = self.name().floor_char_boundary(NAME_LENGTH - 1 - hash.len());
        let mut set = ReplicaSet {
            metadata: ObjectMeta {
                name: Some(format!("{}-{hash}", &self.name()[..room])),
                labels: Some(labels),
                owner_references: Some(vec![controller_ref(&self.deployment)]),
                ..ObjectMeta::default()
            },
            spec: Some(ReplicaSetSpec {
                replicas: Some(self.new_count(0)),
                min_ready_seconds: self.spec().min_ready_seconds,
                selector,
                template: Some(template),
            }),
            status: None,
        };
        self.annotate(&mut set);
        self.note_size(&mut set);
        set
    }

    /// The set of that name, if it is ours and the same; otherwise two templates have one hash, and the next try
    /// takes another.
    fn same_set(&mut self, namespace: &str, name: &str, taken: Status) -> Result<ReplicaSet, Status> {
        let found = self.api.read::<ReplicaSet>(namespace, name).ok_or(taken.clone())?;
        let owners = found.metadata.owner_references.iter().flatten();
        let ours = owners.filter(|owner| owner.controller == Some(true));
        let ours = ours.map(|owner| Some(&owner.uid)).any(|uid| uid == self.deployment.metadata.uid.as_ref());
        let template = found.spec.as_ref().and_then(|spec| spec.template.as_ref());
        if ours && template.is_some_and(|template| same_template(template, &self.spec().template)) {
            return Ok(found);
        }
        let status = self.deployment.status.get_or_insert_default();
        status.collision_count = Some(status.collision_count.unwrap_or_default() + 1);
        self.write_status()?;
        Err(taken)
    }

    fn note_refused(&mut self, name: &str, status: Status) -> Result<(), Status> {
        let message = format!("Failed to create new replica set {name:?}: {}", status.message);
        if self.deadline().is_some() {
            self.set_condition("Progressing", "False", "ReplicaSetCreateError", &message);
            self.write_status()?;
        }
        self.recorder.warning(self.api, &about(&self.deployment), "ReplicaSetCreateError", &message);
        Err(status)
    }
}

/// A history with one revision more; the first are forgotten when it gets long.
fn remember(history: Option<String>, revision: &str) -> String {
    let Some(history) = history else { return revision.to_owned() };
    let mut rest = history.as_str();
    while rest.len() + 1 + revision.len() > HISTORY_LENGTH {
        let Some((_, later)) = rest.split_once(',') else { break };
        rest = later;
    }
    format!("{rest},{revision}")
}
