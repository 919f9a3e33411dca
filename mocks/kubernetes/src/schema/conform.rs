//! Reading an object into its Go struct and writing it again, done to the value in place.
//!
//! What the struct does not know is dropped and reported, zero values vanish or appear as Go's tags say, quantities and
//! times take their canonical form, and what has the wrong type is refused in the words of a real API server. Empty
//! lists become unset, as they do on the way through etcd. Nothing is defaulted or validated here.

use serde_json::{Map, Value};

use super::calendar::Precision;
use super::scalars::{canonical_base64, canonical_quantity, canonical_time};
use super::zero::{complete, is_empty, zero_of};
use super::{Field, Message, Shape};

/// A real API server reports no more strict errors than this.
pub(super) const REPORTED: usize = 100;

/// Objects nested deeper are refused.
const DEPTH: usize = 256;

/// Brings an object into the form its Go struct gives it. The answer is the paths of unknown fields; the error is the
/// sentence of Go's JSON reader.
pub(crate) fn conform(message: &'static Message, object: &mut Value) -> Result<Vec<String>, String> {
    let mut walk = Walk::default();
    walk.single(Shape::Message(message.id), object, &|| message.go())?;
    Ok(walk.unknown)
}

/// The sentence about unknown and duplicate fields, if there are any, for `fieldValidation=Strict`.
pub(crate) fn strict_error(unknown: &[String], duplicates: &[String]) -> Option<String> {
    let list = strict_warnings(unknown, duplicates);
    (!list.is_empty()).then(|| format!("strict decoding error: {}", list.join(", ")))
}

/// One text for each unknown or duplicate field, for `fieldValidation=Warn`.
pub(crate) fn strict_warnings(unknown: &[String], duplicates: &[String]) -> Vec<String> {
    let unknown = unknown.iter().map(|path| format!("unknown field {path:?}"));
    unknown.chain(duplicates.iter().map(|path| format!("duplicate field {path:?}"))).take(REPORTED).collect()
}

/// Where the walk is.
enum Step {
    Field(&'static Message, &'static Field),
    Index(usize),
    Key(String),
}

#[derive(Default)]
struct Walk {
    path: Vec<Step>,
    unknown: Vec<String>,
    /// Unknown fields are dropped without a word.
    quiet: bool,
}

impl Walk {
    fn message(&mut self, message: &'static Message, object: &mut Map<String, Value>) -> Result<(), String> {
        if self.path.len() > DEPTH {
            return Err("exceeded max depth".to_owned());
        }
        let mut wrong = None;
        object.retain(|key, value| {
            if wrong.is_some() {
                return true;
            }
            let Some(field) = message.field(key) else {
                self.report(key);
                return false;
            };
            self.path.push(Step::Field(message, field));
            let kept = self.field(field, value);
            self.path.pop();
            kept.unwrap_or_else(|error| {
                wrong = Some(error);
                true
            })
        });
        if let Some(error) = wrong {
            return Err(error);
        }
        complete(message, object);
        Ok(())
    }

    /// Whether the field is written.
    fn field(&mut self, field: &'static Field, value: &mut Value) -> Result<bool, String> {
        if value.is_null() {
            *value = super::zero(field);
        } else if field.repeated {
            self.list(field, value)?;
        } else if field.map {
            self.map(field, value)?;
        } else {
            self.single(field.shape, value, &|| field.go())?;
            return Ok(field.always || !value.is_null() && (field.pointer || !is_empty(value)));
        }
        Ok(field.always || !is_empty(value))
    }

    fn list(&mut self, field: &'static Field, value: &mut Value) -> Result<(), String> {
        let Value::Array(list) = value else { return Err(self.wrong_type(value, &field.go())) };
        for (at, entry) in list.iter_mut().enumerate() {
            self.path.push(Step::Index(at));
            self.entry(field, entry)?;
            self.path.pop();
        }
        if list.is_empty() {
            *value = Value::Null;
        }
        Ok(())
    }

    fn map(&mut self, field: &'static Field, value: &mut Value) -> Result<(), String> {
        let Value::Object(map) = value else { return Err(self.wrong_type(value, &field.go())) };
        for (key, entry) in map.iter_mut() {
            // Only structs have fields to report; texts and quantities need no path.
            let named = matches!(field.shape, Shape::Message(_));
            if named {
                self.path.push(Step::Key(key.clone()));
            }
            self.entry(field, entry)?;
            if named {
                self.path.pop();
            }
        }
        if map.is_empty() {
            *value = Value::Null;
        }
        Ok(())
    }

