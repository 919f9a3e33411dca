//! Protobuf to JSON and back, by the table of [`crate::schema`].
//!
//! The shape of the wire is that of gogo, which the Go clients speak: every value that is no pointer is written, even
//! when it is empty, and maps are written in the order of their keys. Custom resources are never protobuf.

mod decoding;
mod encoding;
mod envelope;
mod wire;

use std::fmt;

pub(crate) use envelope::{ListWriter, bare, decode, encode, enveloped, watch_frame_of};

/// What cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// It does not begin with `k8s` and a zero.
    NoEnvelope,
    /// There is nothing in the envelope.
    Empty,
    /// Bytes that are no protobuf, or not of this message.
    Malformed(&'static str),
    /// The envelope says what is in it, and that cannot be read.
    Inside { api_version: String, kind: String, why: Box<Error> },
    /// A kind without protobuf.
    UnknownKind { api_version: String, kind: String },
    /// A value that cannot be in this field.
    Value { field: &'static str, why: String },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEnvelope => f.write_str(
                "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
            ),
            Self::Empty => f.write_str("empty body"),
            Self::Malformed(why) => f.write_str(why),
            Self::Inside { why, .. } => why.fmt(f),
            Self::UnknownKind { api_version, kind } => f.write_str(&unregistered(api_version, kind)),
            Self::Value { field, why } => write!(f, "{field}: {why}"),
        }
    }
}

impl std::error::Error for Error {}

/// The sentence about a kind that nobody knows.
pub(crate) fn unregistered(api_version: &str, kind: &str) -> String {
    // Where upstream keeps the kinds it knows; its errors say it.
    const SCHEME: &str = "pkg/runtime/scheme.go:111";
    format!("no kind {kind:?} is registered for version {api_version:?} in scheme {SCHEME:?}")
}

#[cfg(test)]
mod tests;
