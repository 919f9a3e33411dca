//! What all actions of a server have in common: the order in which they are refused, and what they answer.

use serde_json::{Value, json};

use crate::action::Undertaking;
use crate::call::{Answer, Body, Call, Wrong};
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
    let mut body = call.body()?;
    let wish = read(&mut body);
    body.done()?;
    project.unlocked(Kind::Server, id)?;
    Ok((id, wish))
}

/// The same for what has no parameters.
pub(super) fn ready(project: &Project, call: &Call<'_>) -> Result<u64, Wrong> {
    asked(project, call, |_| ()).map(|(id, ())| id)
}

/// Begins an action, and answers with it.
pub(super) fn begin(project: &mut Project, call: &Call<'_>, undertaking: Undertaking) -> Answer {
    begin_with(project, call, undertaking, [])
}

/// Begins an action, and answers with it and with these fields.
pub(super) fn begin_with<const N: usize>(
    project: &mut Project,
    call: &Call<'_>,
    undertaking: Undertaking,
    more: [(&str, Value); N],
) -> Answer {
    let begun = project.begin(call.now, undertaking);
    let mut answer = json!({"action": project.action(begun)});
    for (field, value) in more {
        answer[field] = value;
    }
    Answer::created(answer)
}

#[cfg(test)]
mod tests;
