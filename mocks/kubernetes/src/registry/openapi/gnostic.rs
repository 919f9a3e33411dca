//! The second version of the document as protobuf, in the messages that gnostic has made of it.
//!
//! Field numbers are those of its `openapi.v2` package. What the documents of this server do not contain is not
//! encoded. Extensions travel as YAML; JSON is YAML.

use serde_json::Value;

/// A protobuf message under construction.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: usize) {
        loop {
            let low = u8::try_from(value & 0x7f).unwrap_or_default();
            value >>= 7;
            if value == 0 {
                return self.0.push(low);
            }
            self.0.push(low | 0x80);
        }
    }

    fn bytes(&mut self, field: usize, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    /// A text; nothing if it is missing.
    fn text(&mut self, field: usize, value: &Value) {
        if let Some(text) = value.as_str() {
            self.bytes(field, text.as_bytes());
        }
    }

    fn texts(&mut self, field: usize, value: &Value) {
        for text in value.as_array().into_iter().flatten() {
            self.text(field, text);
        }
    }

    fn flag(&mut self, field: usize, value: &Value) {
        if value == &Value::Bool(true) {
            self.varint(field << 3);
            self.varint(1);
        }
    }

    fn message(&mut self, field: usize, message: &Message) {
        self.bytes(field, &message.0);
    }

    /// Named entries: each a message with a name and a value.
    fn named(&mut self, field: usize, entries: &Value, encode: fn(&Value) -> Message) {
        for (name, value) in entries.as_object().into_iter().flatten() {
            let mut entry = Message::default();
            entry.bytes(1, name.as_bytes());
            entry.message(2, &encode(value));
            self.message(field, &entry);
        }
    }

    /// The keys that begin with `x-`.
    fn extensions(&mut self, field: usize, of: &Value) {
        let extensions = of.as_object().into_iter().flatten().filter(|(key, _)| key.starts_with("x-"));
        for (name, value) in extensions {
            let mut yaml = Message::default();
            yaml.bytes(2, value.to_string().as_bytes());
            let mut entry = Message::default();
            entry.bytes(1, name.as_bytes());
            entry.message(2, &yaml);
            self.message(field, &entry);
        }
    }
}

/// Encodes a document of the second version.
pub(crate) fn encode(document: &Value) -> Vec<u8> {
    let mut info = Message::default();
    info.text(1, &document["info"]["title"]);
    info.text(2, &document["info"]["version"]);
    let mut paths = Message::default();
    paths.named(2, &document["paths"], path_item);
    let mut all = Message::default();
    all.text(1, &document["swagger"]);
    all.message(2, &info);
    all.message(8, &paths);
    let mut definitions = Message::default();
    definitions.named(1, &document["definitions"], schema);
    all.message(9, &definitions);
    all.0
}

fn path_item(item: &Value) -> Message {
    let mut message = Message::default();
    for (field, method) in [(2, "get"), (3, "put"), (4, "post"), (5, "delete"), (8, "patch")] {
        if let Some(value) = item.get(method) {
            message.message(field, &operation(value));
        }
    }
    for one in item["parameters"].as_array().into_iter().flatten() {
        message.message(9, &parameter(one));
    }
    message
}

fn operation(value: &Value) -> Message {
    let mut message = Message::default();
    message.texts(7, &value["consumes"]);
    for one in value["parameters"].as_array().into_iter().flatten() {
        message.message(8, &parameter(one));
    }
    let mut responses = Message::default();
    responses.named(1, &value["responses"], response);
    message.message(9, &responses);
    message.extensions(13, value);
    message
}

/// A parameter of the query or of the path.
fn parameter(value: &Value) -> Message {
    let (place, kind) = if value["in"] == "path" { (4, 5) } else { (3, 6) };
    let mut inner = Message::default();
    inner.flag(1, &value["required"]);
    inner.text(2, &value["in"]);
    inner.text(4, &value["name"]);
    inner.text(kind, &value["type"]);
    // The parameter is no body, and no reference.
    [place, 2, 1].into_iter().fold(inner, |inner, field| {
        let mut outer = Message::default();
        outer.message(field, &inner);
        outer
    })
}

fn response(value: &Value) -> Message {
    let mut inner = Message::default();
    inner.text(1, &value["description"]);
    let mut outer = Message::default();
    outer.message(1, &inner);
    outer
}

/// A schema, as far as the second version has it.
fn schema(value: &Value) -> Message {
    let mut message = Message::default();
    message.text(1, &value["$ref"]);
    message.text(2, &value["format"]);
    message.text(4, &value["description"]);
    message.texts(19, &value["required"]);
    for (field, key) in [(21, "additionalProperties"), (23, "items")] {
        if value[key].is_object() {
            let mut wrapped = Message::default();
            wrapped.message(1, &schema(&value[key]));
            message.message(field, &wrapped);
        }
    }
    if value["type"].is_string() {
        let mut kind = Message::default();
        kind.text(1, &value["type"]);
        message.message(22, &kind);
    }
    if value["properties"].is_object() {
        let mut properties = Message::default();
        properties.named(1, &value["properties"], schema);
        message.message(25, &properties);
    }
    message.extensions(31, value);
    message
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bytes_are_those_of_protobuf() {
        let document = json!({
            "swagger": "2.0",
            "info": {"title": "t", "version": "v"},
            "paths": {"/a": {"get": {
                "parameters": [{"name": "n", "in": "query", "type": "string"}],
                "responses": {},
                "x-a": 1,
            }}},
            "definitions": {"D": {"type": "object"}},
        });
        let mut expected = b"\x0a\x032.0\x12\x06\x0a\x01t\x12\x01v".to_vec();
        // Paths, the path with its name, the item, its GET, a parameter of the query, no responses, an extension.
        expected.extend(b"\x42\x32\x12\x30\x0a\x02/a\x12\x2a\x12\x28");
        expected.extend(b"\x42\x18\x0a\x16\x12\x14\x1a\x12\x12\x05query\x22\x01n\x32\x06string\x4a\x00");
        expected.extend(b"\x6a\x0a\x0a\x03x-a\x12\x03\x12\x011");
        expected.extend(b"\x4a\x12\x0a\x10\x0a\x01D\x12\x0b\xb2\x01\x08\x0a\x06object");
        assert_eq!(encode(&document).escape_ascii().to_string(), expected.escape_ascii().to_string());
        let mut long = Message::default();
        long.varint(300);
        assert_eq!(long.0, [0xac, 0x02]);
    }
}
