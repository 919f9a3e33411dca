//! The routes of SSH keys.

use serde_json::json;

use crate::call::{Answer, Answered, Body, Call, Route, Wrong, change, list, look};
use crate::project::Project;
use crate::resource::ssh_key::{SshKey, public_key, show};
use crate::resource::{Kind, upkeep};

pub(crate) const ROUTES: &[Route] = &[
    look("/ssh_keys", all),
    look("/ssh_keys/{id}", one),
    change("POST", "/ssh_keys", create),
    change("PUT", "/ssh_keys/{id}", update),
    change("DELETE", "/ssh_keys/{id}", delete),
];

fn all(project: &Project, call: &Call<'_>) -> Answered {
    let wanted = |key: &SshKey| call.query.wants("fingerprint", &key.fingerprint);
    list(call, "ssh_keys", &project.ssh_keys, wanted, show)
}

fn one(project: &Project, call: &Call<'_>) -> Answered {
    Ok(Answer::ok(json!({"ssh_key": show(project.ssh_keys.get(call.id())?)})))
}

fn create(project: &mut Project, call: &Call<'_>) -> Answered {
    let (name, (fingerprint, public_key), labels) = call.asked(|body| {
        let name = body.required("name", upkeep::name);
        (name, body.required("public_key", key), body.labels().unwrap_or_default())
    })?;
    if project.ssh_keys.all().any(|key| key.fingerprint == fingerprint) {
        return Err(Wrong::not_unique("public_key", "SSH key not unique"));
    }
    project.ssh_keys.free_name(&name, None)?;
    let head = project.ssh_keys.head(call.now, name, labels);
    let id = project.ssh_keys.put(SshKey { head, fingerprint, public_key });
    project.opened(call, Kind::SshKey, id);
    Ok(Answer::created(json!({"ssh_key": show(project.ssh_keys.get(id)?)})))
}

/// A key and its fingerprint. Files end with a line, which is no part of the key.
fn key(body: &mut Body, field: &str) -> Option<(String, String)> {
    let text = body.text(field)?;
    let fingerprint = public_key::fingerprint(text.trim());
    if fingerprint.is_none() {
        body.wrong(field, "Not a valid SSH public key.");
    }
    Some((fingerprint?, text.trim().to_owned()))
}

fn update(project: &mut Project, call: &Call<'_>) -> Answered {
    upkeep::rename(project, call, |project| &mut project.ssh_keys, upkeep::name)?;
    one(project, call)
}

/// Servers that were made with it keep it.
fn delete(project: &mut Project, call: &Call<'_>) -> Answered {
    project.ssh_keys.get(call.id())?;
    project.closed(call, Kind::SshKey, call.id());
    project.ssh_keys.take(call.id());
    Ok(Answer::nothing())
}
