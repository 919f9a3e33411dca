//! Who asks: a user by client certificate, by bearer token, or nobody in particular.
//!
//! Whoever is known may do everything; a stranger may ask how the server is, and nothing else. The sentences are a
//! real server's.

use std::collections::BTreeMap;

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use mock_clock::Time;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

use super::tokens::Tokens;
use crate::status::{Name, Status};

const ANONYMOUS: &str = "system:anonymous";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const AUTHENTICATED: &str = "system:authenticated";

/// What a stranger may read.
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/// Somebody who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) groups: Vec<String>,
    pub(crate) uid: String,
    /// Whatever else is said, by its name.
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// A known user: the group of all known users is added.
    pub(crate) fn new(name: impl Into<String>, groups: impl IntoIterator<Item = String>) -> Self {
        let mut groups: Vec<String> = groups.into_iter().collect();
        if !groups.iter().any(|group| group == AUTHENTICATED) {
            groups.push(AUTHENTICATED.to_owned());
        }
        Self { name: name.into(), groups, uid: String::new(), extra: BTreeMap::new() }
    }

    /// A service account, as its tokens name it.
    pub(crate) fn service_account(namespace: &str, name: &str, uid: &str) -> Self {
        let groups = ["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
        let user = Self::new(format!("system:serviceaccount:{namespace}:{name}"), groups);
        Self { uid: uid.to_owned(), ..user }
    }

    /// Somebody who showed nothing.
    pub(crate) fn anonymous() -> Self {
        Self::acted(ANONYMOUS, Vec::new(), "", BTreeMap::new())
    }

    /// Somebody as whom another acts. The group of all who are known is added, or that of all who are not, unless one
    /// of them is named.
    pub(crate) fn acted(
        name: &str,
        mut groups: Vec<String>,
        uid: &str,
        extra: BTreeMap<String, Vec<String>>,
    ) -> Self {
        let stranger = name == ANONYMOUS;
        let has = |group: &str| groups.iter().any(|found| found == group);
        if stranger && !has(UNAUTHENTICATED) {
            groups.push(UNAUTHENTICATED.to_owned());
        } else if !stranger && !has(UNAUTHENTICATED) && !has(AUTHENTICATED) {
            groups.push(AUTHENTICATED.to_owned());
        }
        Self { name: name.to_owned(), groups, uid: uid.to_owned(), extra }
    }

    pub(crate) fn is_anonymous(&self) -> bool {
        self.name == ANONYMOUS
    }

    /// Whether this user may do anything on `path`, whatever it is.
    pub(crate) fn may_reach(&self, path: &str) -> bool {
        !self.is_anonymous() || PUBLIC.contains(&path)
    }

    /// Whom a certificate names: its common name, and its organisations as groups. Without a name it is nobody's.
    fn of_certificate(der: &[u8]) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let subject = certificate.subject();
        let name = subject.iter_common_name().next()?.as_str().ok().filter(|name| !name.is_empty())?;
        let groups = subject.iter_organization().filter_map(|group| group.as_str().ok().map(str::to_owned));
        Some(Self::new(name, groups))
    }
}

/// What a connection showed when it was opened, once for all its requests.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    Nothing,
    /// Signed by our authority.
    Certificate(User),
    /// By somebody else, or too old.
    Foreign,
}

impl Shown {
    /// `trusted` tells whether the certificate is one of ours.
    pub(crate) fn by(certificate: &[u8], trusted: bool) -> Self {
        match User::of_certificate(certificate) {
            _ if !trusted => Self::Foreign,
            Some(user) => Self::Certificate(user),
            None => Self::Nothing,
        }
    }
}

/// Who sends this request. The first proof that holds counts; proofs that do not hold, and none that does, are 401.
pub(crate) fn authenticate(
    shown: &Shown,
    headers: &HeaderMap,
    tokens: &Tokens,
    now: Time,
) -> Result<User, Status> {
    if let Shown::Certificate(user) = shown {
        return Ok(user.clone());
    }
    match (bearer(headers), shown) {
        (Some(token), _) => tokens.lookup(token, now).ok_or_else(Status::unauthorized),
        (None, Shown::Foreign) => Err(Status::unauthorized()),
        (None, _) => Ok(User::anonymous()),
    }
}

