//! What Go writes for a field that nobody set.

use serde_json::{Map, Value};

use super::{Field, Message, Shape};

/// The zero value of a field: `null` where Go has a pointer, a list or a map.
pub(crate) fn zero(field: &Field) -> Value {
    if field.pointer || field.repeated || field.map { Value::Null } else { zero_of(field.shape) }
}

/// The zero value of one thing of this shape.
pub(crate) fn zero_of(shape: Shape) -> Value {
    match shape {
        Shape::Bool | Shape::SchemaOrBool(_) => Value::Bool(false),
        Shape::Int32 | Shape::Int64 | Shape::Double | Shape::IntOrString => Value::from(0),
        Shape::String => Value::String(String::new()),
        Shape::Quantity => Value::from("0"),
        Shape::Message(id) => Value::Object(zero_object(id.message())),
        Shape::Bytes
        | Shape::Time
        | Shape::MicroTime
        | Shape::Json
        | Shape::Strings
        | Shape::SchemaOrArray(_)
        | Shape::SchemaOrStrings(_) => Value::Null,
    }
}

/// A struct of which no field is set.
pub(crate) fn zero_object(message: &Message) -> Map<String, Value> {
    let mut object = Map::new();
    complete(message, &mut object);
    object
}

/// Adds the fields that are written even when they are empty.
pub(crate) fn complete(message: &Message, object: &mut Map<String, Value>) {
    for field in message.fields.iter().filter(|field| field.always) {
        if !object.contains_key(field.json) {
            object.insert(field.json.to_owned(), zero(field));
        }
    }
}

/// `omitempty` leaves this value of a field out, unless the field is a pointer.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
    }
}
