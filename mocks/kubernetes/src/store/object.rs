//! A stored object: its bytes, and the little of it that is asked for without reading them.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::custom::Version;

/// Where an object lies on its shelf. The namespace of what has none is empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
}

impl Key {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            return f.write_str(&self.name);
        }
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// One version of one object. It never changes: a write makes another.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) key: Key,
    pub(crate) revision: u64,
    /// The whole object as JSON, in the version it is stored in: kind and version first, as a real server writes it.
    pub(crate) json: Bytes,
    /// Where in the JSON the rest begins: lists of built-in kinds leave kind and version out.
    body: usize,
    pub(crate) uid: Box<str>,
    /// Sorted by key.
    pub(crate) labels: Box<[(Box<str>, Box<str>)]>,
    pub(crate) owners: Box<[Owner]>,
    /// The values of the shelf's indexed fields, in the shelf's order.
    pub(crate) fields: Box<[Box<str>]>,
    /// It has a deletion timestamp.
    pub(crate) deleting: bool,
    pub(crate) finalizers: bool,
    /// The version of the definition whose defaults it has, if it is a custom resource.
    pub(crate) made_by: Option<Arc<Version>>,
    /// The whole object, if it was read to be kept.
    kept: OnceLock<Arc<Value>>,
    /// Its protobuf form without an envelope, made once for all who want it.
    protobuf: OnceLock<Bytes>,
}

/// An owner reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) api_version: Box<str>,
    pub(crate) kind: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) uid: Box<str>,
    pub(crate) controller: bool,
    pub(crate) blocks: bool,
}

impl Object {
    /// The JSON of the object without its kind and version.
    pub(crate) fn item(&self) -> [Bytes; 2] {
        [Bytes::from_static(b"{"), self.json.slice(self.body..)]
    }

    /// The object, read.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(&self.json).unwrap_or_default()
    }

    /// The object, read once for all who ask: for objects that are few and often asked for.
    pub(crate) fn kept_value(&self) -> Arc<Value> {
        self.kept.get_or_init(|| Arc::new(self.value())).clone()
    }

    /// The protobuf form: kept since somebody wanted it, or made now. Nobody is kept waiting for another's.
    pub(crate) fn protobuf<E>(&self, make: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<&Bytes, E> {
        if let Some(kept) = self.protobuf.get() {
            return Ok(kept);
        }
        let made = Bytes::from(make()?);
        Ok(self.protobuf.get_or_init(|| made))
    }

    /// The object as a type of `k8s-openapi`.
    pub(crate) fn read<K: serde::de::DeserializeOwned>(&self) -> Result<K, serde_json::Error> {
        serde_json::from_slice(&self.json)
    }

    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        let found = self.labels.binary_search_by(|(label, _)| label.as_ref().cmp(key)).ok()?;
        Some(&self.labels[found].1)
    }

    /// The owner that manages it.
    pub(crate) fn controller(&self) -> Option<&Owner> {
        self.owners.iter().find(|owner| owner.controller)
    }
}

/// An object that only lacks its revision: everything costly is done before the store is locked.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    key: Key,
    uid: Box<str>,
    labels: Box<[(Box<str>, Box<str>)]>,
    owners: Box<[Owner]>,
    fields: Box<[Box<str>]>,
    deleting: bool,
    finalizers: bool,
    made_by: Option<Arc<Version>>,
    body: usize,
    /// The JSON up to the revision, with room for the rest.
    before: Vec<u8>,
    after: Vec<u8>,
}

/// The length of the longest revision, with its name.
const REVISION: usize = r#","resourceVersion":"18446744073709551615""#.len();

