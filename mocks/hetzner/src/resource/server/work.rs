//! What all actions of a server have in common: the order in which they are refused.

use crate::call::{Body, Call, Wrong};
use crate::project::Project;
use crate::resource::Kind;

/// The server of the path, and what the body wants of it. Refused are, in this order: a server that is not there, a
/// body that is wrong, a server that somebody works on.
pub(super) fn asked<T>(
    project: &Project,
    call: &Call<'_>,
    read: impl FnOnce(&mut Body) -> T,
) -> Result<(u64, T), Wrong> {
    let id = call.id();
    project.servers.get(id)?;
    let wish = call.asked(read)?;
    project.unlocked(Kind::Server, id)?;
    Ok((id, wish))
}

/// The same for what has no parameters.
pub(super) fn ready(project: &Project, call: &Call<'_>) -> Result<u64, Wrong> {
    asked(project, call, |_| ()).map(|(id, ())| id)
}

#[cfg(test)]
mod tests;
