//! Bearer tokens: those given at the start, and those issued to service accounts while it runs.
//!
//! An issued token has the shape of a JSON Web Token, because clients read its claims. It is known by being on the
//! list; nobody can verify its signature, which has the right length and no key behind it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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
    /// For whom it is good; one that was given at the start, for this server.
    audiences: Option<Vec<String>>,
}

/// What a token is to some audiences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    /// Nobody's, or no longer good.
    Nothing,
    /// Somebody's, but for other audiences.
    Foreign(Vec<String>),
    /// Somebody's, for these of them.
    Good(User, Vec<String>),
}

/// What an issued token says besides whose it is.
#[derive(Clone, Debug)]
pub(crate) struct Claims {
    pub(crate) audiences: Vec<String>,
    pub(crate) lifetime: Duration,
    /// The claim `kubernetes.io`: namespace, service account, pod.
    pub(crate) bound: Value,
}

impl Tokens {
    /// Accepts `token` as `user` for ever.
    pub(crate) fn allow(&self, token: &str, user: User) {
        let known = Known { user, expires: Time::NEVER, audiences: None };
        self.list().known.insert(token.to_owned(), known);
    }

    /// A new token for `user`, good until the moment returned beside it.
    pub(crate) fn issue(&self, user: User, claims: &Claims, now: Time) -> (String, Time) {
        let mut list = self.list();
        list.known.retain(|_, known| known.expires > now);
        list.issued += 1;
        let expires = whole_seconds(now + claims.lifetime);
        let token = written(&user, claims, (now, expires), list.issued);
        let audiences = Some(claims.audiences.clone());
        list.known.insert(token.clone(), Known { user, expires, audiences });
        (token, expires)
    }

    /// Whose token it is, if it is anybody's, still good, and for this server.
    pub(crate) fn lookup(&self, token: &str, now: Time) -> Option<User> {
        match self.worth(token, &[ISSUER.to_owned()], now) {
            Worth::Good(user, _) => Some(user),
            Worth::Nothing | Worth::Foreign(_) => None,
        }
    }

    /// What a token is to those who are asked about.
    pub(crate) fn worth(&self, token: &str, asked: &[String], now: Time) -> Worth {
        let list = self.list();
        let Some(known) = list.known.get(token).filter(|known| now < known.expires) else {
            return Worth::Nothing;
        };
        let own = [ISSUER.to_owned()];
        let audiences = known.audiences.as_deref().unwrap_or(&own);
        let shared: Vec<String> = audiences.iter().filter(|one| asked.contains(one)).cloned().collect();
        match (shared.is_empty(), &known.audiences) {
            (false, _) => Worth::Good(known.user.clone(), shared),
            (true, Some(audiences)) => Worth::Foreign(audiences.clone()),
            (true, None) => Worth::Nothing,
        }
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Header, claims and signature, each in base64.
fn written(user: &User, claims: &Claims, (now, expires): (Time, Time), number: u64) -> String {
    let header = json!({"alg": "HS256", "typ": "JWT"});
    let payload = json!({
        "aud": claims.audiences,
        "exp": seconds(expires),
        "iat": seconds(now),
        "iss": ISSUER,
        "jti": number.to_string(),
        "kubernetes.io": claims.bound,
        "nbf": seconds(now),
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

fn seconds(time: Time) -> u64 {
    time.unix_nanos() / 1_000_000_000
}

fn whole_seconds(time: Time) -> Time {
    Time::from_unix_nanos(seconds(time) * 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hour() -> Claims {
        let bound = json!({"namespace": "default", "serviceaccount": {"name": "web", "uid": "u"}});
        Claims { audiences: vec![ISSUER.to_owned()], lifetime: Duration::from_secs(3600), bound }
    }

    #[test]
    fn an_issued_token_opens_until_it_expires() {
        let tokens = Tokens::default();
        let user = User::service_account("default", "web", "u");
        let now = Time::EPOCH + Duration::from_millis(1_500);
        let (token, expires) = tokens.issue(user.clone(), &hour(), now);
        assert_eq!(expires, Time::EPOCH + Duration::from_secs(3601));
        assert_eq!(tokens.lookup(&token, now), Some(user.clone()));
        assert_eq!(tokens.lookup(&token, expires), None);
        assert_eq!(tokens.lookup(&format!("{token}x"), now), None);
        assert_eq!(user.name, "system:serviceaccount:default:web");
    }

    #[test]
    fn a_token_is_good_for_its_audiences_only() {
        let tokens = Tokens::default();
        let user = User::service_account("default", "web", "u");
        let claims = Claims { audiences: vec!["vault".to_owned(), "nomad".to_owned()], ..hour() };
        let (token, _) = tokens.issue(user.clone(), &claims, Time::EPOCH);
        let worth = |asked: &str| tokens.worth(&token, &[asked.to_owned()], Time::EPOCH);
        assert_eq!(worth("vault"), Worth::Good(user, vec!["vault".to_owned()]));
        assert_eq!(worth("other"), Worth::Foreign(claims.audiences));
        assert_eq!(tokens.lookup(&token, Time::EPOCH), None);
        tokens.allow("static", User::new("jane", []));
        assert_eq!(tokens.worth("static", &["vault".to_owned()], Time::EPOCH), Worth::Nothing);
    }

    #[test]
    fn no_two_tokens_are_alike_and_their_claims_can_be_read() {
        let tokens = Tokens::default();
        let user = User::service_account("default", "web", "u");
        let (first, _) = tokens.issue(user.clone(), &hour(), Time::EPOCH);
        let (second, _) = tokens.issue(user, &hour(), Time::EPOCH);
        assert_ne!(first, second);
        let parts: Vec<&str> = first.split('.').collect();
        let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
        assert_eq!(claims["exp"], 3600);
        assert_eq!(claims["kubernetes.io"]["serviceaccount"]["name"], "web");
        assert_eq!(URL_SAFE_NO_PAD.decode(parts[2]).unwrap().len(), 32);
    }

    #[test]
    fn what_has_expired_is_forgotten() {
        let tokens = Tokens::default();
        tokens.allow("for ever", User::new("jane", []));
        tokens.issue(User::new("joe", []), &hour(), Time::EPOCH);
        tokens.issue(User::new("joe", []), &hour(), Time::EPOCH + Duration::from_secs(4000));
        assert_eq!(tokens.list().known.len(), 2);
        assert!(tokens.lookup("for ever", Time::NEVER - Duration::from_secs(1)).is_some());
    }
}
