//! Names of hosts, as servers have them, addresses lead back to, and certificates are for.

use crate::call::Body;

/// Reads the name of a host.
pub(crate) fn read(body: &mut Body, field: &str) -> Option<String> {
    let name = body.text(field)?;
    if !is_one(&name) {
        body.wrong(field, "Must be a valid hostname as of RFC 1123.");
    }
    Some(name)
}

/// Whether a text can be the name of a host.
pub(crate) fn is_one(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}
