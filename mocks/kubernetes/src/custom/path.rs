//! Paths as errors show them: `spec.taints[0].key`, `metadata.labels[app]`.

/// What stands for the whole object.
pub(crate) const NOWHERE: &str = "<nil>";

pub(crate) fn field(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

/// An entry of a map.
pub(crate) fn key(at: &str, name: &str) -> String {
    format!("{at}[{name}]")
}

pub(crate) fn index(at: &str, index: usize) -> String {
    format!("{at}[{index}]")
}

/// The path in an error.
pub(crate) fn shown(at: &str) -> &str {
    if at.is_empty() { NOWHERE } else { at }
}
