//! What it tells: events about objects, and the status map that shows it is alive.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use kube::api::{Api, DeleteParams, ObjectMeta, PostParams};
use mock_clock::{Clock as _, Time};

use super::KubeClient;
use crate::defect::Defect;
use crate::settings::Settings;

const STATUS: &str = "cluster-autoscaler-status";
const LAST_UPDATED: &str = "cluster-autoscaler.kubernetes.io/last-updated";
const COMPONENT: &str = "cluster-autoscaler";
/// The same is not told twice in this time.
const REPEAT_AFTER: Duration = Duration::from_secs(300);

/// What an event is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Told<'a> {
    Node(&'a str),
    /// By namespace and name.
    Pod(&'a str),
    Status,
}

/// Tells events, each once in a while.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    client: KubeClient,
    told: Arc<Mutex<BTreeMap<String, Time>>>,
    silent: bool,
}

impl Events {
    pub(crate) fn new(client: KubeClient, settings: &Settings) -> Self {
        Self { client, told: Arc::default(), silent: settings.has(Defect::TellsNoEvents) }
    }

    /// Tells it, in the background: nothing depends on it.
    pub(crate) fn tell(&self, about: Told<'_>, reason: &str, message: String) {
        let now = self.client.clock.now();
        let key = format!("{about:?} {reason}");
        {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            told.retain(|_, at| now.since(*at) < REPEAT_AFTER);
            if self.silent || told.contains_key(&key) {
                return;
            }
            told.insert(key, now);
        }
        let event = event(about, reason, message, now, &self.client.namespace);
        let client = self.client.clone();
        tokio::spawn(async move {
            let namespace = event.metadata.namespace.clone().unwrap_or_default();
            let events = Api::<Event>::namespaced(client.client.clone(), &namespace);
            if let Err(refusal) = client.ask(events.create(&PostParams::default(), &event)).await {
                tracing::debug!("failed to tell an event: {refusal}");
            }
        });
    }
}

fn event(about: Told<'_>, reason: &str, message: String, now: Time, home: &str) -> Event {
    let (kind, namespace, name) = match about {
        Told::Node(name) => ("Node", None, name),
        Told::Pod(key) => {
            let (namespace, name) = key.split_once('/').unwrap_or(("default", key));
            ("Pod", Some(namespace), name)
        }
        Told::Status => ("ConfigMap", Some(home), STATUS),
    };
    let stamp = meta::Time(now.into());
    let failed = reason.ends_with("Failed") || reason.ends_with("TimedOut") || reason.starts_with("Failed");
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{name}.{:x}", now.unix_nanos())),
            namespace: Some(namespace.unwrap_or("default").to_owned()),
            ..ObjectMeta::default()
        },
        involved_object: ObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some(kind.to_owned()),
            namespace: namespace.map(str::to_owned),
            name: Some(name.to_owned()),
            ..ObjectReference::default()
        },
        reason: Some(reason.to_owned()),
        message: Some(message),
        type_: Some(if failed { "Warning" } else { "Normal" }.to_owned()),
        source: Some(EventSource { component: Some(COMPONENT.to_owned()), host: None }),
        first_timestamp: Some(stamp.clone()),
        last_timestamp: Some(stamp),
        count: Some(1),
        ..Event::default()
    }
}

impl KubeClient {
    /// Writes the status map; whoever asks whether the autoscaler lives looks at its age.
    pub(crate) async fn write_status(&self, text: &str) -> Result<(), super::Refusal> {
        let maps = Api::<ConfigMap>::namespaced(self.client.clone(), &self.namespace);
        // As Go prints a moment.
        let stamp = jiff::Timestamp::from(self.clock.now());
        let stamp = stamp.strftime("%Y-%m-%d %H:%M:%S.%6f +0000 UTC").to_string();
        let change = |map: &mut ConfigMap| {
            map.data = Some([("status".to_owned(), text.to_owned())].into());
            map.metadata.annotations.get_or_insert_default().insert(LAST_UPDATED.to_owned(), stamp.clone());
        };
        let params = PostParams::default();
        let last = self.status.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut written = None;
        if let Some(mut map) = last {
            change(&mut map);
            match self.ask(maps.replace(STATUS, &params, &map)).await {
                // Somebody else has written or deleted it.
                Err(refusal) if [404, 409].contains(&refusal.code) => {}
                answer => written = Some(answer?),
            }
        }
        if written.is_none() {
            let known = self.ask(maps.get_opt(STATUS)).await?;
            let named = ObjectMeta { name: Some(STATUS.to_owned()), ..ObjectMeta::default() };
            let new = known.is_none();
            let mut map = known.unwrap_or_else(|| ConfigMap { metadata: named, ..ConfigMap::default() });
            change(&mut map);
            written = Some(if new {
                self.ask(maps.create(&params, &map)).await?
            } else {
                self.ask(maps.replace(STATUS, &params, &map)).await?
            });
        }
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = written;
        Ok(())
    }

    pub(crate) async fn delete_status(&self) {
        let maps = Api::<ConfigMap>::namespaced(self.client.clone(), &self.namespace);
        if let Err(refusal) = self.ask(maps.delete(STATUS, &DeleteParams::default())).await {
            tracing::warn!("failed to delete the status: {refusal}");
        }
    }
}
