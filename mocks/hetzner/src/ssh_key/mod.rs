//! Public keys for logging in.

use serde::{Deserialize, Serialize};

use crate::call::IdOrName;
use crate::project::Project;
use crate::shelf::{Head, resource};
use crate::wrong::Wrong;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SshKey {
    pub(crate) head: Head,
    pub(crate) fingerprint: String,
    pub(crate) public_key: String,
}

resource!(SshKey, SshKey);

/// The key that is asked for by its id or its name.
pub(crate) fn resolve<'a>(project: &'a Project, wanted: &IdOrName) -> Result<&'a SshKey, Wrong> {
    let by_id = wanted.id().and_then(|id| project.ssh_keys.find(id));
    let found = by_id.or_else(|| project.ssh_keys.named(&wanted.0));
    found.ok_or_else(|| Wrong::new("not_found", format!("SSH key '{}' not found", wanted.0)))
}
