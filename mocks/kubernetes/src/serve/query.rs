//! What follows the question mark.

use std::num::{IntErrorKind, ParseIntError};

use hyper::Request;

use super::path::decoded;
use crate::status::Status;

/// The parameters of a request, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| {
                    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (decoded(&key.replace('+', " ")), decoded(&value.replace('+', " ")))
                })
                .collect(),
        )
    }

    pub(super) fn of<B>(request: &Request<B>) -> Self {
        Self::parse(request.uri().query().unwrap_or_default())
    }

    /// Whether it is said at all.
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    /// The first value, if it is not empty.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(name, _)| name == key)?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    pub(super) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// As Go's conversion of query parameters: everything is true but `false` and `0`, in any case.
    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        let (_, value) = self.0.iter().find(|(name, _)| name == key)?;
        Some(!(value == "0" || value.eq_ignore_ascii_case("false")))
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<i64>, Status> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let wrong = |error: ParseIntError| match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        text.parse().map(Some).map_err(|error| {
            Status::bad_request(format!("strconv.ParseInt: parsing {text:?}: {}", wrong(error)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read() {
        let query =
            Query::parse("watch=1&labelSelector=a%3Db%2Cc&x=a+b&empty=&allowWatchBookmarks=false&limit=q");
        assert_eq!(query.flag("watch"), Some(true));
        assert_eq!(query.flag("allowWatchBookmarks"), Some(false));
        assert_eq!(query.flag("missing"), None);
        assert_eq!(query.text("labelSelector"), Some("a=b,c"));
        assert_eq!(query.text("x"), Some("a b"));
        assert_eq!(query.text("empty"), None);
        assert_eq!(query.number("limit").map_err(|status| status.code), Err(400));
    }
}
