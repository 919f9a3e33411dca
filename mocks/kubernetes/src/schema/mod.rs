//! The fields of every built-in kind, from one generated table.
//!
//! Everything that must know a kind's fields reads them here: protobuf, strict reading, strategic merge, server-side
//! apply. `fields.txt` is written by `examples/generate_schema`. Custom resources are not here; they bring their own
//! schema.

mod calendar;
mod conform;
mod reader;
mod scalars;
mod table;
mod zero;

use std::collections::BTreeMap;
use std::sync::OnceLock;

pub(crate) use calendar::{Instant, Precision};
pub(crate) use conform::{conform, strict_error, strict_warnings};
pub(crate) use reader::read;
pub(crate) use scalars::quantity;
pub(crate) use table::{Field, List, Shape};
pub(crate) use zero::{complete, is_empty, zero, zero_of};

/// All messages.
pub(crate) fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(|| table::load(include_str!("fields.txt")))
}

/// The table, with the ways into it.
pub(crate) struct Schema {
    messages: Vec<Message>,
    /// By full name, `k8s.io.api.core.v1.Pod`.
    names: BTreeMap<(&'static str, &'static str), Id>,
    /// The package of an `apiVersion`.
    packages: BTreeMap<&'static str, &'static str>,
}

/// The place of a message in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(u16);

/// One message: a Go struct that can be written as JSON and as protobuf.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) name: &'static str,
    pub(crate) id: Id,
    /// The Go package, as errors spell it: `v1`.
    package: &'static str,
    /// It has `apiVersion` and `kind`.
    pub(crate) kind: bool,
    /// Server-side apply owns it as one piece.
    pub(crate) atomic: bool,
    /// The fields as JSON has them, inlined structs spread out, by name.
    fields: Vec<Field>,
    /// The fields as protobuf has them, by tag.
    wire: Vec<Field>,
}

/// The package of `ObjectMeta`, of the options and of `Status`.
const META: &str = "k8s.io.apimachinery.pkg.apis.meta.v1";

impl Schema {
    /// The message of a kind. `DeleteOptions` and the other kinds of meta belong to every group.
    pub(crate) fn kind(&self, group: &str, version: &str, kind: &str) -> Option<&Message> {
        if group.is_empty() {
            return self.api_kind(version, kind);
        }
        self.api_kind(&format!("{group}/{version}"), kind)
    }

    /// The same, by `apiVersion`.
    pub(crate) fn api_kind(&self, api_version: &str, kind: &str) -> Option<&Message> {
        let own = self.packages.get(api_version).and_then(|package| self.message(package, kind));
        own.or_else(|| self.message(META, kind)).filter(|message| message.kind)
    }

    /// A message by its protobuf package and its name.
    pub(crate) fn message(&self, package: &str, name: &str) -> Option<&Message> {
        self.names.get(&(package, name)).map(|id| self.at(*id))
    }

    /// The protobuf package of a message, `k8s.io.api.core.v1`.
    pub(crate) fn package(&self, id: Id) -> &'static str {
        self.names.iter().find(|(_, found)| **found == id).map_or("", |((package, _), _)| package)
    }

    fn at(&self, id: Id) -> &Message {
        &self.messages[usize::from(id.0)]
    }
}

impl Id {
    pub(crate) fn message(self) -> &'static Message {
        schema().at(self)
    }
}

impl Message {
    /// A field by its JSON name.
    pub(crate) fn field(&self, json: &str) -> Option<&Field> {
        self.position(json).map(|at| &self.fields[at])
    }

    fn position(&self, json: &str) -> Option<usize> {
        self.fields.binary_search_by(|field| field.json.cmp(json)).ok()
    }

    /// A field by its protobuf tag.
    pub(crate) fn by_tag(&self, tag: u32) -> Option<&Field> {
        self.wire.binary_search_by_key(&tag, |field| field.tag).ok().map(|at| &self.wire[at])
    }

    /// The fields as JSON has them, by name.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The fields as protobuf has them, by tag.
    pub(crate) fn wire(&self) -> &[Field] {
        &self.wire
    }

    /// The Go type, as errors spell it: `v1.Pod`.
    pub(crate) fn go(&self) -> String {
        format!("{}.{}", self.package, self.name)
    }
}

#[cfg(test)]
pub(crate) mod drawn;
#[cfg(test)]
mod tests;
