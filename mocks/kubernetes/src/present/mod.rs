//! What a client asked to see: tables, metadata only.
