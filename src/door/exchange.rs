//! One call, from its head to the head of its answer: its fate is asked for and, if it has another than to pass, done.
//!
//! What becomes of the answer's body is `relay`'s business.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Version};
use mock_clock::Clock as _;

use super::answer::Answer;
use super::call::Call;
use super::flight::Flight;
use super::note::{Copied, Note, Sending, lock};
use super::relay::{Relay, Running};
use super::rule::{Decision, Fate};
use super::upstream::UpstreamError;
use super::{Keeper, Way};
use crate::history::What;

/// What an answer consists of.
pub(super) type Outgoing = UnsyncBoxBody<Bytes, Cut>;

/// The connection is to be cut; of a multiplexed one, the stream.
#[derive(Debug)]
pub(super) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("pass the answer on: it was cut")
    }
}

impl std::error::Error for Cut {}

/// Headers that concern one connection and not the call.
const HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
];
const PROXY_CONNECTION: &str = "proxy-connection";

/// Answers a call, or cuts it.
pub(super) async fn pass(
    keeper: Arc<Keeper>,
    way: Arc<Way>,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, Cut> {
    let flight = keeper.flights.begin();
    let call = Call::of(way.replica, way.to, keeper.clock.now(), &request);
    let changes = keeper.rules.changes();
    let asked = *changes.borrow();
    let decision = keeper.rules.decide(&call, 0);
    let mut note = Note::begin(&keeper, call, request.headers());
    note.fate = decision.by.as_ref().map(|rule| rule.name.clone());
    let passage = Passage { keeper, way, flight, note, decision };
    if wants_upgrade(&request) {
        let says = "connections that become something else (exec, attach, port-forward) are not passed on";
        return passage.answer(request, |to| Answer::of_harness(to, 501, says)).await;
    }
    match passage.decision.fate.clone() {
        Fate::Delay(span) => {
            passage.decision.bit(&passage.note.call);
            passage.flight.rests();
            passage.keeper.clock.sleep(span).await;
            passage.flight.moved();
        }
        Fate::Answer(answer) => {
            passage.decision.bit(&passage.note.call);
            return passage.answer(request, |_| answer).await;
        }
        Fate::Expire => {
            passage.decision.bit(&passage.note.call);
            return passage.answer(request, |_| Answer::expired()).await;
        }
        Fate::Cut => {
            passage.decision.bit(&passage.note.call);
            return Err(Cut);
        }
        Fate::Hang => return Err(passage.hang().await),
        _ => {}
    }
    passage.forward(request, Running::new(changes, asked)).await
}

/// A call on its way.
struct Passage {
    keeper: Arc<Keeper>,
    way: Arc<Way>,
    flight: Flight,
    note: Note,
    decision: Decision,
}

impl Passage {
    /// Answers here. The caller is heard out first: a connection with an unread body could not be used again.
    async fn answer(
        self,
        request: Request<Incoming>,
        answer: impl FnOnce(crate::terms::Api) -> Answer,
    ) -> Result<Response<Outgoing>, Cut> {
        let mut body = Sending::new(request.into_body(), &self.note);
        while let Some(frame) = body.frame().await {
            frame.map_err(|_| Cut)?;
            self.flight.moved();
        }
        let answer = answer(self.way.to);
        Ok(self.say(&answer))
    }

    fn say(mut self, answer: &Answer) -> Response<Outgoing> {
        let text = answer.body_for(&self.note.call).to_string();
        let mut response = Response::new(());
        let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in &answer.headers {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.insert(name, value);
            }
        }
        self.note.status = status.as_u16();
        self.note.answer = Copied::of(headers);
        self.note.answer.count(text.as_bytes());
        self.note.over();
        let flight = self.flight;
        // The clock is held until the last byte was taken.
        let body = Full::new(Bytes::from(text)).map_err(move |never| {
            let _held = &flight;
            match never {}
        });
        response.map(|()| body.boxed_unsync())
    }

    /// Says nothing until the caller goes away, or the rule does.
    async fn hang(self) -> Cut {
        self.decision.bit(&self.note.call);
        self.flight.rests();
        if let Some(rule) = &self.decision.by {
            self.keeper.rules.gone(rule).await;
        }
        Cut
    }

    /// Passes the call on and begins with its answer.
    async fn forward(
        mut self,
        request: Request<Incoming>,
        running: Running,
    ) -> Result<Response<Outgoing>, Cut> {
        let (mut head, body) = request.into_parts();
        let authority = head.uri.authority().map(ToString::to_string);
        keep_end_to_end(&mut head.headers);
        // HTTP/2 says in the address what HTTP/1.1 says in a header.
        if let Some(host) = authority.and_then(|host| HeaderValue::try_from(host).ok()) {
            head.headers.entry(header::HOST).or_insert(host);
        }
        head.version = Version::HTTP_11;
        head.extensions.clear();
        let request = Request::from_parts(head, Sending::new(body, &self.note));
        self.note.done = true;
        self.flight.moved();
        let (response, lent) = match self.way.upstream.send(request).await {
            Ok(answered) => answered,
            // The caller went away in the middle of his own words.
            Err(_) if lock(&self.note.sent).broken => return Err(Cut),
            Err(error) => return Ok(self.unreachable(&error)),
        };
        self.flight.moved();
        self.way.reached();
        if let Fate::DelayAnswer(span) = self.decision.fate {
            self.decision.bit(&self.note.call);
            self.flight.rests();
            self.keeper.clock.sleep(span).await;
            self.flight.moved();
        }
        let (mut head, body) = response.into_parts();
        keep_end_to_end(&mut head.headers);
        head.version = Version::HTTP_11;
        self.note.answer = Copied::of(&head.headers);
        let protobuf = head
            .headers
            .get(header::CONTENT_TYPE)
            .is_some_and(|kind| kind.to_str().is_ok_and(|kind| kind.contains("protobuf")));
        let watch = self.note.call.watch && head.status == StatusCode::OK;
        let lost = self.decision.fate == Fate::LoseAnswer;
        self.note.status = if lost { 0 } else { head.status.as_u16() };
        if watch && !lost {
            self.note.answer.count_only();
            self.note.opened();
        }
        let bodiless = self.note.call.method == Method::HEAD.as_str();
        let watch = watch.then(|| running.of(protobuf));
        let relay = Relay::new(self.keeper, self.flight, self.note, self.decision, (body, lent), watch);
        relay.begin(bodiless).await.map(|body| Response::from_parts(head, body))
    }

    /// The API behind the door is not there, which is the harness's fault and nobody else's.
    fn unreachable(mut self, why: &UpstreamError) -> Response<Outgoing> {
        // If it broke off in the middle, it may have done what it was asked.
        self.note.done = matches!(why, UpstreamError::Talk(_));
        let says = format!("failed to {why} ({} for {})", self.way.upstream, self.note.call);
        if self.way.lost() {
            self.keeper.recorder.record(What::Trouble(format!("the door {says}")));
        }
        tracing::warn!("the door {says}");
        let complete = lock(&self.note.sent).complete;
        // A caller that is still sending would not hear the answer on a connection that he fills.
        let answer = Answer::of_harness(self.way.to, 502, &says);
        let mut response = self.say(&answer);
        if !complete {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// Whether the connection is to become something else. An offer of HTTP/2 may be declined in silence.
fn wants_upgrade(request: &Request<Incoming>) -> bool {
    let protocol = request.headers().get(header::UPGRADE).and_then(|protocol| protocol.to_str().ok());
    protocol.is_some_and(|protocol| !protocol.eq_ignore_ascii_case("h2c"))
}

/// Takes away what concerns one connection.
fn keep_end_to_end(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|names| names.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
    headers.remove(PROXY_CONNECTION);
}
