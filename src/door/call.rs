//! A call as the rules of the door see it, what became of it, and how calls are picked.
//!
//! Plain values. What a body says is not among them: whether a call is hurt never depends on it.

use hyper::Request;
use hyper::header;
use mock_clock::Time;

use crate::terms::Api;

/// One call of the subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which replica of the subject.
    pub replica: u32,
    /// Which API.
    pub to: Api,
    /// When its head was there.
    pub began: Time,
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The query; empty if there is none.
    pub query: String,
    /// What the caller says it is.
    pub agent: String,
    /// It asks for whatever will happen.
    pub watch: bool,
    /// It was passed on before, and is a watch that is still open.
    pub running: bool,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status that the caller got; 0 if it got none.
    pub status: u16,
    /// When it was over.
    pub ended: Time,
    /// How many bytes came, and went.
    pub bytes: (u64, u64),
    /// Whether the API behind the door was asked.
    pub done: bool,
}

/// Which calls. What is left out matches anything; `*` stands for anything within a text.
///
/// ```
/// use scaleproof::door::CallMatch;
///
/// let servers = CallMatch { method: Some("POST".into()), path: Some("*/servers".into()), ..CallMatch::default() };
/// assert_eq!(servers.to_string(), "POST */servers");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallMatch {
    /// This API.
    pub to: Option<Api>,
    /// This method.
    pub method: Option<String>,
    /// This path.
    pub path: Option<String>,
    /// A part of the query.
    pub query: Option<String>,
    /// Only of this replica.
    pub replica: Option<u32>,
}

impl Call {
    pub(super) fn of<B>(replica: u32, to: Api, began: Time, request: &Request<B>) -> Self {
        let agent = request.headers().get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        let mut call = Self {
            replica,
            to,
            began,
            method: request.method().to_string(),
            path: request.uri().path().to_owned(),
            query: request.uri().query().unwrap_or_default().to_owned(),
            agent: agent.unwrap_or_default().to_owned(),
            watch: false,
            running: false,
        };
        call.watch = to == Api::Kubernetes
            && call.method == "GET"
            && (call.parameter("watch").is_some_and(|watch| !matches!(watch, "0" | "false"))
                || call.path.split('/').nth(if call.path.starts_with("/apis/") { 4 } else { 3 })
                    == Some("watch"));
        call
    }

    /// Whether it names a revision that may be too old.
    pub(super) fn names_revision(&self) -> bool {
        let revision =
            self.parameter("resourceVersion").is_some_and(|revision| !matches!(revision, "" | "0"));
        self.to == Api::Kubernetes
            && self.method == "GET"
            && (revision || self.parameter("continue").is_some())
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (key == name).then_some(value)
        })
    }
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        if !self.query.is_empty() {
            write!(f, "?{}", self.query)?;
        }
        write!(f, " of replica {}", self.replica)
    }
}

impl CallMatch {
    /// Whether this is one of them.
    pub fn picks(&self, call: &Call) -> bool {
        let text = |pattern: &Option<String>, text: &str| {
            pattern.as_deref().is_none_or(|pattern| fits(pattern.as_bytes(), text.as_bytes()))
        };
        let query = self.query.as_ref().map(|part| format!("*{part}*"));
        self.to.is_none_or(|to| to == call.to)
            && self.replica.is_none_or(|replica| replica == call.replica)
            && text(&self.method.as_ref().map(|method| method.to_ascii_uppercase()), &call.method)
            && text(&self.path, &call.path)
            && text(&query, &call.query)
    }
}

impl std::fmt::Display for CallMatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let method = self.method.as_deref().unwrap_or("any call of");
        write!(f, "{method} {}", self.path.as_deref().unwrap_or("*"))?;
        if let Some(query) = &self.query {
            write!(f, "?{query}")?;
        }
        self.replica.map_or(Ok(()), |replica| write!(f, " of replica {replica}"))
    }
}

/// Whether a text is what a pattern with stars says. After a mismatch the last star takes one letter more.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            p += 1;
            t += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            p = at + 1;
            t = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call(method: &str, target: &str) -> Call {
        let request =
            Request::builder().method(method).uri(target).header("user-agent", "a").body(()).unwrap();
        Call::of(1, Api::Kubernetes, Time::EPOCH, &request)
    }

    #[test]
    fn watches_are_known_in_all_their_spellings() {
        for target in [
            "/api/v1/pods?watch=true",
            "/api/v1/pods?a=b&watch=1",
            "/api/v1/pods?watch",
            "/api/v1/watch/pods",
            "/apis/apps/v1/watch/deployments",
        ] {
            assert!(call("GET", target).watch, "{target}");
        }
        for target in [
            "/api/v1/pods?watch=false",
            "/api/v1/pods?notwatch=1",
            "/api/v1/namespaces/watch",
            "/api/v1/pods",
        ] {
            assert!(!call("GET", target).watch, "{target}");
        }
        assert!(!call("POST", "/api/v1/pods?watch=1").watch);
    }

    #[test]
    fn calls_are_picked_by_all_that_is_said() {
        let evict = call("POST", "/api/v1/namespaces/a/pods/p/eviction?dryRun=All&pretty=0");
        let path = CallMatch { path: Some("*/pods/*/eviction".into()), ..CallMatch::default() };
        assert!(path.picks(&evict) && CallMatch::default().picks(&evict));
        assert!(
            CallMatch { method: Some("p*t".into()), query: Some("pretty=*".into()), ..path.clone() }
                .picks(&evict)
        );
        for other in [
            CallMatch { to: Some(Api::Cloud), ..path.clone() },
            CallMatch { method: Some("PUT".into()), ..path.clone() },
            CallMatch { path: Some("/pods/*".into()), ..path.clone() },
            CallMatch { query: Some("watch".into()), ..path.clone() },
            CallMatch { replica: Some(0), ..path.clone() },
        ] {
            assert!(!other.picks(&evict), "{other}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn stars_are_as_a_slower_reading_has_it(pattern in "[ab*]{0,8}", text in "[ab]{0,10}") {
            fn slow(pattern: &[u8], text: &[u8]) -> bool {
                match pattern {
                    [] => text.is_empty(),
                    [b'*', rest @ ..] => (0..=text.len()).any(|taken| slow(rest, &text[taken..])),
                    [letter, rest @ ..] => text.first() == Some(letter) && slow(rest, &text[1..]),
                }
            }
            prop_assert_eq!(fits(pattern.as_bytes(), text.as_bytes()), slow(pattern.as_bytes(), text.as_bytes()));
        }
    }
}
