//! The body of an answer on its way to the caller, piece by piece as the API sends it, and what a fate does to it.
//!
//! It is asked for the next piece when the caller has taken the one before, so nobody's slowness fills memory. A
//! watch that is open hears of rules that come and go.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Body as _, Frame, Incoming};
use mock_clock::Clock as _;
use tokio::sync::watch;

use super::Keeper;
use super::exchange::{Cut, Outgoing};
use super::flight::Flight;
use super::framing::Framing;
use super::note::{Note, lock};
use super::rule::{Decision, Fate, Standing};
use super::upstream::Lent;

/// After so long without a jump all that was written has left.
const FLUSH: Duration = Duration::from_millis(20);

/// An answer on its way.
pub(super) struct Relay {
    keeper: Arc<Keeper>,
    flight: Flight,
    note: Note,
    decision: Decision,
    body: Incoming,
    lent: Option<Lent>,
    watch: Option<Running>,
    /// What the API has sent and the caller not got yet.
    waiting: VecDeque<Bytes>,
    passed: u64,
    /// The caller gets no more of it.
    cut: bool,
    over: bool,
}

/// What a watch is at.
pub(super) struct Running {
    changes: watch::Receiver<u64>,
    /// Rules up to this change have been asked.
    asked: u64,
    stalled: Option<Arc<Standing>>,
    framing: Framing,
    /// At the end of the event that is on its way it is told that its revision is gone.
    expires: Option<Arc<Standing>>,
}

/// What there is to pass on.
enum Next {
    Piece(Bytes),
    End,
    Cut,
}

impl Running {
    pub(super) fn new(changes: watch::Receiver<u64>, asked: u64) -> Self {
        Self { changes, asked, stalled: None, framing: Framing::Lines { within: false }, expires: None }
    }

    /// In this form.
    pub(super) fn of(mut self, protobuf: bool) -> Self {
        if protobuf {
            self.framing = Framing::protobuf();
        }
        self
    }
}

impl Relay {
    pub(super) fn new(
        keeper: Arc<Keeper>,
        flight: Flight,
        note: Note,
        decision: Decision,
        (body, lent): (Incoming, Lent),
        watch: Option<Running>,
    ) -> Self {
        let (waiting, lent) = (VecDeque::new(), Some(lent));
        Self {
            keeper,
            flight,
            note,
            decision,
            body,
            lent,
            watch,
            waiting,
            passed: 0,
            cut: false,
            over: false,
        }
    }

    /// The body, or nothing if the answer is to be lost.
    pub(super) async fn begin(mut self, bodiless: bool) -> Result<Outgoing, Cut> {
        match self.decision.fate {
            Fate::LoseAnswer => {
                while self.watch.is_none() && self.body.frame().await.is_some_and(|frame| frame.is_ok()) {
                    self.flight.moved();
                }
                self.decision.bit(&self.note.call);
                return Err(Cut);
            }
            Fate::StallWatch => {
                if let Some(running) = &mut self.watch {
                    running.stalled.clone_from(&self.decision.by);
                }
            }
            _ => {}
        }
        if bodiless || self.body.is_end_stream() {
            self.finish();
        }
        let pieces = stream::unfold(self, async |mut relay| {
            let piece = relay.next().await?;
            Some((piece.map(Frame::data), relay))
        });
        Ok(StreamBody::new(pieces).boxed_unsync())
    }

    /// The next piece for the caller.
    async fn next(&mut self) -> Option<Result<Bytes, Cut>> {
        if std::mem::take(&mut self.cut) {
            // What the caller is to get must have left before the connection is cut.
            self.over = true;
            self.note.over();
            self.flight.rests();
            self.keeper.clock.sleep(FLUSH).await;
            return Some(Err(Cut));
        }
        if self.over && self.waiting.is_empty() {
            return None;
        }
        let next = match self.decision.fate {
            Fate::Truncate(limit) => self.truncated(limit).await,
            Fate::SlowBody(rate) => self.slow(rate).await,
            Fate::DropWatch if self.watch.is_some() => {
                self.decision.bit(&self.note.call);
                Next::End
            }
            _ if self.watch.is_some() => self.watched().await,
            _ => self.arriving().await,
        };
        match next {
            Next::Piece(data) => {
                self.flight.moved();
                self.passed += data.len() as u64;
                self.note.answer.count(&data);
                if self.over && self.waiting.is_empty() && !self.cut {
                    self.note.over();
                }
                Some(Ok(data))
            }
            Next::End => {
                self.finish();
                None
            }
            Next::Cut => {
                self.over = true;
                self.note.over();
                Some(Err(Cut))
            }
        }
    }

