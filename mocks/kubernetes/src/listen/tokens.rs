//! Bearer tokens: those given at the start, and those issued to service accounts while it runs.
//!
//! An issued token has the shape of a JSON Web Token, because clients read its claims. It is known by being on the
//! list; nobody can verify its signature, which has the right length and no key behind it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mock_clock::Time;
use serde_json::{Value, json};

use super::identity::User;

/// Who an issued token says issued it, and for whom it is good if nothing else is said.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// All tokens that open the door.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    known: BTreeMap<String, Known>,
    issued: u64,
}

#[derive(Debug)]
struct Known {
    user: User,
    expires: Time,
}

/// What an issued token says.
#[derive(Clone, Debug)]
pub(crate) struct Claims {
    pub(crate) user: User,
    /// For whom it is good; if nobody is named, for this server.
    pub(crate) audiences: Vec<String>,
    pub(crate) issued: Time,
    pub(crate) expires: Time,
}

impl Tokens {
    /// Accepts `token` as `user` for ever.
    pub(crate) fn allow(&self, token: &str, user: User) {
        self.list().known.insert(token.to_owned(), Known { user, expires: Time::NEVER });
    }

    /// A new token, good until it expires.
    pub(crate) fn issue(&self, claims: Claims) -> String {
        let mut list = self.list();
        list.known.retain(|_, known| known.expires > claims.issued);
        list.issued += 1;
        let token = written(&claims, list.issued);
        list.known.insert(token.clone(), Known { user: claims.user, expires: claims.expires });
        token
    }

    /// Whose token it is, if it is anybody's and still good.
    pub(crate) fn lookup(&self, token: &str, now: Time) -> Option<User> {
        let list = self.list();
        list.known.get(token).filter(|known| now < known.expires).map(|known| known.user.clone())
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Header, claims and signature, each in base64.
fn written(claims: &Claims, number: u64) -> String {
    let Claims { user, audiences, issued, expires } = claims;
    let audiences = if audiences.is_empty() { json!([ISSUER]) } else { json!(audiences) };
    let header = json!({"alg": "HS256", "typ": "JWT"});
    let payload = json!({
        "aud": audiences,
        "exp": seconds(*expires),
        "iat": seconds(*issued),
        "iss": ISSUER,
        "jti": number.to_string(),
        "kubernetes.io": account(user),
        "nbf": seconds(*issued),
        "sub": user.name,
    });
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(&header), part(&payload));
    let signature: Vec<u8> = (0..4_u8)
        .flat_map(|word| {
            let mut hasher = DefaultHasher::new();
            (word, &signed).hash(&mut hasher);
            hasher.finish().to_be_bytes()
        })
        .collect();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Which service account a user is, in the words of its tokens.
fn account(user: &User) -> Value {
    let account = user.name.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
    account.map_or(Value::Null, |(namespace, name)| {
        json!({"namespace": namespace, "serviceaccount": {"name": name, "uid": user.uid}})
    })
}

fn seconds(time: Time) -> u64 {
    time.unix_nanos() / 1_000_000_000
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn claims(issued: Time) -> Claims {
        let user = User::service_account("default", "web", "u");
        Claims { user, audiences: Vec::new(), issued, expires: issued + HOUR }
    }

    #[test]
    fn an_issued_token_opens_until_it_expires() {
        let tokens = Tokens::default();
        let now = Time::EPOCH + Duration::from_secs(1);
        let token = tokens.issue(claims(now));
        let found = tokens.lookup(&token, now + HOUR - Duration::from_nanos(1));
        assert_eq!(found.unwrap().name, "system:serviceaccount:default:web");
        assert_eq!(tokens.lookup(&token, now + HOUR), None);
        assert_eq!(tokens.lookup(&format!("{token}x"), now), None);
    }

    #[test]
    fn no_two_tokens_are_alike_and_their_claims_can_be_read() {
        let tokens = Tokens::default();
        let (first, second) = (tokens.issue(claims(Time::EPOCH)), tokens.issue(claims(Time::EPOCH)));
        assert_ne!(first, second);
        let parts: Vec<&str> = first.split('.').collect();
        let read: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
        assert_eq!((&read["exp"], &read["aud"]), (&json!(3600), &json!([ISSUER])));
        assert_eq!(read["kubernetes.io"]["serviceaccount"], json!({"name": "web", "uid": "u"}));
        assert_eq!(URL_SAFE_NO_PAD.decode(parts[2]).unwrap().len(), 32);
    }

    #[test]
    fn what_has_expired_is_forgotten() {
        let tokens = Tokens::default();
        tokens.allow("for ever", User::new("jane", []));
        tokens.issue(claims(Time::EPOCH));
        tokens.issue(claims(Time::EPOCH + HOUR));
        assert_eq!(tokens.list().known.len(), 2);
        assert!(tokens.lookup("for ever", Time::NEVER - HOUR).is_some());
    }
}
