//! What stands around a message: the type of an object, a list of objects, an event of a watch.

use bytes::Bytes;
use serde_json::{Map, Value};

use super::decoding::DEPTH;
use super::wire::{Reader, put_bytes, put_message, put_varint};
use super::{Error, decoding, encoding};
use crate::schema::{Message, schema};

const MAGIC: &[u8] = b"k8s\0";

/// Reads an enveloped object. `unsaid` is the `apiVersion` and the kind of what does not say it.
pub(crate) fn decode(bytes: &[u8], unsaid: (&str, &str)) -> Result<Value, Error> {
    open_as(bytes, unsaid, DEPTH)
}

/// Writes an object by its `apiVersion` and `kind`, enveloped.
pub(crate) fn encode(object: &Value) -> Result<Vec<u8>, Error> {
    let (api_version, kind) = named(object);
    let message = message_of(api_version, kind)?;
    let mut out = MAGIC.to_vec();
    put_type(&mut out, api_version, kind);
    put_message(&mut out, 2, |out| body(out, message, object))?;
    put_end(&mut out);
    Ok(out)
}

/// Writes an object by its `apiVersion` and `kind`, without the envelope: as it stands in a list.
pub(crate) fn bare(object: &Value) -> Result<Vec<u8>, Error> {
    let (api_version, kind) = named(object);
    let mut out = Vec::new();
    body(&mut out, message_of(api_version, kind)?, object)?;
    out.shrink_to_fit();
    Ok(out)
}

/// The envelope around an object that is already written.
pub(crate) fn enveloped(api_version: &str, kind: &str, bare: &[u8]) -> Bytes {
    const AROUND: usize = 128;
    let mut out = Vec::with_capacity(bare.len() + AROUND);
    out.extend_from_slice(MAGIC);
    put_type(&mut out, api_version, kind);
    put_bytes(&mut out, 2, bare);
    put_end(&mut out);
    out.into()
}

/// A frame of a watch, around an object that is already enveloped.
pub(crate) fn watch_frame_of(event: &str, enveloped: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(enveloped.len() + 32);
    frame.extend_from_slice(&[0; 4]);
    put_bytes(&mut frame, 1, event.as_bytes());
    let mut inner = vec![2 << 3 | 2];
    let mut raw = vec![1 << 3 | 2];
    put_varint(&mut raw, enveloped.len() as u64);
    put_varint(&mut inner, (raw.len() + enveloped.len()) as u64);
    frame.append(&mut inner);
    frame.append(&mut raw);
    frame.extend_from_slice(enveloped);
    let length = u32::try_from(frame.len() - 4).unwrap_or(u32::MAX);
    frame[..4].copy_from_slice(&length.to_be_bytes());
    frame
}

/// Writes a list of objects that are already written.
pub(crate) struct ListWriter {
    /// Free bytes for what stands before the objects, then the objects.
    out: Vec<u8>,
    front: Vec<u8>,
}

/// Enough for a tag and a length.
const LENGTH: usize = 11;

impl ListWriter {
    /// Begins a list: `api_version` and `kind` are those of the objects, `metadata` is that of the list.
    pub(crate) fn new(api_version: &str, kind: &str, metadata: &Value) -> Result<Self, Error> {
        let list_kind = format!("{kind}List");
        let list = message_of(api_version, &list_kind)?;
        let mut front = MAGIC.to_vec();
        put_type(&mut front, api_version, &list_kind);
        let mut out = vec![0; front.len() + LENGTH];
        let empty = Map::from_iter([("metadata".to_owned(), metadata.clone())]);
        encoding::message(&mut out, list, &empty)?;
        Ok(Self { out, front })
    }

    /// Adds an object, written without its envelope.
    pub(crate) fn item(&mut self, bare: &[u8]) {
        put_bytes(&mut self.out, 2, bare);
    }

    /// The list, enveloped.
    pub(crate) fn finish(mut self) -> Bytes {
        let length = self.out.len() - self.front.len() - LENGTH;
        self.front.push(2 << 3 | 2);
        put_varint(&mut self.front, length as u64);
        let start = self.out.len() - length - self.front.len();
        self.out[start..start + self.front.len()].copy_from_slice(&self.front);
        put_end(&mut self.out);
        Bytes::from(self.out).slice(start..)
    }
}

pub(super) fn is_enveloped(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

pub(super) fn open(bytes: &[u8], depth: usize) -> Result<Value, Error> {
    open_as(bytes, ("", ""), depth)
}

fn open_as(bytes: &[u8], unsaid: (&str, &str), depth: usize) -> Result<Value, Error> {
    if depth == 0 {
        return Err(Error::Malformed("messages are nested too deep"));
    }
    let enveloped = bytes.strip_prefix(MAGIC).ok_or(Error::NoEnvelope)?;
    if enveloped.is_empty() {
        return Err(Error::Empty);
    }
    let mut reader = Reader::new(enveloped);
    let (mut api_version, mut kind, mut held): (_, _, &[u8]) = ("", "", &[]);
    while let Some((tag, raw)) = reader.next()? {
        match tag {
            1 => {
                let mut names = Reader::new(raw.bytes()?);
                while let Some((tag, raw)) = names.next()? {
                    match tag {
                        1 => api_version = raw.text()?,
                        2 => kind = raw.text()?,
                        _ => {}
                    }
                }
            }
            2 => held = raw.bytes()?,
            3 if !raw.bytes()?.is_empty() => return Err(Error::Malformed("the content is encoded")),
            _ => {}
        }
    }
    if kind.is_empty() {
        (api_version, kind) = unsaid;
    }
    let inside = |why| Error::Inside {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        why: Box::new(why),
    };
    let message = message_of(api_version, kind).map_err(inside)?;
    let mut object = decoding::message(message, held, depth).map_err(inside)?;
    object.insert("apiVersion".to_owned(), Value::from(api_version));
    object.insert("kind".to_owned(), Value::from(kind));
    Ok(Value::Object(object))
}

fn named(object: &Value) -> (&str, &str) {
    let text = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
    (text("apiVersion"), text("kind"))
}

fn message_of(api_version: &str, kind: &str) -> Result<&'static Message, Error> {
    schema()
        .api_kind(api_version, kind)
        .ok_or_else(|| Error::UnknownKind { api_version: api_version.to_owned(), kind: kind.to_owned() })
}

fn body(out: &mut Vec<u8>, message: &Message, object: &Value) -> Result<(), Error> {
    let object = object.as_object().ok_or(Error::Malformed("an object is expected"))?;
    encoding::message(out, message, object)
}

/// The type of the object, the first field of the envelope.
fn put_type(out: &mut Vec<u8>, api_version: &str, kind: &str) {
    let mut names = Vec::with_capacity(64);
    put_bytes(&mut names, 1, api_version.as_bytes());
    put_bytes(&mut names, 2, kind.as_bytes());
    put_bytes(out, 1, &names);
}

/// Encoding and content type, which are written although they are empty.
fn put_end(out: &mut Vec<u8>) {
    put_bytes(out, 3, &[]);
    put_bytes(out, 4, &[]);
}