impl Draft {
    /// Reads what the store wants to know from a finished object.
    pub(crate) fn new(value: &Value, fields: Box<[Box<str>]>, made_by: Option<Arc<Version>>) -> Self {
        let metadata = &value["metadata"];
        let text = |name: &str| metadata[name].as_str().unwrap_or_default();
        let (body, mut before, after) = split(value);
        before.reserve_exact(REVISION + after.len());
        Self {
            key: Key::new(text("namespace"), text("name")),
            uid: text("uid").into(),
            labels: labels(&metadata["labels"]),
            owners: metadata["ownerReferences"]
                .as_array()
                .map(|list| list.iter().map(owner).collect())
                .unwrap_or_default(),
            fields,
            deleting: metadata["deletionTimestamp"].is_string(),
            finalizers: metadata["finalizers"].as_array().is_some_and(|list| !list.is_empty()),
            made_by,
            body,
            before,
            after,
        }
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    /// The bytes it takes, but for the revision.
    pub(crate) fn size(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// The object as it would be if it were created: a trial has no revision but the one it was sent with.
    pub(crate) fn trial(self, sent: &str) -> Object {
        let member = if sent.is_empty() { String::new() } else { version(&json!(sent)) };
        self.with(0, member.as_bytes())
    }

    /// The object, once it has its revision. The store is locked meanwhile, so nothing is copied that can be moved.
    pub(crate) fn at(self, revision: u64) -> Object {
        self.with(revision, version(&json!(revision.to_string())).as_bytes())
    }

    fn with(self, revision: u64, member: &[u8]) -> Object {
        let mut json = self.before;
        json.extend_from_slice(member);
        json.extend_from_slice(&self.after);
        Object {
            key: self.key,
            revision,
            json: json.into(),
            body: self.body,
            uid: self.uid,
            labels: self.labels,
            owners: self.owners,
            fields: self.fields,
            deleting: self.deleting,
            finalizers: self.finalizers,
            made_by: self.made_by,
            kept: OnceLock::new(),
            protobuf: OnceLock::new(),
        }
    }
}

/// The revision as a member of the metadata.
fn version(text: &Value) -> String {
    format!(",\"resourceVersion\":{text}")
}

fn labels(value: &Value) -> Box<[(Box<str>, Box<str>)]> {
    let Some(map) = value.as_object() else { return Box::default() };
    let text = |value: &Value| Box::<str>::from(value.as_str().unwrap_or_default());
    let mut labels: Vec<_> =
        map.iter().map(|(key, value)| (Box::<str>::from(key.as_str()), text(value))).collect();
    labels.sort();
    labels.into()
}

fn owner(reference: &Value) -> Owner {
    let text = |name: &str| Box::<str>::from(reference[name].as_str().unwrap_or_default());
    let flag = |name: &str| reference[name].as_bool().unwrap_or_default();
    Owner {
        api_version: text("apiVersion"),
        kind: text("kind"),
        name: text("name"),
        uid: text("uid"),
        controller: flag("controller"),
        blocks: flag("blockOwnerDeletion"),
    }
}

/// The JSON of an object up to and from the place of its revision, and where kind and version end.
fn split(value: &Value) -> (usize, Vec<u8>, Vec<u8>) {
    const ROOM: usize = 1024;
    const FIRST: [&str; 2] = ["kind", "apiVersion"];
    let mut before = Vec::with_capacity(ROOM);
    let mut after = Vec::with_capacity(2 * ROOM);
    let Some(object) = value.as_object() else { return (0, before, after) };
    before.push(b'{');
    for key in FIRST {
        if let Some(child) = object.get(key) {
            member(&mut before, key, child);
            before.push(b',');
        }
    }
    let body = before.len();
    before.extend_from_slice(b"\"metadata\":");
    split_metadata(&value["metadata"], &mut before, &mut after);
    for (key, child) in object.iter().filter(|(key, _)| *key != "metadata" && !FIRST.contains(&key.as_str()))
    {
        after.push(b',');
        member(&mut after, key, child);
    }
    after.push(b'}');
    (body, before, after)
}

/// The name stands before the revision, so that a comma can follow it either way.
fn split_metadata(metadata: &Value, before: &mut Vec<u8>, after: &mut Vec<u8>) {
    before.push(b'{');
    member(before, "name", &metadata["name"]);
    let entries = metadata.as_object().into_iter().flatten();
    for (key, child) in entries.filter(|(key, _)| !["name", "resourceVersion"].contains(&key.as_str())) {
        after.push(b',');
        member(after, key, child);
    }
    after.push(b'}');
}

fn member(out: &mut Vec<u8>, key: &str, child: &Value) {
    write_json(out, key);
    out.push(b':');
    write_json(out, child);
}

/// Writing JSON to memory cannot fail: keys are strings and numbers are finite.
fn write_json(out: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    serde_json::to_writer(out, value).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_revision_lands_in_the_metadata_and_nowhere_else() {
        let value = json!({
            "apiVersion": "v1", "kind": "Event",
            "involvedObject": {"resourceVersion": ""},
            "metadata": {
                "name": "a", "namespace": "b", "uid": "u",
                "labels": {"resourceVersion": "", "z": "1"},
            },
            "type": "Normal",
        });
        let object = Draft::new(&value, Box::default(), None).at(42);
        let mut expected = value;
        expected["metadata"]["resourceVersion"] = json!("42");
        assert_eq!(object.value(), expected);
        assert_eq!(object.key, Key::new("b", "a"));
        assert_eq!(object.label("z"), Some("1"));
    }

    #[test]
    fn a_trial_has_no_revision() {
        let value = json!({"kind": "Node", "metadata": {"name": "a", "uid": "u"}});
        let draft = Draft::new(&value, Box::default(), None);
        assert_eq!(draft.clone().trial("").value(), value);
        assert_eq!(draft.trial("7").value()["metadata"]["resourceVersion"], "7");
    }

    #[test]
    fn an_old_revision_is_replaced_and_owners_are_read() {
        let value = json!({"metadata": {
            "name": "a", "resourceVersion": "7",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "x", "controller": true}],
        }});
        let object = Draft::new(&value, Box::default(), None).at(8);
        assert_eq!(object.value()["metadata"]["resourceVersion"], "8");
        assert_eq!(object.controller().map(|owner| owner.uid.as_ref()), Some("x"));
    }
}