    fn entry(&mut self, field: &'static Field, value: &mut Value) -> Result<(), String> {
        if value.is_null() {
            *value = zero_of(field.shape);
            return Ok(());
        }
        self.single(field.shape, value, &|| field.entry_go())
    }

    /// A value that is not null. `go` is its type, for errors.
    fn single(&mut self, shape: Shape, value: &mut Value, go: &dyn Fn() -> String) -> Result<(), String> {
        let fits = match shape {
            Shape::Bool => value.is_boolean(),
            Shape::Int32 => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
            Shape::Int64 => value.is_i64(),
            Shape::Double => value.is_number(),
            Shape::String => value.is_string(),
            Shape::Json => true,
            Shape::Quantity => return canonical_quantity(value),
            Shape::IntOrString if value.is_string() => true,
            Shape::IntOrString => return self.single(Shape::Int32, value, &|| "int32".to_owned()),
            Shape::Time if value.is_string() => return canonical_time(value, Precision::Seconds),
            Shape::MicroTime if value.is_string() => return canonical_time(value, Precision::Micros),
            Shape::Time | Shape::MicroTime => false,
            Shape::Strings => return self.strings(value, &go()),
            Shape::SchemaOrArray(_) | Shape::SchemaOrBool(_) | Shape::SchemaOrStrings(_) => {
                return self.schema(shape, value);
            }
            Shape::Message(id) => match value {
                Value::Object(object) => return self.message(id.message(), object),
                _ => false,
            },
            Shape::Bytes => match value {
                Value::String(text) => return canonical_base64(text),
                _ => false,
            },
        };
        if fits { Ok(()) } else { Err(self.wrong_type(value, &go())) }
    }

    fn strings(&self, value: &mut Value, go: &str) -> Result<(), String> {
        let Value::Array(list) = value else { return Err(self.wrong_type(value, go)) };
        for entry in list.iter_mut() {
            match entry {
                Value::String(_) => {}
                Value::Null => *entry = Value::String(String::new()),
                _ => return Err(self.wrong_type(entry, "string")),
            }
        }
        if list.is_empty() {
            *value = Value::Null;
        }
        Ok(())
    }

    /// A schema, or what may stand in its place. Go reads these apart from the rest: it reports no unknown fields.
    fn schema(&mut self, shape: Shape, value: &mut Value) -> Result<(), String> {
        let quiet = std::mem::replace(&mut self.quiet, true);
        match (shape, &mut *value) {
            (
                Shape::SchemaOrArray(id) | Shape::SchemaOrBool(id) | Shape::SchemaOrStrings(id),
                Value::Object(object),
            ) => self.message(id.message(), object)?,
            (Shape::SchemaOrBool(_), Value::Bool(_)) => {}
            (Shape::SchemaOrBool(_), _) => return Err("boolean or JSON schema expected".to_owned()),
            (Shape::SchemaOrArray(id), Value::Array(list)) if !list.is_empty() => {
                for entry in list {
                    if entry.is_null() {
                        *entry = zero_of(Shape::Message(id));
                    }
                    self.single(Shape::Message(id), entry, &|| id.message().go())?;
                }
            }
            (Shape::SchemaOrStrings(_), Value::Array(_)) => self.strings(value, "[]string")?,
            _ => *value = Value::Null,
        }
        self.quiet = quiet;
        Ok(())
    }

    fn report(&mut self, key: &str) {
        if self.quiet || self.unknown.len() >= REPORTED {
            return;
        }
        let mut path = String::new();
        for step in &self.path {
            match step {
                Step::Field(_, field) => push(&mut path, field.json),
                Step::Key(key) => push(&mut path, key),
                Step::Index(at) => path = format!("{path}[{at}]"),
            }
        }
        push(&mut path, key);
        self.unknown.push(path);
    }

    fn wrong_type(&self, value: &Value, go: &str) -> String {
        let found = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(_) => "bool".to_owned(),
            Value::Number(number) if matches!(go, "int32" | "int64") => format!("number {number}"),
            Value::Number(_) => "number".to_owned(),
            Value::String(_) => "string".to_owned(),
            Value::Array(_) => "array".to_owned(),
            Value::Object(_) => "object".to_owned(),
        };
        let fields = self.path.iter().filter_map(|step| match step {
            Step::Field(message, field) => Some((*message, *field)),
            _ => None,
        });
        let Some((holder, _)) = fields.clone().next_back() else {
            return format!("json: cannot unmarshal {found} into Go value of type {go}");
        };
        let names: Vec<String> =
            fields.map(|(_, field)| format!("{}{}", field.through, field.json)).collect();
        let path = names.join(".");
        format!("json: cannot unmarshal {found} into Go struct field {}.{path} of type {go}", holder.name)
    }
}

fn push(path: &mut String, key: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}
