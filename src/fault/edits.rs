//! Faults in the cluster itself: leases of nobody, and objects that somebody else edits all the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use mock_clock::Clock as _;
use serde_json::json;

use super::Victims;
use crate::plan::Edit;

/// Kinds that can be edited, with group, version and, if they have namespaces, the one that is meant.
pub(super) const KINDS: [(&str, &str, &str, Option<&str>); 5] = [
    ("Node", "", "v1", None),
    ("Pod", "", "v1", Some("default")),
    ("ConfigMap", "", "v1", Some("kube-system")),
    ("Deployment", "apps", "v1", Some("default")),
    ("Lease", "coordination.k8s.io", "v1", Some("kube-system")),
];

/// Where leases of nodes are.
const NODE_LEASES: &str = "kube-node-lease";
const MINUTE: Duration = Duration::from_secs(60);

fn resource(kind: &str, group: &str, version: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

/// Makes leases of nodes that there are not, so many a minute, until it is aborted.
pub(super) async fn leak_leases(
    victims: Victims,
    per_minute: u32,
    bites: Arc<AtomicU64>,
    bite: Box<impl Fn(&str)>,
) {
    let resource = resource("Lease", "coordination.k8s.io", "v1");
    let leases: Api<DynamicObject> = Api::namespaced_with(victims.client.clone(), NODE_LEASES, &resource);
    for number in 0_u64.. {
        victims.clock.sleep(MINUTE / per_minute.max(1)).await;
        let name = format!("leaked-{number}");
        let lease = DynamicObject::new(&name, &resource).data(json!({"spec": {"holderIdentity": name}}));
        if leases.create(&PostParams::default(), &lease).await.is_ok()
            && bites.fetch_add(1, Ordering::Relaxed) == 0
        {
            bite(&format!("lease {name}"));
        }
    }
}

/// Edits objects of a kind.
pub(super) struct Editor {
    kind: (&'static str, &'static str, &'static str, Option<&'static str>),
    name: Option<String>,
    per_minute: u32,
    what: Edit,
}

impl Editor {
    /// One who edits this kind; nothing if nobody can.
    pub(super) fn new(kind: &str, name: Option<&str>, per_minute: u32, what: Edit) -> Option<Self> {
        let kind = KINDS.into_iter().find(|known| known.0 == kind)?;
        Some(Self { kind, name: name.map(str::to_owned), per_minute, what })
    }

    /// Edits until it is aborted.
    pub(super) async fn edit(self, victims: Victims, bites: Arc<AtomicU64>, bite: Box<impl Fn(&str)>) {
        let (kind, group, version, namespace) = self.kind;
        let resource = resource(kind, group, version);
        let objects: Api<DynamicObject> = match namespace {
            Some(namespace) => Api::namespaced_with(victims.client.clone(), namespace, &resource),
            None => Api::all_with(victims.client.clone(), &resource),
        };
        for number in 0_u64.. {
            victims.clock.sleep(MINUTE / self.per_minute.max(1)).await;
            let names: Vec<String> = match &self.name {
                Some(name) => vec![name.clone()],
                None => match objects.list(&ListParams::default()).await {
                    Ok(list) => list.items.into_iter().filter_map(|object| object.metadata.name).collect(),
                    // Whoever cannot be asked now is asked again.
                    Err(_) => continue,
                },
            };
            for name in names {
                if self.touch(&objects, &name, number).await && bites.fetch_add(1, Ordering::Relaxed) == 0 {
                    bite(&format!("{kind} {name}"));
                }
            }
        }
    }

    async fn touch(&self, objects: &Api<DynamicObject>, name: &str, number: u64) -> bool {
        let mark = json!({"scaleproof.dev/edited": number.to_string()});
        let parameters = PatchParams::default();
        let done = match self.what {
            Edit::Labels => {
                objects.patch(name, &parameters, &Patch::Merge(json!({"metadata": {"labels": mark}}))).await
            }
            Edit::Annotations => {
                objects
                    .patch(name, &parameters, &Patch::Merge(json!({"metadata": {"annotations": mark}})))
                    .await
            }
            Edit::Status => {
                let condition = json!({"type": "scaleproof.dev/edited", "status": "True", "reason": format!("Edit{number}")});
                let patch = json!({"status": {"conditions": [condition]}});
                objects.patch_status(name, &parameters, &Patch::Strategic(patch)).await
            }
        };
        done.is_ok()
    }
}
