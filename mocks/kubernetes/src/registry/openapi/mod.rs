//! `OpenAPI`: which paths there are and what they take, for `kubectl` and for nobody else.
//!
//! Before it applies or creates, `kubectl` looks for the parameter `fieldValidation` at the PATCH operation of the
//! object's kind, newer ones in the third version of the document, older ones in the second.

mod components;
mod gnostic;
mod paths;
mod routes;
mod v2;
mod v3;

pub(crate) use gnostic::encode as encode_v2;

/// What a client asks for if it wants the second version as protobuf; the `@` is part of the name.
pub(crate) const V2_PROTOBUF_ASKED: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
/// How that answer is labelled.
pub(crate) const V2_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

const TITLE: &str = "Kubernetes";
const RELEASE: &str = "v1.35.0";
