//! One request and its answer: who asks, what with, and what the handler says to that.
//!
//! It knows nothing of Kubernetes but the words for trouble; the rest is the handler's.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use mock_clock::{Clock as _, Time, VirtualClock};

use super::body::Body;
use super::hold::Hold;
use super::identity::{Shown, User, authenticate};
use super::impersonate::acting;
use super::tokens::Tokens;
use crate::chance::Chance;
use crate::status::Status;

/// The largest body a request can have, in bytes.
pub(crate) const BODY_MAX: usize = 3 * 1024 * 1024;

/// How much more is read and thrown away, so that a client that sends first and reads then learns why it was refused.
const SURPLUS_MAX: usize = 8 * BODY_MAX;

/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(60);

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
/// Longer names that clients give their requests are not taken over.
const AUDIT_ID_MAX: usize = 64;

/// Answers requests. What it does between two awaits holds up the thread, so it is brief.
pub(crate) trait Handler: Send + Sync + 'static {
    fn handle(&self, request: Request<Bytes>, user: &User) -> impl Future<Output = Response<Body>> + Send;
}

/// Takes requests in for a handler.
pub(crate) struct Exchange<H> {
    pub(crate) handler: Arc<H>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) clock: VirtualClock,
    /// Names the requests whose senders gave them none.
    pub(crate) chance: Chance,
}

impl<H: Handler> Exchange<H> {
    /// The answer to `request`, with all its headers.
    pub(crate) async fn answer(
        &self,
        request: Request<Incoming>,
        shown: &Shown,
        hold: &mut Hold,
    ) -> Response<Body> {
        let begin = self.clock.now();
        let (head, incoming) = request.into_parts();
        let (method, target) = (head.method.clone(), head.uri.to_string());
        let audit_id = self.audit_id(&head.headers);
        let sender = authenticate(shown, &head.headers, &self.tokens, begin);
        let user = sender.and_then(|sender| acting(sender, &head.headers));
        // Even a stranger is heard out: a connection with an unread body could not be used again.
        let body = read(incoming, &head.headers, hold).await;
        let mut response = match user.and_then(|user| Ok((user, body?))) {
            Ok((user, body)) => self.handled(Request::from_parts(head, body), &user).await,
            Err(status) => refusal(&status),
        };
        let now = self.clock.now();
        complete(&mut response, &method, audit_id, now);
        let (code, ms) = (response.status().as_u16(), (now - begin).as_secs_f64() * 1e3);
        tracing::debug!("{method} {target} {code} {ms:.1} ms");
        response
    }

    /// The client's own, or one in the form of a UUID.
    fn audit_id(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let theirs = headers.get(AUDIT_ID).filter(|id| (1..=AUDIT_ID_MAX).contains(&id.len()));
        theirs.cloned().or_else(|| HeaderValue::from_maybe_shared(self.chance.uid()).ok())
    }

    /// What the handler says, or that it broke: the next request has another chance.
    async fn handled(&self, request: Request<Bytes>, user: &User) -> Response<Body> {
        let what = format!("{} {}", request.method(), request.uri());
        let mut answer = pin!(async { self.handler.handle(request, user).await });
        let answer = poll_fn(|context| {
            let polled = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)));
            polled.map_or_else(|panic| Err(panic).into(), |polled| polled.map(Ok))
        });
        answer.await.unwrap_or_else(|panic| {
            tracing::error!("the handler panicked over {what}: {}", sentence(&*panic));
            refusal(&Status::internal("this request caused the server to panic; look in its log"))
        })
    }
}

/// All of the body, within its limits.
async fn read(incoming: Incoming, headers: &HeaderMap, hold: &mut Hold) -> Result<Bytes, Status> {
    if incoming.is_end_stream() {
        return Ok(Bytes::new());
    }
    let declared = usize::try_from(incoming.size_hint().lower()).unwrap_or(usize::MAX);
    let asks_first = headers.contains_key(header::EXPECT);
    if declared > BODY_MAX && (asks_first || declared > BODY_MAX + SURPLUS_MAX) {
        return Err(Status::too_large(BODY_MAX));
    }
    hold.wait(BODY_TIME, gather(incoming)).await.unwrap_or_else(|_| Err(Status::request_timeout()))
}

async fn gather(mut incoming: Incoming) -> Result<Bytes, Status> {
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    let mut length = 0;
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(|e| Status::bad_request(format!("the request cannot be read: {e}")))?;
        let Ok(data) = frame.into_data() else { continue };
        length += data.len();
        if length > BODY_MAX + SURPLUS_MAX {
            break;
        }
        if length > BODY_MAX {
            rest = BytesMut::new();
        } else if first.is_empty() {
            first = data;
        } else {
            if rest.is_empty() {
                rest.extend_from_slice(&first);
            }
            rest.extend_from_slice(&data);
        }
    }
    match length {
        too_long if too_long > BODY_MAX => Err(Status::too_large(BODY_MAX)),
        _ if rest.is_empty() => Ok(first),
        _ => Ok(rest.freeze()),
    }
}

/// An answer that is a `Status`.
fn refusal(status: &Status) -> Response<Body> {
    let mut response = Response::new(Body::from(Bytes::from(status.to_value().to_string())));
    *response.status_mut() = StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Adds what every answer has, and takes the body of those that have none.
fn complete(response: &mut Response<Body>, method: &Method, audit_id: Option<HeaderValue>, now: Time) {
    let length = response.body().length();
    let bodiless = matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    let headers = response.headers_mut();
    if let Some(audit_id) = audit_id {
        headers.insert(AUDIT_ID, audit_id);
    }
    headers.entry(header::CACHE_CONTROL).or_insert_with(|| HeaderValue::from_static("no-cache, private"));
    if let Some(date) = date(now) {
        headers.insert(header::DATE, date);
    }
    if let Some(length) = length.filter(|_| !bodiless) {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    if method == Method::HEAD {
        *response.body_mut() = Body::empty();
    }
}

/// Virtual time, as HTTP writes it.
fn date(now: Time) -> Option<HeaderValue> {
    let text = DateTimePrinter::new().timestamp_to_rfc9110_string(&Timestamp::from(now)).ok()?;
    HeaderValue::from_maybe_shared(text).ok()
}

fn sentence(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it left no sentence")
}