/// The token of an `Authorization: Bearer` header; other schemes are none of ours and passed over.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let mut parts = text.split(' ');
    let scheme = parts.next()?;
    let token = parts.next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// What somebody wanted to do to which resource; the empty text for what it does not have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attempt<'a> {
    pub(crate) verb: &'a str,
    pub(crate) group: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) subresource: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
}

impl User {
    /// The answer to somebody who may not touch a resource.
    pub(crate) fn forbidden(&self, attempt: &Attempt<'_>) -> Status {
        let Attempt { verb, group, resource, subresource, namespace, name } = *attempt;
        let slash = if subresource.is_empty() { "" } else { "/" };
        let place = match namespace {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {namespace:?}"),
        };
        let why = format!(
            "User {:?} cannot {verb} resource \"{resource}{slash}{subresource}\" in API group {group:?} {place}",
            self.name
        );
        Status::forbidden(Name { group, resource }, name, &why)
    }

    /// The answer to somebody who may not read a path that is no resource; the verb is the method in small letters.
    pub(crate) fn forbidden_path(&self, verb: &str, path: &str) -> Status {
        Status::forbidden_path(&format!("User {:?} cannot {verb} path {path:?}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use mock_clock::Time;

    use super::*;
    use crate::listen::certificates::Certificates;
    use x509_parser::pem::Pem;

    fn headers(authorization: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, authorization.parse().unwrap());
        headers
    }

    #[test]
    fn the_administrator_is_whom_the_certificate_names() {
        let certificates = Certificates::new(&[]).unwrap();
        let (pem, _) = Pem::read(std::io::Cursor::new(certificates.admin.certificate_pem)).unwrap();
        let user = User::of_certificate(&pem.contents).unwrap();
        assert_eq!(user.name, "kubernetes-admin");
        assert_eq!(user.groups, ["system:masters", "system:authenticated"]);
    }

    #[test]
    fn garbage_is_no_certificate() {
        assert_eq!(User::of_certificate(b"\x30\x82\xff\xff"), None);
        assert!(matches!(Shown::by(b"", true), Shown::Nothing));
        assert!(matches!(Shown::by(b"", false), Shown::Foreign));
    }

    #[test]
    fn the_first_proof_that_holds_counts() {
        let tokens = Tokens::default();
        tokens.allow("secret", User::new("jane", []));
        let ask = |shown: &Shown, headers: &HeaderMap| authenticate(shown, headers, &tokens, Time::EPOCH);
        let name = |user: Result<User, Status>| user.map(|user| user.name).map_err(|status| status.code);
        let admin = Shown::Certificate(User::new("admin", []));
        assert_eq!(name(ask(&admin, &headers("Bearer wrong"))), Ok("admin".to_owned()));
        assert_eq!(name(ask(&Shown::Foreign, &headers("Bearer secret"))), Ok("jane".to_owned()));
        assert_eq!(name(ask(&Shown::Nothing, &headers("bearer secret"))), Ok("jane".to_owned()));
        assert_eq!(name(ask(&Shown::Nothing, &headers("Bearer wrong"))), Err(401));
        assert_eq!(name(ask(&Shown::Foreign, &HeaderMap::new())), Err(401));
        for nothing in ["Basic c2VjcmV0", "Bearer", "Bearer ", ""] {
            assert_eq!(name(ask(&Shown::Nothing, &headers(nothing))), Ok("system:anonymous".to_owned()));
        }
    }

    #[test]
    fn a_stranger_is_refused_in_upstreams_words() {
        let stranger = User::anonymous();
        let nodes = Attempt { verb: "list", resource: "nodes", ..Attempt::default() };
        assert_eq!(
            stranger.forbidden(&nodes).message,
            "nodes is forbidden: User \"system:anonymous\" cannot list resource \"nodes\" in API group \"\" at the \
             cluster scope"
        );
        let scale = Attempt {
            verb: "update",
            group: "apps",
            resource: "deployments",
            subresource: "scale",
            namespace: "default",
            name: "web",
        };
        assert_eq!(
            stranger.forbidden(&scale).message,
            "deployments.apps \"web\" is forbidden: User \"system:anonymous\" cannot update resource \
             \"deployments/scale\" in API group \"apps\" in the namespace \"default\""
        );
        assert_eq!(
            stranger.forbidden_path("get", "/api").message,
            "forbidden: User \"system:anonymous\" cannot get path \"/api\""
        );
        assert!(stranger.may_reach("/readyz") && !stranger.may_reach("/readyz/ping"));
        assert!(User::new("jane", []).may_reach("/api"));
    }
}
