//! Events, as controllers record them: repeats of one are counted in one object.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time as MetaTime};

use crate::api::{Api, Kind, Write};

/// More events than this are not remembered for counting.
const REMEMBERED: usize = 4096;

/// Records what one component sees.
#[derive(Debug)]
pub(crate) struct Recorder {
    component: &'static str,
    /// The last event of each sort: its namespace and name.
    last: BTreeMap<Sort, (String, String)>,
}

/// What makes two events the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sort {
    uid: String,
    kind: String,
    reason: String,
    message: String,
}

impl Recorder {
    pub(crate) fn new(component: &'static str) -> Self {
        Self { component, last: BTreeMap::new() }
    }

    /// Something went as it should.
    pub(crate) fn normal(&mut self, api: &Api, about: &ObjectReference, reason: &str, message: &str) {
        self.record(api, about, ("Normal", reason, message));
    }

    /// Something did not.
    pub(crate) fn warning(&mut self, api: &Api, about: &ObjectReference, reason: &str, message: &str) {
        self.record(api, about, ("Warning", reason, message));
    }

    fn record(&mut self, api: &Api, about: &ObjectReference, (kind, reason, message): (&str, &str, &str)) {
        let now = MetaTime(jiff::Timestamp::from(api.now()));
        let sort = Sort {
            uid: about.uid.clone().unwrap_or_else(|| about.name.clone().unwrap_or_default()),
            kind: kind.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
        };
        if let Some((namespace, name)) = self.last.get(&sort) {
            let place = (namespace.as_str(), name.as_str(), "");
            let counted = api.edit::<Event>(place, &self.write(), |event| {
                event.count = Some(event.count.unwrap_or(1) + 1);
                event.last_timestamp = Some(now.clone());
                Ok(())
            });
            if counted.is_ok() {
                return;
            }
        }
        self.create(api, about, sort, &now);
    }

    fn create(&mut self, api: &Api, about: &ObjectReference, sort: Sort, now: &MetaTime) {
        let namespace = about.namespace.clone().filter(|namespace| !namespace.is_empty());
        let namespace = namespace.unwrap_or_else(|| "default".to_owned());
        // As upstream: the name of the object and the nanosecond, here with a drawn number against doubles.
        let name = format!("{}.{:016x}", about.name.as_deref().unwrap_or_default(), api.chance().draw());
        let event = Event {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                namespace: Some(namespace.clone()),
                ..ObjectMeta::default()
            },
            involved_object: about.clone(),
            reason: Some(sort.reason.clone()),
            message: Some(sort.message.clone()),
            type_: Some(sort.kind.clone()),
            source: Some(EventSource { component: Some(self.component.to_owned()), host: None }),
            reporting_component: Some(self.component.to_owned()),
            first_timestamp: Some(now.clone()),
            last_timestamp: Some(now.clone()),
            count: Some(1),
            ..Event::default()
        };
        match api.make(&namespace, &event, &self.write()) {
            Ok(_) => {
                if self.last.len() >= REMEMBERED {
                    self.last.pop_first();
                }
                self.last.insert(sort, (namespace, name));
            }
            Err(status) => tracing::debug!(component = self.component, %status, "an event is lost"),
        }
    }

    fn write(&self) -> Write {
        Write::by(self.component)
    }
}

/// A reference to an object, for its events.
pub(crate) fn about<K: Kind>(object: &K) -> ObjectReference {
    let metadata = object.metadata();
    ObjectReference {
        api_version: Some(K::API_VERSION.to_owned()),
        kind: Some(K::KIND.to_owned()),
        name: metadata.name.clone(),
        namespace: metadata.namespace.clone(),
        uid: metadata.uid.clone(),
        resource_version: metadata.resource_version.clone(),
        field_path: None,
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Node;
    use mock_clock::{Time, VirtualClock};

    use super::*;

    #[test]
    fn repeats_are_counted_in_one_event() {
        let (clock, _hand) = VirtualClock::manual("2030-01-01T00:00:00Z".parse::<Time>().unwrap());
        let api = Api::new(clock, 1);
        crate::birth::furnish(&api).unwrap();
        let mut node = Node::default();
        node.metadata.name = Some("n".to_owned());
        let mut recorder = Recorder::new("tester");
        for message in ["once", "twice", "twice"] {
            recorder.normal(&api, &about(&node), "Why", message);
        }
        let events = api.read_all::<Event>("default");
        let mut counts: Vec<_> = events.iter().map(|event| (event.message.as_deref(), event.count)).collect();
        counts.sort();
        assert_eq!(counts, [(Some("once"), Some(1)), (Some("twice"), Some(2))]);
    }
}
