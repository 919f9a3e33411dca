//! One request, understood: which route it takes, what its path, query and body ask for, and what is answered.

mod body;
pub(crate) mod labels;
mod limit;
mod listing;
mod query;
mod request;
mod route;
mod selector;
pub(crate) mod show;
mod wrong;

pub(crate) use body::{Body, IdOrName, word};
pub(crate) use limit::Bucket;
pub(crate) use listing::{list, paged};
pub(crate) use query::Query;
pub use request::{Reply, Request};
pub(crate) use route::{Route, Routes, Run, Step, absent, change, look};
pub(crate) use selector::Selector;
pub(crate) use wrong::{Wrong, status_of};

use mock_clock::Time;
use serde_json::Value;

/// What a room gets to see of a request.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) now: Time,
    /// The path below the version, such as `/servers/1`.
    pub(crate) path: &'a str,
    /// The ids of the path, in its order.
    pub(crate) ids: Vec<u64>,
    pub(crate) query: Query,
    pub(crate) body: &'a [u8],
    /// Who asks, by its user agent.
    pub(crate) agent: &'a str,
}

impl Call<'_> {
    /// The thing that the path names.
    pub(crate) fn id(&self) -> u64 {
        self.ids.first().copied().unwrap_or(0)
    }

    /// The action that the path names.
    pub(crate) fn second_id(&self) -> u64 {
        self.ids.get(1).copied().unwrap_or(0)
    }

    pub(crate) fn body(&self) -> Result<Body, Wrong> {
        Body::parse(self.body)
    }

    /// What the body asks for. It must say all of that without a mistake, and nothing else.
    pub(crate) fn asked<T>(&self, read: impl FnOnce(&mut Body) -> T) -> Result<T, Wrong> {
        let mut body = self.body()?;
        let wish = read(&mut body);
        body.done()?;
        Ok(wish)
    }

    /// For requests without parameters: there must be none.
    pub(crate) fn no_body(&self) -> Result<(), Wrong> {
        self.asked(|_| ())
    }
}

/// What is answered to a request that is not refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// None has no content type either, or old clients stumble over it.
    pub(crate) body: Option<Value>,
    /// The pages that a list leads to.
    pub(crate) links: Vec<(&'static str, String)>,
}

pub(crate) type Answered = Result<Answer, Wrong>;

impl Answer {
    pub(crate) fn ok(body: Value) -> Self {
        Self { status: 200, body: Some(body), links: Vec::new() }
    }

    pub(crate) fn created(body: Value) -> Self {
        Self { status: 201, body: Some(body), links: Vec::new() }
    }

    pub(crate) fn nothing() -> Self {
        Self { status: 204, body: None, links: Vec::new() }
    }
}
