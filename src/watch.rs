//! All objects of a kind as they come, change and go: a list, then a watch, then both again when a watch has ended too
//! long ago. Whatever happened in between is told as well, each object once.
//!
//! It stands beside the arrow: the recorder of the cluster and the world look through it. It decides nothing.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use k8s_openapi::serde::de::DeserializeOwned;
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use kube::{Resource, ResourceExt as _};
use mock_clock::{Clock as _, VirtualClock};

/// After an error that is not "too old", somebody is in trouble: no hurry.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest that a watch may be asked to last.
const LONGEST_S: u32 = 290;

/// What has become of an object.
#[derive(Clone, Debug)]
pub enum Sight<K> {
    /// It is there now.
    Added(K),
    /// It is different now.
    Modified(K),
    /// It is gone; as it was last.
    Deleted(K),
    /// All that there were at the beginning have been told.
    Listed,
    /// It could not be looked at, and is tried again. Reads after "failed to".
    Blind(String),
}

/// Tells `seen` everything that happens to the objects of `api`, for ever.
pub async fn follow<K>(clock: VirtualClock, api: Api<K>, mut seen: impl FnMut(Sight<K>))
where
    K: Resource<DynamicType: Default> + Clone + Debug + DeserializeOwned,
{
    follow_as(clock, api, &K::DynamicType::default(), &mut seen).await;
}

/// The same for objects whose kind is a value.
pub async fn follow_as<K>(
    clock: VirtualClock,
    api: Api<K>,
    kind: &K::DynamicType,
    seen: &mut impl FnMut(Sight<K>),
) where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    let mut known = Known { objects: BTreeMap::new() };
    loop {
        let why = match known.list(&api, seen).await {
            Ok(version) => known.watch(&api, version, seen).await,
            Err(error) => Err(error),
        };
        if let Err(error) = why
            && !is_too_old(&error)
        {
            seen(Sight::Blind(format!("look at {}: {error}", K::plural(kind))));
            clock.sleep(PAUSE).await;
        }
    }
}

/// What was seen last, by namespace and name.
struct Known<K> {
    objects: BTreeMap<(String, String), K>,
}

impl<K: Resource + Clone + Debug + DeserializeOwned> Known<K> {
    /// Tells what is different from what was known, and gives the version that it is of.
    async fn list(&mut self, api: &Api<K>, seen: &mut impl FnMut(Sight<K>)) -> kube::Result<String> {
        let list = api.list(&ListParams::default()).await?;
        self.compare(list.items, seen);
        seen(Sight::Listed);
        Ok(list.metadata.resource_version.unwrap_or_default())
    }

    fn compare(&mut self, there: Vec<K>, seen: &mut impl FnMut(Sight<K>)) {
        let mut before = std::mem::take(&mut self.objects);
        for object in there {
            match before.remove(&key(&object)) {
                Some(old) if old.uid() != object.uid() => {
                    seen(Sight::Deleted(old));
                    self.put(object, seen);
                }
                Some(old) if old.resource_version() == object.resource_version() => {
                    self.objects.insert(key(&object), object);
                }
                Some(old) => {
                    self.objects.insert(key(&old), old);
                    self.put(object, seen);
                }
                None => self.put(object, seen),
            }
        }
        for gone in before.into_values() {
            seen(Sight::Deleted(gone));
        }
    }

    /// Tells what happens from a version on, until that version is too old.
    async fn watch(
        &mut self,
        api: &Api<K>,
        mut version: String,
        seen: &mut impl FnMut(Sight<K>),
    ) -> kube::Result<()> {
        loop {
            let stream = api.watch(&WatchParams::default().timeout(LONGEST_S), &version).await?;
            let mut stream = std::pin::pin!(stream);
            // A stream that breaks off is taken up where it broke; only the server's word counts as an error.
            while let Ok(Some(event)) = stream.try_next().await {
                match event {
                    WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                        version = object.resource_version().unwrap_or(version);
                        self.put(object, seen);
                    }
                    WatchEvent::Deleted(object) => {
                        version = object.resource_version().unwrap_or(version);
                        self.objects.remove(&key(&object));
                        seen(Sight::Deleted(object));
                    }
                    WatchEvent::Bookmark(mark) => version = mark.metadata.resource_version,
                    WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
                }
            }
        }
    }

    fn put(&mut self, object: K, seen: &mut impl FnMut(Sight<K>)) {
        let known = self.objects.insert(key(&object), object.clone()).is_some();
        seen(if known { Sight::Modified(object) } else { Sight::Added(object) });
    }
}

fn key<K: Resource>(object: &K) -> (String, String) {
    let meta = object.meta();
    (meta.namespace.clone().unwrap_or_default(), meta.name.clone().unwrap_or_default())
}

fn is_too_old(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 410)
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    fn map(name: &str, uid: &str, version: u32) -> ConfigMap {
        let metadata = json!({"name": name, "uid": uid, "resourceVersion": version.to_string()});
        serde_json::from_value(json!({"metadata": metadata})).unwrap()
    }

    /// What is told when these are there instead of those.
    fn told(those: Vec<ConfigMap>, these: Vec<ConfigMap>) -> Vec<String> {
        let mut known = Known { objects: BTreeMap::new() };
        known.compare(those, &mut |_| {});
        let mut told = Vec::new();
        known.compare(these, &mut |sight| {
            told.push(match sight {
                Sight::Added(it) => format!("added {} {}", it.name_any(), it.uid().unwrap()),
                Sight::Modified(it) => format!("modified {} {}", it.name_any(), it.uid().unwrap()),
                Sight::Deleted(it) => format!("deleted {} {}", it.name_any(), it.uid().unwrap()),
                Sight::Listed | Sight::Blind(_) => "nothing".to_owned(),
            });
        });
        told
    }

    #[test]
    fn what_was_missed_is_told_once_each() {
        let before =
            vec![map("same", "1", 1), map("changed", "2", 2), map("gone", "3", 3), map("again", "4", 4)];
        let after =
            vec![map("same", "1", 1), map("changed", "2", 7), map("again", "5", 8), map("new", "6", 9)];
        let expected =
            ["modified changed 2", "deleted again 4", "added again 5", "added new 6", "deleted gone 3"];
        assert_eq!(told(before, after.clone()), expected);
        assert!(told(after.clone(), after).is_empty());
    }

    #[test]
    fn too_old_is_no_trouble() {
        let status = |code| kube::Error::Api(Box::new(kube::core::Status::failure("", "").with_code(code)));
        assert!(is_too_old(&status(410)) && !is_too_old(&status(403)));
    }
}
