//! Protobuf to JSON and back, by the table of [`crate::schema`].
