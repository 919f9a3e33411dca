//! The fields of every built-in kind, from one generated table.