    /// What the API sends.
    async fn arriving(&mut self) -> Next {
        while let Some(frame) = self.body.frame().await {
            let Ok(frame) = frame else { return Next::Cut };
            // Neither API has trailers.
            let Ok(data) = frame.into_data() else { continue };
            if self.body.is_end_stream() && self.watch.is_none() {
                self.arrived();
            }
            return Next::Piece(data);
        }
        Next::End
    }

    /// At most so many bytes. An answer that is no longer is not hurt.
    async fn truncated(&mut self, limit: u64) -> Next {
        let left = usize::try_from(limit - self.passed).unwrap_or(usize::MAX);
        match self.arriving().await {
            Next::Piece(mut data) if data.len() > left => {
                self.decision.bit(&self.note.call);
                self.cut = true;
                data.truncate(left);
                Next::Piece(data)
            }
            next => next,
        }
    }

    /// A second for so many bytes, and less for fewer.
    async fn slow(&mut self, rate: u64) -> Next {
        let rate = rate.max(1);
        if self.waiting.is_empty() {
            match self.arriving().await {
                Next::Piece(data) => self.waiting.push_back(data),
                other => return other,
            }
        }
        let Some(mut data) = self.waiting.pop_front() else { return Next::End };
        if self.passed == 0 {
            self.decision.bit(&self.note.call);
        }
        let length = data.len().min(usize::try_from(rate).unwrap_or(usize::MAX));
        let piece = data.split_to(length);
        if !data.is_empty() {
            self.waiting.push_front(data);
        }
        self.flight.rests();
        self.keeper.clock.sleep(Duration::from_micros(length as u64 * 1_000_000 / rate)).await;
        Next::Piece(piece)
    }

    /// What a watch tells. While it waits for something to happen, time may pass.
    async fn watched(&mut self) -> Next {
        loop {
            self.flight.rests();
            let Some(running) = &mut self.watch else { return Next::End };
            if let Some(rule) = running.expires.take_if(|_| !running.framing.within()) {
                rule.bit(&self.note.call);
                self.decision.fate = Fate::DropWatch;
                self.decision.by = None;
                return Next::Piece(running.framing.expired());
            }
            tokio::select! {
                _ = running.changes.changed() => {
                    if let Some(end) = self.reconsidered() {
                        return end;
                    }
                }
                frame = self.body.frame(), if !self.over => {
                    self.flight.moved();
                    let data = match frame {
                        Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                        // What is stalled does not even tell its end.
                        _ if running.stalled.is_some() => { self.over = true; continue }
                        Some(Err(_)) => return Next::Cut,
                        None => return Next::End,
                    };
                    if data.is_empty() {
                        continue;
                    }
                    if let Some(rule) = &running.stalled {
                        rule.bit(&self.note.call);
                        continue;
                    }
                    running.framing.passes(&data);
                    return Next::Piece(data);
                }
            }
        }
    }

    /// Rules have come or gone.
    fn reconsidered(&mut self) -> Option<Next> {
        let running = self.watch.as_mut()?;
        let seen = *running.changes.borrow_and_update();
        if let Some(rule) = &running.stalled {
            return (!self.keeper.rules.stands(rule)).then_some(Next::Cut);
        }
        self.note.call.running = true;
        let decision = self.keeper.rules.decide(&self.note.call, std::mem::replace(&mut running.asked, seen));
        let rule = decision.by.as_ref()?;
        self.note.fate = Some(rule.name.clone());
        match decision.fate {
            Fate::StallWatch => running.stalled = Some(Arc::clone(rule)),
            Fate::Expire => running.expires = Some(Arc::clone(rule)),
            _ => {
                decision.bit(&self.note.call);
                return Some(Next::End);
            }
        }
        None
    }

    /// The caller has all that he gets.
    fn finish(&mut self) {
        self.arrived();
        self.note.over();
    }

    /// No more comes from the API. If all of it has come, the connection serves another call.
    fn arrived(&mut self) {
        self.over = true;
        let whole = self.body.is_end_stream() && lock(&self.note.sent).complete;
        if let Some(lent) = self.lent.take_if(|_| whole) {
            lent.give_back();
        }
    }
}
