//! `metadata.managedFields`: who owns which fields, read and written.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::fields::Fields;

/// Update entries beyond this many are put together, the oldest first.
const UPDATERS_MAX: usize = 10;
const OLD_UPDATERS: &str = "ancient-changes";

/// What tells entries apart. The version counts for updates only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Owner {
    pub(super) manager: String,
    pub(super) operation: Operation,
    pub(super) version: String,
    pub(super) subresource: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Apply,
    Update,
}

/// What an owner owns.
#[derive(Clone, Debug)]
pub(super) struct Owned {
    pub(super) fields: Fields,
    /// The version the fields were written in.
    pub(super) version: String,
    /// RFC 3339.
    pub(super) time: Option<String>,
}

/// All owners of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Managers(pub(super) BTreeMap<Owner, Owned>);

impl Owner {
    pub(super) fn new(manager: &str, operation: Operation, version: &str, subresource: &str) -> Self {
        let version = if operation == Operation::Apply { "" } else { version };
        Self {
            manager: if manager.is_empty() { "unknown" } else { manager }.to_owned(),
            operation,
            version: version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }

    /// What a real server tells owners apart by; conflicts come in its order.
    pub(super) fn identity(&self) -> String {
        let pairs = [
            ("manager", self.manager.as_str()),
            ("operation", self.operation.text()),
            ("apiVersion", &self.version),
            ("subresource", &self.subresource),
        ];
        let pairs = pairs.iter().filter(|(_, text)| !text.is_empty());
        let pairs: Vec<String> = pairs.map(|(key, text)| format!("{key:?}:{text:?}")).collect();
        format!("{{{}}}", pairs.join(","))
    }

    /// The owner as a conflict calls it.
    pub(super) fn shown(&self) -> String {
        let subresource = match self.subresource.as_str() {
            "" => String::new(),
            subresource => format!(" with subresource {subresource:?}"),
        };
        let version = match self.operation {
            Operation::Apply => String::new(),
            Operation::Update => format!(" using {}", self.version),
        };
        format!("{:?}{subresource}{version}", self.manager)
    }
}

impl Operation {
    fn text(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

impl Managers {
    /// Reads the entries of an object.
    pub(super) fn of(object: &Value) -> Result<Self, String> {
        let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array);
        let mut managers = Self::default();
        for (at, entry) in entries.into_iter().flatten().enumerate() {
            let (owner, owned) = read(at, entry)?;
            managers.0.insert(owner, owned);
        }
        Ok(managers)
    }

    /// Writes the entries into an object; none at all if there are none.
    pub(super) fn write(&self, object: &mut Value) {
        let mut entries: Vec<(&Owner, &Owned)> = self.0.iter().collect();
        entries.sort_by_key(|(owner, owned)| {
            let version = owned.version.as_str();
            (owner.operation, &owned.time, &owner.manager, version, &owner.subresource)
        });
        let entries: Vec<Value> = entries.into_iter().map(|(owner, owned)| written(owner, owned)).collect();
        let Some(object) = object.as_object_mut() else { return };
        if entries.is_empty() {
            if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
                metadata.remove("managedFields");
            }
            return;
        }
        let metadata = object.entry("metadata").or_insert_with(|| json!({}));
        if let Value::Object(metadata) = metadata {
            metadata.insert("managedFields".to_owned(), Value::Array(entries));
        }
    }

    /// Puts the oldest updaters of a version together until there are few enough.
    pub(super) fn cap(&mut self) {
        let mut updaters: Vec<(Option<String>, Owner)> = self
            .0
            .iter()
            .filter(|(owner, _)| owner.operation == Operation::Update)
            .map(|(owner, owned)| (owned.time.clone(), owner.clone()))
            .collect();
        updaters.sort();
        let mut count = updaters.len();
        let mut first_of_version: BTreeMap<String, Owner> = BTreeMap::new();
        for (time, updater) in updaters {
            if count <= UPDATERS_MAX {
                return;
            }
            let Some(owned) = self.0.get(&updater).cloned() else { continue };
            let Some(first) = first_of_version.get(&owned.version) else {
                first_of_version.insert(owned.version, updater);
                continue;
            };
            let old = Owner::new(OLD_UPDATERS, Operation::Update, &owned.version, "");
            if !self.0.contains_key(&old)
                && let Some(moved) = self.0.remove(first)
            {
                self.0.insert(old.clone(), moved);
            }
            self.0.remove(&updater);
            if let Some(merged) = self.0.get_mut(&old) {
                merged.fields = merged.fields.union(&owned.fields);
                merged.time = time;
            }
            count -= 1;
        }
    }
}

/// Whether a write asks for all entries to go: an empty list, or a list of one empty entry.
pub(super) fn resets(object: &Value) -> bool {
    match object.pointer("/metadata/managedFields").and_then(Value::as_array).map(Vec::as_slice) {
        Some([]) => true,
        Some([one]) => one.as_object().is_some_and(Map::is_empty),
        _ => false,
    }
}

/// Takes the entries off an object.
pub(crate) fn strip(object: &mut Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
}

/// If nothing but times of entries changed, puts the old entries back, so that a write that changes nothing is one.
/// The last thing to do before a write.
pub(crate) fn settle(live: &Value, new: &mut Value) {
    let entries = |object: &Value| {
        let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array);
        let mut texts: Vec<String> = entries
            .into_iter()
            .flatten()
            .map(|entry| {
                let mut entry = entry.clone();
                entry.as_object_mut().map(|fields| fields.remove("time"));
                entry.to_string()
            })
            .collect();
        texts.sort();
        texts
    };
    if entries(live) != entries(new) {
        return;
    }
    let mut settled = new.clone();
    if let Some(old) = live.pointer("/metadata/managedFields") {
        settled["metadata"]["managedFields"] = old.clone();
    }
    if settled == *live {
        *new = settled;
    }
}

fn read(at: usize, entry: &Value) -> Result<(Owner, Owned), String> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or("");
    let operation = match text("operation") {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return Err("operation must be `Apply` or `Update`".to_owned()),
    };
    let version = text("apiVersion");
    if version.is_empty() {
        return Err("apiVersion must not be empty".to_owned());
    }
    match text("fieldsType") {
        "FieldsV1" => {}
        "" => return Err(format!("missing fieldsType in managed fields entry {at}")),
        other => return Err(format!("invalid fieldsType {other:?} in managed fields entry {at}")),
    }
    let fields = Fields::from_value(entry.get("fieldsV1").unwrap_or(&Value::Null))?;
    let owner = Owner {
        manager: text("manager").to_owned(),
        ..Owner::new("", operation, version, text("subresource"))
    };
    let time = entry.get("time").and_then(Value::as_str).map(str::to_owned);
    Ok((owner, Owned { fields, version: version.to_owned(), time }))
}

fn written(owner: &Owner, owned: &Owned) -> Value {
    let mut entry = json!({
        "operation": owner.operation.text(),
        "apiVersion": owned.version,
        "fieldsType": "FieldsV1",
        "fieldsV1": owned.fields.to_value(),
    });
    let optional = [
        ("manager", Some(&owner.manager)),
        ("subresource", Some(&owner.subresource)),
        // Upstream loses the time on the way through a `Scale`.
        ("time", owned.time.as_ref().filter(|_| owner.subresource != "scale")),
    ];
    for (key, text) in optional {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            entry[key] = Value::from(text.as_str());
        }
    }
    entry
}
