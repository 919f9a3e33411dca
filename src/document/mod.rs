//! Reading what people write: YAML text → a typed value, or every mistake in it at once.
//!
//! The schema of the type is the grammar. The text becomes a tree in which everything has its place; the tree is held
//! against the schema, and against whatever else its reader knows; only then the typed value is made of it. So what the
//! schema tells an editor and what a reading accepts cannot drift. It knows no scenario and no profile.

mod format;
mod grammar;
mod keyed;
mod mistake;
mod near;
mod node;
mod path;

pub use format::{cpu, euros, memory};
pub use grammar::{first_sentence, kind_told};
pub use keyed::Keyed;
pub use mistake::{Mistake, Mistakes, Place};
pub use near::meant;
pub use node::{Entry, Node, Value};
pub use path::selected;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

/// Reads a document. `more` notes the mistakes that no schema knows; it sees the tree, however wrong that is.
pub fn read<T: DeserializeOwned + JsonSchema>(
    file: &str,
    text: &str,
    more: impl FnOnce(&Node, &mut Vec<Mistake>),
) -> Result<T, Mistakes> {
    let all = |mistakes| Mistakes::new(file, text, mistakes);
    let tree = Node::parse(text).map_err(|mistake| all(vec![mistake]))?;
    let mut mistakes = grammar::mistakes(&schema::<T>(), &tree);
    more(&tree, &mut mistakes);
    if !mistakes.is_empty() {
        return Err(all(mistakes));
    }
    serde_json::from_value(tree.plain()).map_err(|error| {
        // The grammar would have told; this is for what it cannot see.
        all(vec![Mistake::at(tree.place, format!("this cannot be read: {error}"))])
    })
}

/// The schema of a type, as editors and [`read`] use it.
pub fn schema<T: JsonSchema>() -> Json {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    bound(&mut schema);
    schema
}

/// Writes down the bounds of whole numbers, which schemars leaves to their `format`: nobody else knows that.
fn bound(schema: &mut Json) {
    match schema {
        Json::Object(fields) => {
            let (least, most): (Json, Json) = match fields.get("format").and_then(Json::as_str) {
                Some("uint32") => (0.into(), u32::MAX.into()),
                Some("uint64") => (0.into(), u64::MAX.into()),
                Some("int32") => (i32::MIN.into(), i32::MAX.into()),
                Some("int64") => (i64::MIN.into(), i64::MAX.into()),
                _ => (Json::Null, Json::Null),
            };
            if !most.is_null() {
                fields.entry("minimum").or_insert(least);
                fields.entry("maximum").or_insert(most);
            }
            fields.values_mut().for_each(bound);
        }
        Json::Array(items) => items.iter_mut().for_each(bound),
        _ => {}
    }
}
