//! Public keys for logging in: what one is, and how it looks on the wire.
//!
//! They are only kept and named. What a server does with them is not simulated.

mod public_key;
mod room;
#[cfg(test)]
mod tests;

pub(crate) use room::ROUTES;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::call::show::moment;
use crate::call::{IdOrName, Wrong};
use crate::project::Project;
use crate::resource::shelf::{Head, resource};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SshKey {
    pub(crate) head: Head,
    /// MD5 of the key itself, in pairs of digits.
    pub(crate) fingerprint: String,
    /// As it was given, comment included.
    pub(crate) public_key: String,
}

resource!(SshKey, SshKey);

/// The key that is asked for by its id or its name.
pub(crate) fn resolve<'a>(project: &'a Project, wanted: &IdOrName) -> Result<&'a SshKey, Wrong> {
    let by_id = wanted.id().and_then(|id| project.ssh_keys.find(id));
    let found = by_id.or_else(|| project.ssh_keys.named(&wanted.0));
    found.ok_or_else(|| Wrong::new("not_found", format!("SSH key '{}' not found", wanted.0)))
}

/// A key as the API shows it.
fn show(key: &SshKey) -> Value {
    json!({
        "id": key.head.id,
        "name": key.head.name,
        "labels": key.head.labels,
        "created": moment(key.head.created),
        "fingerprint": key.fingerprint,
        "public_key": key.public_key,
    })
}
