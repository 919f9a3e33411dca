//! Watches: what is there, what happens, bookmarks, and the end.
//!
//! A watcher has a place in the log and nothing else: whoever reads slowly keeps no events waiting in memory, and
//! whoever falls behind the log is told that its place is gone.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use mock_clock::{Clock, Time};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::accept::{Encoding, Form, Shape};
use super::answer::Showing;
use super::options::ListOptions;
use super::select::{Seen, Selection};
use crate::api::{Api, view};
use crate::listen::Source;
use crate::present::Include;
use crate::protobuf;
use crate::registry::Resource;
use crate::status::Status;
use crate::store::{Change, Compacted, Object};

/// Bookmarks come on whole minutes, so that all watchers of an idle cluster wait for the same moment.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// The last one comes so long before the end of a watch that lasts longer.
const BOOKMARK_BEFORE_END: Duration = Duration::from_secs(2);
/// Without a timeout a watch lasts this long.
const TIMEOUT: Duration = Duration::from_secs(1800);
/// How many changes are turned into one piece.
const BATCH: usize = 100;

/// The annotation of the bookmark after which a watcher knows all there is.
const INITIAL_END: &str = "k8s.io/initial-events-end";

/// One watch.
#[derive(Debug)]
pub(super) struct Watch {
    api: Api,
    resource: Arc<Resource>,
    selection: Selection,
    form: Form,
    include: Include,
    /// What there was when it began, and is still to be told.
    initial: VecDeque<Arc<Object>>,
    /// Whether the end of that is to be told.
    tell_end: bool,
    reached: u64,
    news: watch::Receiver<u64>,
    bookmarks: bool,
    bookmark_at: Time,
    end_at: Time,
    headers: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Following,
    /// The last piece has been given.
    Over,
}

impl Watch {
    pub(super) fn new(
        api: &Api,
        resource: &Arc<Resource>,
        selection: Selection,
        options: &ListOptions,
        form: Form,
        include: Include,
    ) -> Self {
        let news = api.store().subscribe(&resource.shelf);
        let from_now = options.initial_events || options.revision.unwrap_or_default() == 0;
        let (reached, initial) = if from_now {
            let snapshot = api.store().list(&resource.shelf, &selection.namespace);
            (snapshot.revision, selection.filter(snapshot.objects).into())
        } else {
            (options.revision.unwrap_or_default(), VecDeque::new())
        };
        let now = api.now();
        let timeout =
            options.timeout_seconds.filter(|seconds| *seconds > 0).map_or(TIMEOUT, Duration::from_secs);
        Self {
            api: api.clone(),
            resource: resource.clone(),
            selection,
            form,
            include,
            initial,
            // Who takes no bookmarks is not told where the beginning ends.
            tell_end: options.initial_events && options.bookmarks,
            reached,
            news,
            bookmarks: options.bookmarks,
            bookmark_at: next_bookmark(now, now + timeout),
            end_at: now + timeout,
            headers: true,
            state: State::Following,
        }
    }

    /// What is to be told now, if anything is.
    fn piece(&mut self) -> Option<Bytes> {
        let mut piece = BytesMut::new();
        if !self.initial.is_empty() {
            for object in self.initial.drain(..BATCH.min(self.initial.len())).collect::<Vec<_>>() {
                self.tell(&mut piece, "ADDED", &object, None);
            }
            return Some(piece.freeze());
        }
        if std::mem::take(&mut self.tell_end) {
            self.bookmark(&mut piece, true);
            return Some(piece.freeze());
        }
        self.news.borrow_and_update();
        match self.api.store().since(&self.resource.shelf, self.reached, BATCH) {
            Err(Compacted) => {
                let (asked, current) = (self.reached, self.api.store().revision());
                self.tell_error(
                    &mut piece,
                    &Status::expired(format!("too old resource version: {asked} ({current})")),
                );
                self.state = State::Over;
            }
            Ok((changes, reached)) => {
                self.reached = reached;
                for change in changes {
                    self.tell_change(&mut piece, &change);
                }
            }
        }
        self.tell_time(&mut piece);
        (!piece.is_empty()).then(|| piece.freeze())
    }

