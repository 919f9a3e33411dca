//! Faults in the cluster itself: leases of nobody, and objects that somebody else edits all the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use mock_clock::Clock as _;
use serde_json::{Value, json};

use super::Victims;
use crate::plan::{Edit, EditedBy};

/// Kinds that can be edited, with group, version and, if they have namespaces, the one that is meant.
/// A version that is left out is the one that the cluster prefers.
pub(super) const KINDS: [(&str, &str, &str, Option<&str>); 10] = [
    ("Node", "", "v1", None),
    ("Pod", "", "v1", Some("default")),
    ("ConfigMap", "", "v1", Some("kube-system")),
    ("Deployment", "apps", "v1", Some("default")),
    ("NodeClaim", "karpenter.sh", "", None),
    ("NodePool", "karpenter.sh", "", None),
    ("Lease", "coordination.k8s.io", "v1", Some("kube-system")),
    ("MachineDeployment", "cluster.x-k8s.io", "", Some("default")),
    ("MachineSet", "cluster.x-k8s.io", "", Some("default")),
    ("Machine", "cluster.x-k8s.io", "", Some("default")),
];

/// Where leases of nodes are.
const NODE_LEASES: &str = "kube-node-lease";
/// The groups of kinds that the API server knows only by their definitions.
const CUSTOM: [&str; 2] = ["cluster.x-k8s.io", "karpenter.sh"];
/// What marks an edit.
const MARK: &str = "scaleproof.dev/edited";
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
    by: EditedBy,
}

impl Editor {
    /// One who edits this kind; nothing if nobody can.
    pub(super) fn new(
        kind: &str,
        name: Option<&str>,
        per_minute: u32,
        what: Edit,
        by: EditedBy,
    ) -> Option<Self> {
        let kind = KINDS.into_iter().find(|known| known.0 == kind)?;
        Some(Self { kind, name: name.map(str::to_owned), per_minute, what, by })
    }

    /// Edits until it is aborted.
    pub(super) async fn edit(self, victims: Victims, bites: Arc<AtomicU64>, bite: Box<impl Fn(&str)>) {
        let (kind, group, version, namespace) = self.kind;
        let version = if version.is_empty() { preferred(&victims, group).await } else { version.to_owned() };
        let resource = resource(kind, group, &version);
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
        let mark = json!({MARK: number.to_string()});
        let parameters = PatchParams::default();
        let done = match self.what {
            Edit::Spec => {
                let spec = json!({"spec": {"progressDeadlineSeconds": 600 + number % 60,
                    "remediation": {"maxInFlight": number % 60 + 1}}});
                self.write(objects, name, &spec).await
            }
            Edit::Labels => self.write(objects, name, &json!({"metadata": {"labels": mark}})).await,
            Edit::Annotations => self.write(objects, name, &json!({"metadata": {"annotations": mark}})).await,
            Edit::Status => {
                let condition = json!({"type": MARK, "status": "True", "reason": format!("Edit{number}")});
                if CUSTOM.contains(&self.kind.1) {
                    return self.condition(objects, name, number).await;
                }
                let patch = json!({"status": {"conditions": [condition]}});
                objects.patch_status(name, &parameters, &Patch::Strategic(patch)).await
            }
        };
        done.is_ok()
    }
    /// Writes a change as a controller does, or as people do: all of what was read, which may be refused.
    async fn write(
        &self,
        objects: &Api<DynamicObject>,
        name: &str,
        change: &Value,
    ) -> kube::Result<DynamicObject> {
        if self.by == EditedBy::Controller {
            return objects.patch(name, &PatchParams::default(), &Patch::Merge(change)).await;
        }
        let read = objects.get(name).await?;
        let mut whole = serde_json::to_value(&read).map_err(kube::Error::SerdeError)?;
        merge(&mut whole, change);
        let whole = serde_json::from_value(whole).map_err(kube::Error::SerdeError)?;
        objects.replace(name, &PostParams::default(), &whole).await
    }

    /// Strategies are unknown to custom resources: their conditions are read, and written with one more.
    async fn condition(&self, objects: &Api<DynamicObject>, name: &str, number: u64) -> bool {
        let Ok(read) = objects.get(name).await else { return false };
        let mut conditions = read.data["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.retain(|it| it["type"] != MARK);
        conditions
            .push(json!({"type": MARK, "status": "True", "reason": format!("Edit{number}"), "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z"}));
        let patch = Patch::Merge(json!({"status": {"conditions": conditions}}));
        objects.patch_status(name, &PatchParams::default(), &patch).await.is_ok()
    }
}

/// The version of a group that the cluster prefers.
async fn preferred(victims: &Victims, group: &str) -> String {
    let groups = victims.client.list_api_groups().await.map(|list| list.groups).unwrap_or_default();
    let found = groups.into_iter().find(|it| it.name == group).and_then(|it| it.preferred_version);
    found.map_or_else(|| "v1".to_owned(), |preferred| preferred.version)
}

/// Puts a change into an object, field by field.
fn merge(into: &mut Value, change: &Value) {
    match (into, change) {
        (Value::Object(into), Value::Object(change)) => {
            for (key, value) in change {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, change) => *into = change.clone(),
    }
}
