//! The routes of certificates.

use serde_json::{Value, json};

use crate::action::{Begun, Undertaking, action_routes};
use crate::call::{Answer, Answered, Body, Call, Route, Wrong, change, list, look};
use crate::project::Project;
use crate::resource::certificate::pem::{self, Facts};
use crate::resource::certificate::{Certificate, Effect, Issuance, Managed, show, users};
use crate::resource::{Kind, host_name, upkeep};

pub(crate) const ROUTES: &[Route] = &[
    look("/certificates", all),
    look("/certificates/{id}", one),
    change("POST", "/certificates", create),
    change("PUT", "/certificates/{id}", update),
    change("DELETE", "/certificates/{id}", delete),
    change("POST", "/certificates/{id}/actions/retry", retry),
];

pub(crate) const ACTIONS: [Route; 4] = action_routes!("/certificates", Certificate);

/// Where the chain comes from.
enum Source {
    Uploaded(Option<(String, Facts)>),
    Managed(Vec<String>),
}

fn all(project: &Project, call: &Call<'_>) -> Answered {
    let wanted = |certificate: &Certificate| call.query.wants("type", certificate.kind_of());
    list(call, "certificates", &project.certificates, wanted, |certificate| show(project, certificate))
}

fn one(project: &Project, call: &Call<'_>) -> Answered {
    Ok(Answer::ok(json!({"certificate": show(project, project.certificates.get(call.id())?)})))
}

fn create(project: &mut Project, call: &Call<'_>) -> Answered {
    let (name, labels, source) = call.asked(|body| {
        let name = body.required("name", upkeep::name);
        let labels = body.labels().unwrap_or_default();
        (name, labels, source(body))
    })?;
    project.certificates.free_name(&name, None)?;
    let head = project.certificates.head(call.now, name, labels);
    let (chain, managed) = match source {
        Source::Uploaded(chain) => (chain, None),
        Source::Managed(domain_names) => (None, Some(Managed { domain_names, issuance: Issuance::Pending })),
    };
    let is_managed = managed.is_some();
    let id = project.certificates.put(Certificate { head, chain, managed });
    project.opened(call, Kind::Certificate, id);
    let begun = is_managed.then(|| issue(project, call, id, "create_certificate"));
    Ok(Answer::created(json!({
        "certificate": show(project, project.certificates.get(id)?),
        "action": begun.map_or(Value::Null, |begun| project.action(begun)),
    })))
}

fn source(body: &mut Body) -> Source {
    if wants_managed(body) {
        Source::Managed(body.required("domain_names", domains))
    } else {
        Source::Uploaded(uploaded(body))
    }
}

/// Some clients send an empty type for the usual one.
fn wants_managed(body: &mut Body) -> bool {
    match body.text("type").as_deref() {
        Some("managed") => return true,
        None | Some("" | "uploaded") => {}
        Some(_) => body.wrong("type", "Must be one of: uploaded, managed."),
    }
    false
}

/// Reads a chain and its key, which is checked and not kept.
fn uploaded(body: &mut Body) -> Option<(String, Facts)> {
    let chain = body.required("certificate", Body::text);
    let key = body.required("private_key", Body::text);
    let facts = match pem::chain(&chain) {
        Ok(facts) => facts,
        Err(why) => {
            body.wrong("certificate", why);
            return None;
        }
    };
    match pem::is_key_of(&key, &chain) {
        Some(true) => {}
        Some(false) => body.wrong("private_key", "Does not match the certificate."),
        None => body.wrong("private_key", "Not a valid private key in PEM format."),
    }
    Some((chain, facts))
}

fn domains(body: &mut Body, field: &str) -> Option<Vec<String>> {
    let names = body.texts(field)?;
    if names.is_empty() {
        body.wrong(field, "Must not be empty.");
    }
    for name in names.iter().filter(|name| !is_domain(name)) {
        body.wrong(field, format!("{} is not a valid domain name.", crate::call::labels::shown(name)));
    }
    Some(names)
}

/// A domain below another one, or all of those.
fn is_domain(name: &str) -> bool {
    let name = name.strip_prefix("*.").unwrap_or(name);
    name.contains('.') && host_name::is_one(name)
}

fn update(project: &mut Project, call: &Call<'_>) -> Answered {
    upkeep::rename(project, call, |project| &mut project.certificates, upkeep::name)?;
    one(project, call)
}

fn delete(project: &mut Project, call: &Call<'_>) -> Answered {
    project.certificates.get(call.id())?;
    if users(project, call.id()).next().is_some() {
        return Err(Wrong::new("service_error", "certificate still in use"));
    }
    project.closed(call, Kind::Certificate, call.id());
    project.certificates.take(call.id());
    Ok(Answer::nothing())
}

/// Asks the authority once more.
fn retry(project: &mut Project, call: &Call<'_>) -> Answered {
    let certificate = project.certificates.get_mut(call.id())?;
    call.no_body()?;
    let Some(managed) = &mut certificate.managed else {
        return Err(Wrong::new("unsupported_error", "only managed certificates can be retried"));
    };
    if !matches!(managed.issuance, Issuance::Failed { .. }) {
        return Err(Wrong::new("unsupported_error", "neither issuance nor renewal has failed"));
    }
    managed.issuance = Issuance::Pending;
    let begun = issue(project, call, call.id(), "issue_certificate");
    Ok(project.answer(begun))
}

fn issue(project: &mut Project, call: &Call<'_>, id: u64, command: &'static str) -> Begun {
    let undertaking = Undertaking::on(command, Kind::Certificate, id).shared();
    project.begin(call.now, undertaking.effect(Effect::Issued { certificate: id }))
}
