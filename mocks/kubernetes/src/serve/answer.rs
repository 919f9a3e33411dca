//! Answers: objects, lists and errors, in the form that was asked for.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WARNING};
use hyper::{Response, StatusCode};
use mock_clock::Time;
use serde_json::{Map, Value, json};

use super::accept::{Encoding, Form, Shape};
use super::list::Page;
use crate::api::{view, view_json, view_protobuf};
use crate::listen::Body;
use crate::present::{self, Include, Rows};
use crate::protobuf::{self, ListWriter};
use crate::registry::Resource;
use crate::status::Status;
use crate::store::Object;

/// Lists go out in pieces of about this size.
const PIECE: usize = 256 * 1024;

/// So many objects are turned into protobuf before others have their turn.
const RUN: usize = 100;

/// How the objects of one resource are shown to one client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Showing<'a> {
    pub(super) resource: &'a Resource,
    pub(super) form: Form,
    pub(super) include: Include,
    pub(super) now: Time,
}

impl Showing<'_> {
    /// One object.
    pub(super) fn object(&self, object: &Object) -> Bytes {
        if self.form == Form::JSON {
            return view_json(self.resource, object);
        }
        if self.is_protobuf() {
            let bare = view_protobuf(self.resource, object);
            let version = self.resource.api_version();
            return match bare {
                Ok(bare) => protobuf::enveloped(&version, &self.resource.kind, &bare),
                Err(error) => no_form(&error),
            };
        }
        self.shown(&view(self.resource, object), true)
    }

    /// Whether objects are shown whole and in protobuf, which is kept with them.
    fn is_protobuf(&self) -> bool {
        self.form.encoding == Encoding::Protobuf && self.form.shape == Shape::Whole
    }

    /// A value in the shape that was asked for. Only the first table of a watch has headers.
    pub(super) fn shown(&self, value: &Value, headers: bool) -> Bytes {
        match self.form.shape {
            Shape::Whole => self.bytes(value),
            Shape::Metadata | Shape::MetadataList => self.bytes(&self.versioned(present::partial(value))),
            Shape::Table => {
                let version = json!({"resourceVersion": value["metadata"]["resourceVersion"]});
                let metadata = version.as_object().cloned().unwrap_or_default();
                self.bytes(&self.versioned(self.table([value], metadata, headers)))
            }
        }
    }

    /// Under the version of the shape that was asked for.
    fn versioned(&self, mut value: Value) -> Value {
        if self.form.beta {
            value["apiVersion"] = json!("meta.k8s.io/v1beta1");
        }
        value
    }

    fn bytes(&self, value: &Value) -> Bytes {
        encode(self.form, value)
    }

    /// A list, piece by piece.
    pub(super) async fn list(&self, page: &Page) -> Vec<Bytes> {
        let mut metadata = list_metadata(page);
        if self.form.shape == Shape::Whole && self.resource.custom.is_some() {
            // Upstream keeps these lists as maps, and writes what is empty.
            metadata.entry("continue").or_insert_with(|| json!(""));
        }
        if self.form.shape != Shape::Whole || self.form.pretty || self.form.encoding == Encoding::Yaml {
            let values: Vec<Value> = page.objects.iter().map(|object| view(self.resource, object)).collect();
            return vec![self.bytes(&self.shaped_list(&values, metadata))];
        }
        match self.form.encoding {
            Encoding::Protobuf => {
                vec![self.protobuf_list(page, metadata).await.unwrap_or_else(|error| no_form(&error))]
            }
            _ => self.json_list(page, metadata).await,
        }
    }

    fn shaped_list(&self, values: &[Value], metadata: Map<String, Value>) -> Value {
        match self.form.shape {
            Shape::Table => self.versioned(self.table(values, metadata, true)),
            Shape::Metadata | Shape::MetadataList => self.versioned(present::partial_list(values, metadata)),
            Shape::Whole => {
                let (kind, version) = (&self.resource.list_kind, self.resource.api_version());
                json!({"kind": kind, "apiVersion": version, "metadata": metadata, "items": values})
            }
        }
    }

    async fn json_list(&self, page: &Page, metadata: Map<String, Value>) -> Vec<Bytes> {
        let head = json!({"kind": self.resource.list_kind, "apiVersion": self.resource.api_version()});
        let head = head.to_string();
        let mut pieces = Vec::new();
        let mut piece = BytesMut::with_capacity(PIECE);
        piece.extend_from_slice(head.trim_end_matches('}').as_bytes());
        piece.extend_from_slice(format!(",\"metadata\":{},\"items\":[", Value::Object(metadata)).as_bytes());
        for (index, object) in page.objects.iter().enumerate() {
            if index > 0 {
                piece.extend_from_slice(b",");
            }
            for part in self.item(object) {
                piece.extend_from_slice(&part);
            }
            if piece.len() > PIECE {
                pieces.push(std::mem::take(&mut piece).freeze());
                // Whoever shares the thread goes on while a long list is made.
                tokio::task::yield_now().await;
            }
        }
        piece.extend_from_slice(b"]}");
        pieces.push(piece.freeze());
        pieces
    }

    /// Built-in kinds stand in lists without their kind and version.
    fn item(&self, object: &Arc<Object>) -> [Bytes; 2] {
        if self.resource.custom.is_none() && self.resource.group != "events.k8s.io" {
            return object.item();
        }
        [Bytes::new(), view_json(self.resource, object)]
    }

    async fn protobuf_list(
        &self,
        page: &Page,
        metadata: Map<String, Value>,
    ) -> Result<Bytes, protobuf::Error> {
        let (version, kind) = (self.resource.api_version(), &self.resource.kind);
        let mut list = ListWriter::new(&version, kind, &Value::Object(metadata))?;
        for objects in page.objects.chunks(RUN) {
            for object in objects {
                list.item(&view_protobuf(self.resource, object)?);
            }
            tokio::task::yield_now().await;
        }
        Ok(list.finish())
    }

    fn table<'v>(
        &self,
        values: impl IntoIterator<Item = &'v Value>,
        metadata: Map<String, Value>,
        headers: bool,
    ) -> Value {
        let rows = Rows { resource: self.resource, include: self.include, headers, now: self.now };
        present::table(rows, values, metadata)
    }
}

