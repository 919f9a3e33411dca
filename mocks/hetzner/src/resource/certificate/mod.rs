//! What load balancers prove their names with: what a certificate is, how it looks, how one is issued in time.
//!
//! Managed ones come from an authority that exists only here and trusts everybody: no domain is looked at. They are
//! not renewed.

mod issue;
mod pem;
mod room;
#[cfg(test)]
mod tests;

pub(crate) use room::{ACTIONS, ROUTES};

use jiff::Timestamp;
use mock_clock::Time;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::action::Ending;
use crate::call::show::moment;
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::certificate::pem::Facts;
use crate::resource::shelf::{Head, resource};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Certificate {
    pub(crate) head: Head,
    /// The chain in PEM and what it says; none as long as nothing was issued.
    pub(crate) chain: Option<(String, Facts)>,
    /// None for one that was uploaded.
    pub(crate) managed: Option<Managed>,
}

resource!(Certificate, Certificate);

/// What is asked of the authority, and how far it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Managed {
    pub(crate) domain_names: Vec<String>,
    pub(crate) issuance: Issuance,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Issuance {
    Pending,
    Completed,
    Failed { code: String, message: String },
}

/// Who uses it at the moment.
fn users(project: &Project, id: u64) -> impl Iterator<Item = u64> {
    let users = project.load_balancers.all().filter(move |balancer| balancer.uses_certificate(id));
    users.map(|balancer| balancer.head.id)
}

/// A certificate as the API shows it.
pub(crate) fn show(project: &Project, certificate: &Certificate) -> Value {
    let (pem, facts) = certificate.chain.as_ref().map(|(pem, facts)| (pem, facts)).unzip();
    let managed = certificate.managed.as_ref();
    let names = managed.map(|managed| &managed.domain_names).or(facts.map(|facts| &facts.domain_names));
    let user = |id: u64| json!({"id": id, "type": Kind::LoadBalancer.word()});
    json!({
        "id": certificate.head.id,
        "name": certificate.head.name,
        "labels": certificate.head.labels,
        "created": moment(certificate.head.created),
        "type": certificate.kind_of(),
        "certificate": pem,
        "not_valid_before": facts.and_then(|facts| second(facts.not_before_s)),
        "not_valid_after": facts.and_then(|facts| second(facts.not_after_s)),
        "domain_names": names.cloned().unwrap_or_default(),
        "fingerprint": facts.map(|facts| &facts.fingerprint),
        "status": managed.map(|managed| managed.issuance.show()),
        "used_by": users(project, certificate.head.id).map(user).collect::<Vec<_>>(),
    })
}

/// A moment that may lie before all of virtual time, or after it.
fn second(unix_s: i64) -> Option<String> {
    let moment = Timestamp::from_second(unix_s).ok()?;
    Some(moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

impl Certificate {
    /// The word of the wire for where it comes from.
    fn kind_of(&self) -> &'static str {
        if self.managed.is_some() { "managed" } else { "uploaded" }
    }
}

impl Issuance {
    fn show(&self) -> Value {
        let (issuance, renewal, error) = match self {
            Self::Pending => ("pending", "unavailable", Value::Null),
            Self::Completed => ("completed", "scheduled", Value::Null),
            Self::Failed { code, message } => {
                ("failed", "unavailable", json!({"code": code, "message": message}))
            }
        };
        json!({"issuance": issuance, "renewal": renewal, "error": error})
    }
}

/// How a certificate changes by the end of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// The authority has decided.
    Issued { certificate: u64 },
}

impl Effect {
    pub(crate) fn settle(self, project: &mut Project, now: Time, success: bool) {
        let Self::Issued { certificate: id } = self;
        let refusal = (!success).then(|| refusal(project, id));
        let Some(certificate) = project.certificates.find_mut(id) else { return };
        let Some(managed) = &mut certificate.managed else { return };
        managed.issuance = refusal.unwrap_or_else(|| {
            let names = managed.domain_names.clone();
            certificate.chain = issue::issue(&names, now, &mut project.chance);
            if certificate.chain.is_some() { Issuance::Completed } else { unverified() }
        });
    }
}

/// What the action that has just failed says.
fn refusal(project: &Project, id: u64) -> Issuance {
    let ended =
        |action: &&crate::action::Action| action.concerns(Kind::Certificate, id) && action.finished.is_some();
    match project.actions.all().filter(ended).last().map(|action| action.ending.clone()) {
        Some(Ending::Error { code, message }) => Issuance::Failed { code, message },
        _ => unverified(),
    }
}

fn unverified() -> Issuance {
    Issuance::Failed {
        code: "ca_dns_validation_failed".to_owned(),
        message: "Certificate Authority: DNS validation failed".to_owned(),
    }
}
