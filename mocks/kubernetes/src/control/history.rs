//! The templates that a set has had, each kept in a ControllerRevision.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use serde_json::{Value, json};

use super::family::{controller_ref, writes};
use super::hash::short_hash;
use crate::api::{self, Api, Delete, Kind};
use crate::status::Status;

/// The revisions of one parent.
#[derive(Debug)]
pub(super) struct History {
    /// That of the template.
    pub(super) latest: ControllerRevision,
    /// The others, the oldest first.
    pub(super) older: Vec<ControllerRevision>,
    pub(super) collisions: Option<i32>,
}

/// Finds the revision of a template, or makes it. `label` is what carries its hash. A name that another template has
/// taken counts as a collision.
pub(super) fn keep<P: Kind>(
    api: &Api,
    parent: &P,
    template: &PodTemplateSpec,
    label: &str,
    mut collisions: Option<i32>,
) -> Result<History, Status> {
    let uid = parent.metadata().uid.as_deref().unwrap_or_default();
    let owned = api.owned::<ControllerRevision>(uid);
    let mut all: Vec<ControllerRevision> = owned.iter().filter_map(|object| api::read(object)).collect();
    all.sort_by(|left, right| (left.revision, name(left)).cmp(&(right.revision, name(right))));
    let data = data_of(template);
    let same = |revision: &ControllerRevision| revision.data.as_ref().is_some_and(|own| own.0 == data);
    let next = |older: &[ControllerRevision]| older.last().map_or(1, |last| last.revision + 1);
    if let Some(place) = all.iter().rposition(same) {
        let mut latest = all.remove(place);
        if latest.revision < next(&all) {
            latest = promote(api, &latest, next(&all))?;
        }
        return Ok(History { latest, older: all, collisions });
    }
    loop {
        let draft = draft(parent, template, &data, (label, collisions), next(&all));
        match api.make(parent.metadata().namespace.as_deref().unwrap_or_default(), &draft, &writes()) {
            Ok(latest) => return Ok(History { latest, older: all, collisions }),
            Err(status) if status.reason == "AlreadyExists" => {
                collisions = Some(collisions.unwrap_or_default() + 1);
            }
            Err(status) => return Err(status),
        }
    }
}

pub(super) fn name(revision: &ControllerRevision) -> &str {
    revision.metadata.name.as_deref().unwrap_or_default()
}

fn data_of(template: &PodTemplateSpec) -> Value {
    let mut template = serde_json::to_value(template).unwrap_or_default();
    template["$patch"] = json!("replace");
    json!({"spec": {"template": template}})
}

/// The template that a revision keeps.
pub(super) fn template_of(revision: &ControllerRevision) -> Option<PodTemplateSpec> {
    let mut template = revision.data.as_ref()?.0.get("spec")?.get("template")?.clone();
    template.as_object_mut()?.remove("$patch");
    serde_json::from_value(template).ok()
}

fn promote(api: &Api, revision: &ControllerRevision, number: i64) -> Result<ControllerRevision, Status> {
    let namespace = revision.metadata.namespace.as_deref().unwrap_or_default();
    api.edit::<ControllerRevision>((namespace, name(revision), ""), &writes(), |found| {
        found.revision = number;
        Ok(())
    })
}

fn draft<P: Kind>(
    parent: &P,
    template: &PodTemplateSpec,
    data: &Value,
    (label, collisions): (&str, Option<i32>),
    number: i64,
) -> ControllerRevision {
    const ROOM: usize = 223;
    let hash = short_hash(data, collisions);
    let given = template.metadata.as_ref().and_then(|metadata| metadata.labels.clone());
    let mut labels = given.unwrap_or_default();
    labels.insert(label.to_owned(), hash.clone());
    let own = parent.metadata().name.as_deref().unwrap_or_default();
    ControllerRevision {
        metadata: ObjectMeta {
            name: Some(format!("{}-{hash}", &own[..own.floor_char_boundary(ROOM)])),
            labels: Some(labels),
            annotations: parent.metadata().annotations.clone(),
            owner_references: Some(vec![controller_ref(parent)]),
            ..ObjectMeta::default()
        },
        data: Some(RawExtension(data.clone())),
        revision: number,
    }
}

/// Deletes the oldest revisions that nothing uses, beyond a number to remember.
pub(super) fn trim(
    api: &Api,
    older: &[ControllerRevision],
    is_used: impl Fn(&ControllerRevision) -> bool,
    limit: Option<i32>,
) -> Result<(), Status> {
    let limit = usize::try_from(limit.unwrap_or(10)).unwrap_or(usize::MAX);
    let unused: Vec<&ControllerRevision> = older.iter().filter(|revision| !is_used(revision)).collect();
    let surplus = unused.len().saturating_sub(limit);
    unused.into_iter().take(surplus).try_for_each(|revision| {
        let namespace = revision.metadata.namespace.as_deref().unwrap_or_default();
        api.discard::<ControllerRevision>(namespace, name(revision), &Delete::background(), &writes())
    })
}

/// The values of a label among pods.
pub(super) fn values<'a>(
    pods: impl Iterator<Item = &'a super::brief::Brief>,
    label: &str,
) -> BTreeSet<&'a str> {
    pods.filter_map(|pod| pod.object.label(label)).collect()
}
