//! What the administration answers: JSON or text, with a line break at its end.

use std::sync::Arc;

use mock_clock::Time;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::admin::Visit;
use crate::call::Reply;
use crate::trouble::blaming;

/// An answer.
pub(super) struct Said {
    status: u16,
    form: &'static str,
    text: String,
}

/// A refusal, with its sentence.
#[derive(Debug)]
pub(super) struct Refused {
    status: u16,
    why: String,
}

impl Said {
    pub(super) fn text(text: String) -> Self {
        Self { status: 200, form: "text/plain; charset=utf-8", text }
    }

    pub(super) fn json(value: &impl Serialize) -> Self {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        Self { status: 200, form: "application/json", text }
    }

    /// JSON that is written already.
    pub(super) fn written(text: String) -> Self {
        Self { status: 200, form: "application/json", text }
    }

    pub(super) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(super) fn reply(self) -> Reply {
        let mut text = self.text;
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let headers = vec![("Content-Type", self.form.to_owned())];
        Reply { status: self.status, headers, body: Some(Arc::new(text.into_bytes())) }
    }
}

impl Refused {
    pub(super) fn new(status: u16, why: impl Into<String>) -> Self {
        Self { status, why: why.into() }
    }

    /// Something in the request is wrong.
    pub(super) fn bad(why: impl Into<String>) -> Self {
        Self::new(400, why)
    }

    pub(super) fn not_found(why: impl Into<String>) -> Self {
        Self::new(404, why)
    }

    pub(super) fn said(&self) -> Said {
        Said::json(&json!({"error": self.why})).status(self.status)
    }
}

impl Visit<'_> {
    /// Whether text for people was asked for, instead of JSON.
    pub(super) fn wants_text(&self) -> Result<bool, Refused> {
        match self.query.first("format") {
            None | Some("json") => Ok(false),
            Some("text") => Ok(true),
            Some(other) => Err(Refused::bad(format!("'format' must be json or text, not {other:?}"))),
        }
    }

    /// A moment of the query.
    pub(super) fn moment(&self, name: &str) -> Result<Option<Time>, Refused> {
        let parse = |text: &str| text.parse().map_err(|error| Refused::bad(format!("'{name}': {error}")));
        self.query.first(name).map(parse).transpose()
    }

    /// The body as text.
    pub(super) fn text(&self) -> Result<&str, Refused> {
        std::str::from_utf8(self.body).map_err(|_| Refused::bad("the body is no UTF-8"))
    }

    /// The body as an object of this form. `tag` is the field that says which form it is.
    pub(super) fn read<T: DeserializeOwned>(&self, tag: &str) -> Result<T, Refused> {
        match serde_json::from_slice(self.body) {
            Ok(Value::Object(fields)) => blaming(&fields, tag).map_err(Refused::bad),
            Ok(_) => Err(Refused::bad("the body must be a JSON object")),
            Err(error) => Err(Refused::bad(format!("the body is no JSON: {error}"))),
        }
    }
}
