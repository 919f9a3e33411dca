//! A value to the bytes that Go would write for it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::Error;
use super::wire::{put_bytes, put_double, put_message, put_number};
use crate::schema::{Field, Id, Instant, Message, Precision, Shape, zero_of};

/// The fields of one message. What the table does not know is left out.
pub(super) fn message(
    out: &mut Vec<u8>,
    message: &Message,
    object: &Map<String, Value>,
) -> Result<(), Error> {
    for field in message.wire() {
        if let (true, Shape::Message(id)) = (field.inline, field.shape) {
            put_message(out, field.tag, |out| self::message(out, id.message(), object))?;
            continue;
        }
        let held = object.get(field.json).filter(|value| !value.is_null());
        match held {
            Some(Value::Array(list)) if field.repeated => {
                list.iter().try_for_each(|entry| self::entry(out, field, field.tag, entry))?;
            }
            Some(Value::Object(map)) if field.map => {
                for (key, value) in map {
                    put_message(out, field.tag, |out| {
                        put_bytes(out, 1, key.as_bytes());
                        entry(out, field, 2, value)
                    })?;
                }
            }
            Some(_) if field.repeated || field.map => return Err(wrong(field, "is no list or map")),
            Some(value) => single(out, field, field.tag, value)?,
            None if field.pointer || field.repeated || field.map => {}
            None => unset(out, field)?,
        }
    }
    Ok(())
}

fn wrong(field: &Field, why: &str) -> Error {
    Error::Value { field: field.json, why: why.to_owned() }
}

/// An entry of a list or a map, where `null` is the zero value.
fn entry(out: &mut Vec<u8>, field: &Field, tag: u32, value: &Value) -> Result<(), Error> {
    if !value.is_null() {
        return single(out, field, tag, value);
    }
    match zero_of(field.shape) {
        Value::Null => put_bytes(out, tag, &[]),
        zero => single(out, field, tag, &zero)?,
    }
    Ok(())
}

/// A field that is no pointer and was not set.
fn unset(out: &mut Vec<u8>, field: &Field) -> Result<(), Error> {
    match field.shape {
        Shape::Bytes | Shape::Strings => Ok(()),
        Shape::Message(id) => put_message(out, field.tag, |out| message(out, id.message(), &Map::new())),
        _ => entry(out, field, field.tag, &Value::Null),
    }
}

fn single(out: &mut Vec<u8>, field: &Field, tag: u32, value: &Value) -> Result<(), Error> {
    match (field.shape, value) {
        (Shape::Bool, Value::Bool(value)) => put_number(out, tag, u64::from(*value)),
        (Shape::Int32 | Shape::Int64, Value::Number(number)) => {
            let number = number.as_i64().ok_or_else(|| wrong(field, "is no integer"))?;
            put_number(out, tag, number.cast_unsigned());
        }
        (Shape::Double, Value::Number(number)) => {
            put_double(out, tag, number.as_f64().ok_or_else(|| wrong(field, "is no double"))?);
        }
        (Shape::String, Value::String(text)) => put_bytes(out, tag, text.as_bytes()),
        (Shape::Bytes, Value::String(text)) => {
            let bytes = STANDARD.decode(text).map_err(|_| wrong(field, "is no base64"))?;
            put_bytes(out, tag, &bytes);
        }
        (Shape::Message(id), Value::Object(object)) => {
            put_message(out, tag, |out| message(out, id.message(), object))?;
        }
        (Shape::Json, value) => json(out, field, tag, value)?,
        (shape, value) => put_message(out, tag, |out| special(out, field, shape, value))?,
    }
    Ok(())
}

fn json(out: &mut Vec<u8>, field: &Field, tag: u32, value: &Value) -> Result<(), Error> {
    let text = serde_json::to_vec(value).map_err(|error| wrong(field, &error.to_string()))?;
    put_message(out, tag, |out| {
        put_bytes(out, 1, &text);
        Ok(())
    })
}

/// The inside of a message whose JSON is no object, or not always.
fn special(out: &mut Vec<u8>, field: &Field, shape: Shape, value: &Value) -> Result<(), Error> {
    match (shape, value) {
        (Shape::Quantity, Value::String(text)) => put_bytes(out, 1, text.as_bytes()),
        (Shape::IntOrString, Value::String(text)) => int_or_string(out, 1, 0, text),
        (Shape::IntOrString, Value::Number(number)) => {
            let number = number.as_i64().ok_or_else(|| wrong(field, "is no integer"))?;
            int_or_string(out, 0, number, "");
        }
        (Shape::Time, Value::String(text)) => time(out, field, text, Precision::Seconds)?,
        (Shape::MicroTime, Value::String(text)) => time(out, field, text, Precision::Micros)?,
        (Shape::Strings, Value::Array(list)) => texts(out, field, 1, list)?,
        (Shape::SchemaOrArray(id), Value::Array(list)) => {
            list.iter().try_for_each(|entry| schema(out, field, 2, id, entry))?;
        }
        (Shape::SchemaOrStrings(_), Value::Array(list)) => texts(out, field, 2, list)?,
        (Shape::SchemaOrBool(_), Value::Bool(allowed)) => put_number(out, 1, u64::from(*allowed)),
        (Shape::SchemaOrBool(id), value) => {
            put_number(out, 1, 1);
            schema(out, field, 2, id, value)?;
        }
        (Shape::SchemaOrArray(id) | Shape::SchemaOrStrings(id), value) => schema(out, field, 1, id, value)?,
        _ => return Err(wrong(field, "has the wrong type")),
    }
    Ok(())
}

fn int_or_string(out: &mut Vec<u8>, kind: u64, number: i64, text: &str) {
    put_number(out, 1, kind);
    put_number(out, 2, number.cast_unsigned());
    put_bytes(out, 3, text.as_bytes());
}

fn time(out: &mut Vec<u8>, field: &Field, text: &str, precision: Precision) -> Result<(), Error> {
    let instant = Instant::parse(text, precision).map_err(|why| Error::Value { field: field.json, why })?;
    put_number(out, 1, instant.seconds.cast_unsigned());
    put_number(out, 2, if precision == Precision::Seconds { 0 } else { u64::from(instant.nanos) });
    Ok(())
}

fn texts(out: &mut Vec<u8>, field: &Field, tag: u32, list: &[Value]) -> Result<(), Error> {
    for entry in list {
        put_bytes(out, tag, entry.as_str().ok_or_else(|| wrong(field, "is no list of texts"))?.as_bytes());
    }
    Ok(())
}

fn schema(out: &mut Vec<u8>, field: &Field, tag: u32, id: Id, value: &Value) -> Result<(), Error> {
    let object = value.as_object().ok_or_else(|| wrong(field, "is no schema"))?;
    put_message(out, tag, |out| message(out, id.message(), object))
}
