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
