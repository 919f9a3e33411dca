//! The bytes of one message to the value that Go would write for it.
//!
//! Unknown tags are dropped, as an older server drops them. Nothing is allocated for a length that is not there.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value};

use super::wire::{Raw, Reader, WRONG_TYPE};
use super::{Error, envelope};
use crate::schema::{Field, Id, Instant, Message, Precision, Shape, complete, is_empty, quantity, zero_of};

/// Messages nested deeper are refused.
pub(super) const DEPTH: usize = 128;

/// A whole message.
pub(super) fn message(message: &Message, bytes: &[u8], depth: usize) -> Result<Map<String, Value>, Error> {
    let mut object = Map::new();
    message_into(message, bytes, &mut object, depth)?;
    Ok(object)
}

/// A message that may stand on the wire in several pieces.
fn message_into(
    message: &Message,
    bytes: &[u8],
    object: &mut Map<String, Value>,
    depth: usize,
) -> Result<(), Error> {
    fields(message, bytes, object, depth)?;
    complete(message, object);
    Ok(())
}

fn fields(
    message: &Message,
    bytes: &[u8],
    object: &mut Map<String, Value>,
    depth: usize,
) -> Result<(), Error> {
    if depth == 0 {
        return Err(Error::Malformed("messages are nested too deep"));
    }
    let mut reader = Reader::new(bytes);
    while let Some((tag, raw)) = reader.next()? {
        let Some(field) = message.by_tag(tag) else { continue };
        if field.repeated {
            repeated(field, raw, object, depth)?;
        } else if field.map {
            entry(field, raw.bytes()?, object, depth)?;
        } else {
            singular(field, raw, object, depth)?;
        }
    }
    Ok(())
}

fn singular(field: &Field, raw: Raw<'_>, object: &mut Map<String, Value>, depth: usize) -> Result<(), Error> {
    if let Shape::Message(id) = field.shape {
        if field.inline {
            return fields(id.message(), raw.bytes()?, object, depth - 1);
        }
        if let Some(Value::Object(begun)) = object.get_mut(field.json) {
            return message_into(id.message(), raw.bytes()?, begun, depth - 1);
        }
    }
    let value = value(field, raw, depth)?;
    if field.always || !value.is_null() && (field.pointer || !is_empty(&value)) {
        object.insert(field.json.to_owned(), value);
    } else {
        object.remove(field.json);
    }
    Ok(())
}

fn repeated(field: &Field, raw: Raw<'_>, object: &mut Map<String, Value>, depth: usize) -> Result<(), Error> {
    let list = object.entry(field.json).or_insert_with(|| Value::Array(Vec::new()));
    let Value::Array(list) = list else { return Err(WRONG_TYPE) };
    let packed = matches!(field.shape, Shape::Int32 | Shape::Int64 | Shape::Bool);
    match raw {
        Raw::Bytes(bytes) if packed => {
            let mut numbers = Reader::new(bytes);
            while !numbers.is_empty() {
                list.push(value(field, Raw::Varint(numbers.varint()?), depth)?);
            }
        }
        raw => list.push(value(field, raw, depth)?),
    }
    Ok(())
}

fn entry(field: &Field, bytes: &[u8], object: &mut Map<String, Value>, depth: usize) -> Result<(), Error> {
    let (mut key, mut held) = ("", None);
    let mut reader = Reader::new(bytes);
    while let Some((tag, raw)) = reader.next()? {
        match tag {
            1 => key = raw.text()?,
            2 => held = Some(value(field, raw, depth)?),
            _ => {}
        }
    }
    let held = held.unwrap_or_else(|| match field.shape {
        Shape::Bytes => Value::from(""),
        shape => zero_of(shape),
    });
    let map = object.entry(field.json).or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(map) = map else { return Err(WRONG_TYPE) };
    map.insert(key.to_owned(), held);
    Ok(())
}

fn value(field: &Field, raw: Raw<'_>, depth: usize) -> Result<Value, Error> {
    Ok(match field.shape {
        Shape::Bool => Value::Bool(raw.varint()? != 0),
        Shape::Int32 => Value::from(int32(raw)?),
        Shape::Int64 => Value::from(raw.varint()?.cast_signed()),
        Shape::Double => double(raw)?,
        Shape::String => Value::from(raw.text()?),
        Shape::Bytes => Value::from(STANDARD.encode(raw.bytes()?)),
        Shape::Message(id) => Value::Object(message(id.message(), raw.bytes()?, depth - 1)?),
        Shape::Quantity => amount(field, raw.bytes()?)?,
        Shape::IntOrString => int_or_string(raw.bytes()?)?,
        Shape::Time => time(raw.bytes()?, Precision::Seconds)?,
        Shape::MicroTime => time(raw.bytes()?, Precision::Micros)?,
        Shape::Json => json(field, raw.bytes()?, depth)?,
        Shape::Strings => {
            let list = texts(raw.bytes()?, 1)?;
            if list.is_empty() { Value::Null } else { Value::Array(list) }
        }
        Shape::SchemaOrArray(id) | Shape::SchemaOrStrings(id) => {
            schema_or_list(field.shape, id, raw.bytes()?, depth)?
        }
        Shape::SchemaOrBool(id) => schema_or_bool(id, raw.bytes()?, depth)?,
    })
}

