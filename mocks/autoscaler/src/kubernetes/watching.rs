//! A cache of one resource: listed once, watched from there, listed anew when the version is gone.
//!
//! All waits are the clock's, which is why it is not kube's own watcher: that one waits by the runtime's timers.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt as _, pin_mut};
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use kube::{Resource, ResourceExt as _};
use mock_clock::{Clock as _, VirtualClock};
use serde::de::DeserializeOwned;

/// How long the server lets a watch run, and how much longer it is listened to.
const WATCH_S: u32 = 290;
const GRACE: Duration = Duration::from_secs(10);
const LIST_TIMEOUT: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(800);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// After so long without trouble the next pause is the first again.
const STEADY: Duration = Duration::from_secs(120);
/// A watch that ends before, and brought nothing, is not opened again at once.
const SHORT: Duration = Duration::from_secs(1);
const PAGE: u32 = 500;

/// What is known of a resource, by namespace and name.
#[derive(Debug)]
pub(crate) struct Cache<K> {
    objects: Arc<Mutex<Objects<K>>>,
}

#[derive(Debug)]
struct Objects<K> {
    by_key: BTreeMap<String, K>,
    filled: bool,
}

/// Why a list or a watch came to its end.
enum End {
    Quiet,
    VersionGone,
    Trouble(String),
}

impl<K> Cache<K>
where
    K: Clone + Debug + DeserializeOwned + Resource + Send + Sync + 'static,
    K::DynamicType: Default,
{
    /// Begins to fill, and never stops. With `stubborn` it stops when it would have to list a second time.
    pub(crate) fn start(api: Api<K>, clock: VirtualClock, stubborn: bool) -> Self {
        let objects = Arc::new(Mutex::new(Objects { by_key: BTreeMap::new(), filled: false }));
        tokio::spawn(keep(api, clock, Arc::clone(&objects), stubborn));
        Self { objects }
    }

    pub(crate) fn is_filled(&self) -> bool {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner).filled
    }

    /// What `read` makes of each of them.
    pub(crate) fn read<T>(&self, read: impl Fn(&K) -> T) -> Vec<T> {
        let objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        objects.by_key.values().map(read).collect()
    }
}

async fn keep<K>(api: Api<K>, clock: VirtualClock, objects: Arc<Mutex<Objects<K>>>, stubborn: bool)
where
    K: Clone + Debug + DeserializeOwned + Resource + Send + 'static,
    K::DynamicType: Default,
{
    let mut version: Option<String> = None;
    let mut pause = FIRST_PAUSE;
    loop {
        let began = clock.now();
        let end = match &mut version {
            None => match list(&api, &clock, &objects).await {
                Ok(listed) => {
                    version = Some(listed);
                    continue;
                }
                Err(why) => End::Trouble(why),
            },
            Some(version) => watch(&api, &clock, &objects, version).await,
        };
        if clock.now() >= began + STEADY {
            pause = FIRST_PAUSE;
        }
        match end {
            End::Quiet => continue,
            End::VersionGone if stubborn => return,
            End::VersionGone => version = None,
            End::Trouble(why) => {
                tracing::warn!("failed to watch {}: {why}", K::plural(&K::DynamicType::default()));
            }
        }
        clock.sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Fills the cache; gives the version from which to watch.
async fn list<K>(api: &Api<K>, clock: &VirtualClock, objects: &Mutex<Objects<K>>) -> Result<String, String>
where
    K: Clone + Debug + DeserializeOwned + Resource,
    K::DynamicType: Default,
{
    let mut all = BTreeMap::new();
    let mut parameters = ListParams::default().limit(PAGE);
    loop {
        let page = clock.timeout(LIST_TIMEOUT, api.list(&parameters)).await;
        let page = page.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
        let (next, version) = (page.metadata.continue_, page.metadata.resource_version);
        all.extend(page.items.into_iter().map(|object| (key(&object), object)));
        let Some(next) = next.filter(|next| !next.is_empty()) else {
            *objects.lock().unwrap_or_else(PoisonError::into_inner) = Objects { by_key: all, filled: true };
            return version.ok_or_else(|| "a list without a version".to_owned());
        };
        parameters = parameters.continue_token(&next);
    }
}

/// Follows changes until the watch ends.
async fn watch<K>(
    api: &Api<K>,
    clock: &VirtualClock,
    objects: &Mutex<Objects<K>>,
    version: &mut String,
) -> End
where
    K: Clone + Debug + DeserializeOwned + Resource,
    K::DynamicType: Default,
{
    let began = clock.now();
    let deadline = began + Duration::from_secs(WATCH_S.into()) + GRACE;
    let seen_before = version.clone();
    let parameters = WatchParams::default().timeout(WATCH_S);
    let events = match clock.timeout_at(deadline, api.watch(&parameters, version)).await {
        Err(_) => return End::Quiet,
        Ok(Err(e)) => return end(&e),
        Ok(Ok(events)) => events,
    };
    pin_mut!(events);
    loop {
        let event = match clock.timeout_at(deadline, events.next()).await {
            Ok(None) if *version == seen_before && clock.now() < began + SHORT => {
                return End::Trouble("the watch ended at once and brought nothing".to_owned());
            }
            Err(_) | Ok(None) => return End::Quiet,
            Ok(Some(Err(e))) => return end(&e),
            Ok(Some(Ok(event))) => event,
        };
        let mut objects = objects.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                let seen = object.resource_version();
                objects.by_key.insert(key(&object), object);
                seen
            }
            WatchEvent::Deleted(object) => {
                objects.by_key.remove(&key(&object));
                object.resource_version()
            }
            WatchEvent::Bookmark(bookmark) => Some(bookmark.metadata.resource_version),
            WatchEvent::Error(status) if status.code == 410 => return End::VersionGone,
            WatchEvent::Error(status) => return End::Trouble(status.message.clone()),
        };
        if let Some(seen) = seen {
            *version = seen;
        }
    }
}

fn end(error: &kube::Error) -> End {
    match error {
        kube::Error::Api(status) if status.code == 410 => End::VersionGone,
        other => End::Trouble(other.to_string()),
    }
}

fn key<K: Resource>(object: &K) -> String {
    let metadata = object.meta();
    let name = metadata.name.as_deref().unwrap_or_default();
    match &metadata.namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}
