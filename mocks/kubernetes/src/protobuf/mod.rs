//! Protobuf to JSON and back, by the table of [`crate::schema`].
//!
//! The shape of the wire is that of gogo, which the Go clients speak: every value that is no pointer is written, even
//! when it is empty, and maps are written in the order of their keys. Custom resources are never protobuf.

mod decoding;
mod encoding;
mod envelope;
mod wire;

use std::fmt;

pub(crate) use envelope::{ListWriter, decode, encode, encode_bare, watch_frame_of};

/// What cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// It does not begin with `k8s` and a zero.
    NoEnvelope,
    /// Bytes that are no protobuf, or not of this message.
    Malformed(&'static str),
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
            Self::Malformed(why) => write!(f, "proto: {why}"),
            Self::UnknownKind { api_version, kind } => {
                write!(f, "no kind \"{kind}\" is registered for version \"{api_version}\"")
            }
            Self::Value { field, why } => write!(f, "{field}: {why}"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests;