/// Go takes the low 32 bits.
fn int32(raw: Raw<'_>) -> Result<i32, Error> {
    let bytes = raw.varint()?.to_le_bytes();
    Ok(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// Go prints a whole number without a point.
fn double(raw: Raw<'_>) -> Result<Value, Error> {
    let Raw::Fixed64(bits) = raw else { return Err(WRONG_TYPE) };
    let number = f64::from_bits(bits);
    let printed = if number.fract() == 0.0 { format!("{number:.0}").parse::<i64>().ok() } else { None };
    match printed {
        Some(whole) => Ok(Value::from(whole)),
        None => Number::from_f64(number).map(Value::Number).ok_or(Error::Malformed("a number is not finite")),
    }
}

fn amount(field: &Field, bytes: &[u8]) -> Result<Value, Error> {
    let mut text = "0";
    let mut reader = Reader::new(bytes);
    while let Some((tag, raw)) = reader.next()? {
        if tag == 1 {
            text = raw.text()?;
        }
    }
    quantity(text).map(Value::String).map_err(|why| Error::Value { field: field.json, why })
}

fn int_or_string(bytes: &[u8]) -> Result<Value, Error> {
    let (mut textual, mut number, mut text) = (false, 0, "");
    let mut reader = Reader::new(bytes);
    while let Some((tag, raw)) = reader.next()? {
        match tag {
            1 => textual = raw.varint()? == 1,
            2 => number = int32(raw)?,
            3 => text = raw.text()?,
            _ => {}
        }
    }
    Ok(if textual { Value::from(text) } else { Value::from(number) })
}

fn time(bytes: &[u8], precision: Precision) -> Result<Value, Error> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let mut instant = Instant { seconds: 0, nanos: 0 };
    let mut reader = Reader::new(bytes);
    while let Some((tag, raw)) = reader.next()? {
        match tag {
            1 => instant.seconds = raw.varint()?.cast_signed(),
            2 => {
                let nanos = u32::try_from(int32(raw)?).ok().filter(|nanos| *nanos < 1_000_000_000);
                instant.nanos =
                    nanos.ok_or(Error::Malformed("a time has more than a second of nanoseconds"))?;
            }
            _ => {}
        }
    }
    if precision == Precision::Seconds {
        instant.nanos = 0;
    }
    if instant == Instant::ZERO {
        return Ok(Value::Null);
    }
    let text = instant.text(precision).ok_or(Error::Malformed("a time is outside of the calendar"))?;
    Ok(Value::String(text))
}

fn json(field: &Field, bytes: &[u8], depth: usize) -> Result<Value, Error> {
    let mut held: &[u8] = &[];
    let mut reader = Reader::new(bytes);
    while let Some((tag, raw)) = reader.next()? {
        if tag == 1 {
            held = raw.bytes()?;
        }
    }
    if held.is_empty() {
        return Ok(Value::Null);
    }
    if envelope::is_enveloped(held) {
        return envelope::open(held, depth - 1);
    }
    serde_json::from_slice(held).map_err(|error| Error::Value { field: field.json, why: error.to_string() })
}

fn texts(bytes: &[u8], wanted: u32) -> Result<Vec<Value>, Error> {
    let mut list = Vec::new();
    let mut reader = Reader::new(bytes);
    while let Some((tag, raw)) = reader.next()? {
        if tag == wanted {
            list.push(Value::from(raw.text()?));
        }
    }
    Ok(list)
}

fn schema_or_list(shape: Shape, id: Id, bytes: &[u8], depth: usize) -> Result<Value, Error> {
    let (mut single, mut list) = (Value::Null, Vec::new());
    let mut reader = Reader::new(bytes);
    while let Some((tag, raw)) = reader.next()? {
        match (tag, shape) {
            (1, _) => single = schema(id, raw, depth)?,
            (2, Shape::SchemaOrArray(_)) => list.push(schema(id, raw, depth)?),
            (2, _) => list.push(Value::from(raw.text()?)),
            _ => {}
        }
    }
    Ok(if list.is_empty() { single } else { Value::Array(list) })
}

fn schema_or_bool(id: Id, bytes: &[u8], depth: usize) -> Result<Value, Error> {
    let mut held = Value::Bool(false);
    let mut reader = Reader::new(bytes);
    while let Some((tag, raw)) = reader.next()? {
        match tag {
            1 if !held.is_object() => held = Value::Bool(raw.varint()? != 0),
            2 => held = schema(id, raw, depth)?,
            _ => {}
        }
    }
    Ok(held)
}

fn schema(id: Id, raw: Raw<'_>, depth: usize) -> Result<Value, Error> {
    message(id.message(), raw.bytes()?, depth - 1).map(Value::Object)
}