    fn tell_change(&mut self, piece: &mut BytesMut, change: &Change) {
        match self.selection.see(change) {
            Seen::Nothing => {}
            Seen::Added => self.tell(piece, "ADDED", &change.object, None),
            Seen::Modified => self.tell(piece, "MODIFIED", &change.object, None),
            Seen::Deleted if change.deleted => self.tell(piece, "DELETED", &change.object, None),
            // It is shown as it was seen last, at the revision that took it away.
            Seen::Deleted => {
                if let Some(old) = &change.old {
                    self.tell(piece, "DELETED", old, Some(change.revision));
                }
            }
        }
    }

    /// Bookmarks and the end, when their time has come.
    fn tell_time(&mut self, piece: &mut BytesMut) {
        let now = self.api.now();
        if now >= self.bookmark_at {
            self.bookmark_at = next_bookmark(now, self.end_at);
            if self.bookmarks && self.state == State::Following {
                self.bookmark(piece, false);
            }
        }
        if now >= self.end_at {
            self.state = State::Over;
        }
    }

    fn showing(&self) -> Showing<'_> {
        Showing { resource: &self.resource, form: self.form, include: self.include, now: self.api.now() }
    }

    fn tell(&mut self, piece: &mut BytesMut, event: &str, object: &Object, revision: Option<u64>) {
        // All who watch whole objects in one form are told the same bytes.
        if self.form.shape == Shape::Whole && !self.form.pretty && revision.is_none() {
            return self.put(piece, event, &self.showing().object(object));
        }
        let mut value = view(&self.resource, object);
        if let Some(revision) = revision {
            value["metadata"]["resourceVersion"] = json!(revision.to_string());
        }
        self.tell_value(piece, event, &value);
    }

    fn tell_value(&mut self, piece: &mut BytesMut, event: &str, value: &Value) {
        let bytes = self.showing().shown(value, self.headers);
        self.headers = false;
        self.put(piece, event, &bytes);
    }

    fn put(&self, piece: &mut BytesMut, event: &str, object: &[u8]) {
        match self.form.encoding {
            Encoding::Protobuf => piece.put_slice(&protobuf::watch_frame_of(event, object)),
            _ => put_json(piece, event, object),
        }
    }

    fn bookmark(&mut self, piece: &mut BytesMut, end: bool) {
        let (kind, version) = match self.form.shape {
            Shape::Metadata | Shape::MetadataList => {
                ("PartialObjectMetadata".to_owned(), "meta.k8s.io/v1".to_owned())
            }
            _ => (self.resource.kind.clone(), self.resource.api_version()),
        };
        let mut metadata = json!({"resourceVersion": self.reached.to_string()});
        if end {
            metadata["annotations"] = json!({ INITIAL_END: "true" });
        }
        self.tell_value(
            piece,
            "BOOKMARK",
            &json!({"kind": kind, "apiVersion": version, "metadata": metadata}),
        );
    }

    fn tell_error(&self, piece: &mut BytesMut, status: &Status) {
        let form = Form { shape: Shape::Whole, ..self.form };
        self.put(piece, "ERROR", &super::answer::encode(form, &status.to_value()));
    }
}

impl Source for Watch {
    async fn next(&mut self) -> Option<Bytes> {
        while self.state == State::Following {
            if let Some(piece) = self.piece() {
                return Some(piece);
            }
            if self.state == State::Over {
                break;
            }
            let due = if self.bookmarks { self.bookmark_at.min(self.end_at) } else { self.end_at };
            tokio::select! {
                changed = self.news.changed() => if changed.is_err() { break },
                _ = self.api.clock().sleep_until(due) => {}
            }
        }
        None
    }
}

/// The next whole minute, or shortly before the end if that comes first; never, once that is past.
fn next_bookmark(now: Time, end: Time) -> Time {
    let every = u64::try_from(BOOKMARK_EVERY.as_nanos()).unwrap_or(u64::MAX);
    let minute = Time::from_unix_nanos((now.unix_nanos() / every + 1).saturating_mul(every));
    let last = end - BOOKMARK_BEFORE_END;
    if now < last { minute.min(last) } else { Time::NEVER }
}

fn put_json(piece: &mut BytesMut, event: &str, object: &[u8]) {
    piece.reserve(object.len() + 40);
    piece.put_slice(b"{\"type\":\"");
    piece.put_slice(event.as_bytes());
    piece.put_slice(b"\",\"object\":");
    piece.put_slice(object);
    piece.put_slice(b"}\n");
}
