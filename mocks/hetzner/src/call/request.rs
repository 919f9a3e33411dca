//! What comes in and what goes out: plain values, whoever carries them.

use std::sync::Arc;

/// A request as it came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// `GET`, `POST`, `PUT` or `DELETE`; anything else is refused.
    pub method: String,
    /// From the root, without the query: `/v1/servers`.
    pub path: String,
    /// What follows the question mark, encoded as it came.
    pub query: String,
    /// The value of the header `Authorization`.
    pub authorization: Option<String>,
    /// The value of the header `User-Agent`; who asks, for the ledger.
    pub agent: String,
    /// The bytes of the body.
    pub body: Vec<u8>,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// All headers, the type of the content included.
    pub headers: Vec<(&'static str, String)>,
    /// None for an empty answer.
    pub body: Option<Arc<Vec<u8>>>,
}

impl Request {
    /// A request of this method for a path, which may have a query.
    pub fn new(method: &str, target: &str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Self { method: method.to_owned(), path: path.to_owned(), query: query.to_owned(), ..Self::default() }
    }

    /// With a bearer token.
    #[must_use]
    pub fn token(mut self, token: &str) -> Self {
        self.authorization = Some(format!("Bearer {token}"));
        self
    }

    /// With these bytes.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
}