fn list_metadata(page: &Page) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("resourceVersion".to_owned(), json!(page.revision.to_string()));
    if let Some(next) = &page.next {
        metadata.insert("continue".to_owned(), json!(next));
    }
    if let Some(remaining) = page.remaining {
        metadata.insert("remainingItemCount".to_owned(), json!(remaining));
    }
    metadata
}

/// A value as bytes.
pub(super) fn encode(form: Form, value: &Value) -> Bytes {
    let bytes = match form.encoding {
        Encoding::Protobuf => {
            return protobuf::encode(value).map_or_else(|error| no_form(&error), Bytes::from);
        }
        Encoding::Yaml => super::yaml::write(value).into_bytes(),
        Encoding::Json if form.pretty => serde_json::to_vec_pretty(value).unwrap_or_default(),
        Encoding::Json => serde_json::to_vec(value).unwrap_or_default(),
    };
    bytes.into()
}

/// What is told of a kind that has no protobuf; none that is served in it is like that.
fn no_form(error: &protobuf::Error) -> Bytes {
    tracing::error!(%error, "an object has no protobuf form");
    Bytes::new()
}

/// An answer with a body.
pub(super) fn respond(code: u16, content_type: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Any value, as JSON or protobuf.
pub(super) fn value(code: u16, form: Form, value: &Value) -> Response<Body> {
    respond(code, form.content_type(), encode(form, value))
}

/// An error. Clients that want protobuf get it in protobuf.
pub(super) fn error(form: Form, status: &Status) -> Response<Body> {
    let mut response = value(status.code, Form { shape: Shape::Whole, ..form }, &status.to_value());
    if status.details.retry_after_seconds > 0 && matches!(status.code, 429 | 503 | 504) {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(status.details.retry_after_seconds));
    }
    response
}

/// Adds what the client should know although it went well.
pub(super) fn warn(response: &mut Response<Body>, warnings: &[String]) {
    for warning in warnings {
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(header) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
            response.headers_mut().append(WARNING, header);
        }
    }
}
