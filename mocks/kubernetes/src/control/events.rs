//! Events, as controllers record them: repeats of one are counted in one object, many alike are told as one, and of too
//! many about one object the rest is not told.

mod flood;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time as MetaTime};
use mock_clock::Time;

use crate::api::{Api, Kind, Write};
use flood::Flood;

/// More events than this are not remembered for counting.
const REMEMBERED: usize = 4096;
/// From so many different messages of one reason on, they are told as one.
const ALIKE_MAX: usize = 10;
/// After so long without another they are told one by one again.
const ALIKE_FOR: Duration = Duration::from_secs(600);

/// Records what one component sees.
#[derive(Debug)]
pub(crate) struct Recorder {
    component: &'static str,
    /// The last event of each sort.
    last: BTreeMap<Sort, Seen>,
    /// What was said lately of one object for one reason. The sort has no message.
    alike: BTreeMap<Sort, Alike>,
    flood: Flood,
}

/// What makes two events the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sort {
    uid: String,
    kind: String,
    reason: String,
    /// `None` if it stands for all messages.
    message: Option<String>,
}

/// An event that was told, or would have been.
#[derive(Clone, Debug)]
struct Seen {
    namespace: String,
    name: String,
    first: MetaTime,
    count: i32,
}

#[derive(Debug)]
struct Alike {
    messages: BTreeSet<String>,
    last: Time,
}

impl Recorder {
    pub(crate) fn new(component: &'static str) -> Self {
        Self { component, last: BTreeMap::new(), alike: BTreeMap::new(), flood: Flood::default() }
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
        let uid = about.uid.clone().unwrap_or_else(|| about.name.clone().unwrap_or_default());
        let group = Sort { uid, kind: kind.to_owned(), reason: reason.to_owned(), message: None };
        let (sort, message) = self.combined(group, message, api.now());
        let seen = self.seen(api, about, &sort, &now);
        if !self.flood.lets(&sort.uid, kind, api.now()) {
            return;
        }
        if seen.count > 1 {
            let place = (seen.namespace.as_str(), seen.name.as_str(), "");
            let counted = api.edit::<Event>(place, &self.write(), |event| {
                event.count = Some(seen.count);
                event.last_timestamp = Some(now.clone());
                event.message = Some(message.clone());
                Ok(())
            });
            if counted.is_ok() {
                return;
            }
        }
        self.create(api, about, &sort, &message, &seen, &now);
    }

    /// What is told of a message: itself, or that it is one of many.
    fn combined(&mut self, group: Sort, message: &str, now: Time) -> (Sort, String) {
        forget(&mut self.alike);
        let alike =
            self.alike.entry(group.clone()).or_insert_with(|| Alike { messages: BTreeSet::new(), last: now });
        if now - alike.last > ALIKE_FOR {
            alike.messages.clear();
        }
        alike.last = now;
        alike.messages.insert(message.to_owned());
        if alike.messages.len() < ALIKE_MAX {
            return (Sort { message: Some(message.to_owned()), ..group }, message.to_owned());
        }
        alike.messages.pop_first();
        (group, format!("(combined from similar events): {message}"))
    }

    /// Counts an event, whether it is told or not.
    fn seen(&mut self, api: &Api, about: &ObjectReference, sort: &Sort, now: &MetaTime) -> Seen {
        if let Some(seen) = self.last.get_mut(sort) {
            seen.count += 1;
            return seen.clone();
        }
        forget(&mut self.last);
        let namespace = about.namespace.clone().filter(|namespace| !namespace.is_empty());
        let seen = Seen {
            namespace: namespace.unwrap_or_else(|| "default".to_owned()),
            // As upstream: the name of the object and the nanosecond, here with a drawn number against doubles.
            name: format!("{}.{:016x}", about.name.as_deref().unwrap_or_default(), api.chance().draw()),
            first: now.clone(),
            count: 1,
        };
        self.last.insert(sort.clone(), seen.clone());
        seen
    }

    fn create(
        &mut self,
        api: &Api,
        about: &ObjectReference,
        sort: &Sort,
        message: &str,
        seen: &Seen,
        now: &MetaTime,
    ) {
        let event = Event {
            metadata: ObjectMeta {
                name: Some(seen.name.clone()),
                namespace: Some(seen.namespace.clone()),
                ..ObjectMeta::default()
            },
            involved_object: about.clone(),
            reason: Some(sort.reason.clone()),
            message: Some(message.to_owned()),
            type_: Some(sort.kind.clone()),
            source: Some(EventSource { component: Some(self.component.to_owned()), host: None }),
            // Upstream leaves it out of what it combines.
            reporting_component: sort.message.as_ref().map(|_| self.component.to_owned()),
            first_timestamp: Some(seen.first.clone()),
            last_timestamp: Some(now.clone()),
            count: Some(seen.count),
            ..Event::default()
        };
        if let Err(status) = api.make(&seen.namespace, &event, &self.write()) {
            self.last.remove(sort);
            tracing::debug!(component = self.component, %status, "an event is lost");
        }
    }

    fn write(&self) -> Write {
        Write::by(self.component)
    }
}

/// Makes room for one more.
fn forget<K: Ord, V>(map: &mut BTreeMap<K, V>) {
    if map.len() >= REMEMBERED {
        map.pop_first();
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
    use mock_clock::VirtualClock;

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

    fn rig() -> (Api, mock_clock::Hand, ObjectReference) {
        let (clock, hand) = VirtualClock::manual("2030-01-01T00:00:00Z".parse::<Time>().unwrap());
        let api = Api::new(clock, 1);
        crate::birth::furnish(&api).unwrap();
        let mut node = Node::default();
        node.metadata.name = Some("n".to_owned());
        (api, hand, about(&node))
    }

    fn told(api: &Api) -> Vec<(String, i32)> {
        let events = api.read_all::<Event>("default").into_iter();
        let mut told: Vec<_> = events.map(|event| (event.message.unwrap(), event.count.unwrap())).collect();
        told.sort();
        told
    }

    #[test]
    fn many_alike_are_told_as_one_until_it_is_quiet() {
        let (api, hand, node) = rig();
        let mut recorder = Recorder::new("tester");
        for number in 10..22 {
            recorder.normal(&api, &node, "Created", &format!("pod {number}"));
        }
        let mut expected: Vec<_> = (10..19).map(|number| (format!("pod {number}"), 1)).collect();
        expected.insert(0, ("(combined from similar events): pod 21".to_owned(), 3));
        assert_eq!(told(&api), expected);
        recorder.normal(&api, &node, "Deleted", "pod 10");
        hand.advance(ALIKE_FOR + Duration::from_secs(1));
        recorder.normal(&api, &node, "Created", "pod 30");
        expected.extend([("pod 10".to_owned(), 1), ("pod 30".to_owned(), 1)]);
        expected.sort();
        assert_eq!(told(&api), expected);
    }

    #[test]
    fn of_too_many_about_one_object_the_rest_is_counted_only() {
        let (api, hand, node) = rig();
        let mut recorder = Recorder::new("tester");
        for _ in 0..40 {
            recorder.normal(&api, &node, "Again", "and again");
        }
        assert_eq!(told(&api), [("and again".to_owned(), 25)]);
        recorder.warning(&api, &node, "Other", "is another matter");
        assert_eq!(told(&api).len(), 2);
        hand.advance(Duration::from_secs(300));
        recorder.normal(&api, &node, "Again", "and again");
        assert_eq!(told(&api)[0], ("and again".to_owned(), 41));
    }
}
