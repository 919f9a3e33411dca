//! What is noted of a call while it passes: bytes, bodies, status, fate. It goes into the history when the call is
//! over, however it ends.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header;
use mock_clock::Clock as _;
use serde_json::Value;

use super::Keeper;
use super::call::{Call, Reply};
use crate::history::recorder::MASK;
use crate::history::{CallEvent, What};

/// A longer body is counted and not kept.
const KEPT_MAX: usize = 64 * 1024;

/// One call, until it is over.
pub(super) struct Note {
    keeper: Arc<Keeper>,
    pub(super) call: Call,
    pub(super) sent: Arc<Mutex<Copied>>,
    pub(super) answer: Copied,
    pub(super) status: u16,
    pub(super) fate: Option<String>,
    pub(super) done: bool,
    over: bool,
}

/// What is known of a body.
#[derive(Debug, Default)]
pub(super) struct Copied {
    bytes: u64,
    /// Nothing, if it is not for the history.
    kept: Option<Vec<u8>>,
    pub(super) complete: bool,
    /// Its sender has stopped in the middle.
    pub(super) broken: bool,
}

impl Note {
    pub(super) fn begin(keeper: &Arc<Keeper>, call: Call, headers: &HeaderMap) -> Self {
        keeper.calls.send_modify(|calls| *calls += 1);
        Self {
            keeper: Arc::clone(keeper),
            call,
            sent: Arc::new(Mutex::new(Copied::of(headers))),
            answer: Copied::default(),
            status: 0,
            fate: None,
            done: false,
            over: false,
        }
    }

    /// A stream has been opened.
    pub(super) fn opened(&self) {
        let event = CallEvent { open: true, ..self.event() };
        self.keeper.recorder.record(What::Call(event));
    }

    /// The call is over. Said before the caller can know it, so that his next call comes after this one.
    pub(super) fn over(&mut self) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        let event = self.event();
        let (bytes, done) = (event.bytes, event.done);
        self.keeper.recorder.record(What::Call(event));
        let reply = Reply { status: self.status, ended: self.keeper.clock.now(), bytes, done };
        self.keeper.rules.after(&self.call, &reply);
    }

    fn event(&self) -> CallEvent {
        let sent = lock(&self.sent);
        CallEvent {
            replica: self.call.replica,
            to: self.call.to,
            began: self.call.began,
            method: self.call.method.clone(),
            path: self.call.path.clone(),
            query: self.call.query.clone(),
            agent: self.call.agent.clone(),
            request: sent.value(),
            status: self.status,
            answer: self.answer.value().filter(|answer| !is_list(answer)).map(without_password),
            bytes: (sent.bytes, self.answer.bytes),
            open: false,
            fate: self.fate.clone(),
            done: self.done,
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        self.over();
        self.keeper.calls.send_modify(|calls| *calls -= 1);
    }
}

impl Copied {
    /// Of a body with these headers.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let json = headers
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .is_some_and(|kind| kind.split(';').next().is_some_and(|kind| kind.trim_end().ends_with("json")));
        let plain = json && !headers.contains_key(header::CONTENT_ENCODING);
        Self { kept: plain.then(Vec::new), ..Self::default() }
    }

    pub(super) fn count(&mut self, data: &[u8]) {
        self.bytes += data.len() as u64;
        if let Some(kept) = &mut self.kept {
            if kept.len() + data.len() > KEPT_MAX {
                self.kept = None;
            } else {
                kept.extend_from_slice(data);
            }
        }
    }

    /// It is never for the history: a stream.
    pub(super) fn count_only(&mut self) {
        self.kept = None;
    }

    fn value(&self) -> Option<Value> {
        self.kept.as_ref().filter(|kept| !kept.is_empty()).and_then(|kept| serde_json::from_slice(kept).ok())
    }
}

/// A new server's password is told once, to whom it belongs.
fn without_password(mut answer: Value) -> Value {
    if let Some(password) = answer.get_mut("root_password").filter(|password| password.is_string()) {
        *password = MASK.into();
    }
    answer
}

/// Lists are long and say what the recorder's own watches say.
fn is_list(answer: &Value) -> bool {
    answer["kind"].as_str().is_some_and(|kind| kind.ends_with("List"))
        || answer["meta"]["pagination"].is_object()
}

pub(super) fn lock(copied: &Mutex<Copied>) -> MutexGuard<'_, Copied> {
    copied.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The body of a request on its way, counted as it goes.
pub(super) struct Sending {
    body: Incoming,
    sent: Arc<Mutex<Copied>>,
}

impl Sending {
    pub(super) fn new(body: Incoming, note: &Note) -> Self {
        lock(&note.sent).complete = body.is_end_stream();
        Self { body, sent: Arc::clone(&note.sent) }
    }
}

impl Body for Sending {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let mut sent = lock(&self.sent);
        if let Some(data) = frame.as_ref().and_then(|frame| frame.as_ref().ok()).and_then(Frame::data_ref) {
            sent.count(data);
        }
        sent.broken = matches!(frame, Some(Err(_)));
        sent.complete = frame.is_none() || self.body.is_end_stream();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_password_is_masked_where_there_is_one() {
        let answer = without_password(json!({"server": {"id": 7}, "root_password": "pa55"}));
        assert_eq!(answer, json!({"server": {"id": 7}, "root_password": MASK}));
        for other in [json!({"root_password": null}), json!([1]), json!("root_password")] {
            assert_eq!(without_password(other.clone()), other);
        }
    }
}
