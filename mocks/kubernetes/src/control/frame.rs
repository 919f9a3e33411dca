//! What all controllers share: they are fed with changes, keep a queue, and wait for nothing but those two.

use std::fmt::Display;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mock_clock::{Clock, Time};
use tokio::sync::watch;

use super::queue::Queue;
use crate::api::Api;
use crate::status::Status;
use crate::store::{Change, Compacted};

/// How many changes are taken at a time.
const BATCH: usize = 1000;

/// Instead of a shelf: all of them, also those to come.
pub(crate) const EVERY_SHELF: &str = "*";

/// One controller. It may keep what it likes: if it falls too far behind it is made anew and told everything again.
pub(crate) trait Controller: Send {
    /// What stands in its queue: a key, mostly.
    type Item: Ord + Clone + Display + Send;

    /// A change on one of its shelves. What exists at the start comes as if it had just been created.
    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Self::Item>);

    /// Brings one item where it should be. An error is tried again, later each time.
    fn reconcile(&mut self, api: &Api, item: &Self::Item) -> Result<Next, Status>;

    /// What else the last reconciliation wants looked at, and after how long.
    fn further(&mut self) -> Vec<(Self::Item, Duration)> {
        Vec::new()
    }
}

/// What is to happen after an item was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing before another change.
    Done,
    /// Another look after a while.
    After(Duration),
}

/// Runs a controller until the task is dropped.
pub(crate) async fn run<C: Controller>(api: Api, name: &'static str, shelves: &[&str], make: impl Fn() -> C) {
    loop {
        let Err(Compacted) = follow(&api, name, shelves, make()).await;
        tracing::debug!(controller = name, "fell behind the log of changes and starts anew");
    }
}

async fn follow<C: Controller>(
    api: &Api,
    name: &'static str,
    shelves: &[&str],
    controller: C,
) -> Result<std::convert::Infallible, Compacted> {
    let mut course = Course::begin(api, name, shelves, controller);
    loop {
        if course.step(api)? {
            tokio::task::yield_now().await;
            continue;
        }
        let due = course.due();
        let changed = any(&mut course.feeds);
        match due {
            None => changed.await,
            Some(due) => tokio::select! {
                () = changed => {}
                _ = api.clock().sleep_until(due) => {}
            },
        }
    }
}

/// A controller at work, one step at a time.
#[derive(Debug)]
pub(super) struct Course<'a, C: Controller> {
    name: &'static str,
    feeds: Vec<Feed<'a>>,
    queue: Queue<C::Item>,
    controller: C,
}

impl<'a, C: Controller> Course<'a, C> {
    pub(super) fn begin(api: &Api, name: &'static str, shelves: &[&'a str], mut controller: C) -> Self {
        let mut queue = Queue::new(api.now());
        let mut feeds: Vec<Feed<'_>> = shelves.iter().map(|shelf| Feed::new(api, shelf)).collect();
        for feed in &mut feeds {
            feed.begin(api, |shelf, change| controller.observe(shelf, change, &mut queue));
        }
        Self { name, feeds, queue, controller }
    }

    /// Takes what is new, and looks at one item; false if none is due.
    pub(super) fn step(&mut self, api: &Api) -> Result<bool, Compacted> {
        let Self { name, feeds, queue, controller } = self;
        queue.turn(api.now());
        for feed in feeds {
            feed.take(api, |shelf, change| controller.observe(shelf, change, queue))?;
        }
        let Some(item) = queue.pop() else { return Ok(false) };
        match controller.reconcile(api, &item) {
            Ok(Next::Done) => queue.succeeded(&item),
            Ok(Next::After(wait)) => {
                queue.succeeded(&item);
                queue.add_after(item, wait);
            }
            Err(status) => {
                tracing::debug!(controller = name, %item, %status, "tries again");
                queue.failed(item);
            }
        }
        for (item, wait) in controller.further() {
            queue.add_after(item, wait);
        }
        Ok(true)
    }

    /// When the next item is due.
    pub(super) fn due(&self) -> Option<Time> {
        self.queue.next()
    }
}

/// The changes of one shelf, each exactly once.
#[derive(Debug)]
pub(crate) struct Feed<'a> {
    shelf: &'a str,
    reached: u64,
    news: watch::Receiver<u64>,
}

impl<'a> Feed<'a> {
    pub(crate) fn new(api: &Api, shelf: &'a str) -> Self {
        let store = api.store();
        let news = if shelf == EVERY_SHELF { store.subscribe_all() } else { store.subscribe(shelf) };
        Self { shelf, reached: 0, news }
    }

    /// Tells what is there.
    pub(crate) fn begin(&mut self, api: &Api, mut tell: impl FnMut(&str, &Change)) {
        if self.shelf == EVERY_SHELF {
            let (revision, shelves) = api.store().everything();
            self.reached = revision;
            for (shelf, objects) in shelves {
                for object in &objects {
                    tell(&shelf, &Change::of(object));
                }
            }
            return;
        }
        let snapshot = api.store().list(self.shelf, "");
        self.reached = snapshot.revision;
        for object in snapshot.objects {
            tell(self.shelf, &Change::of(&object));
        }
    }

    /// Tells what happened since.
    pub(crate) fn take(&mut self, api: &Api, mut tell: impl FnMut(&str, &Change)) -> Result<(), Compacted> {
        loop {
            self.news.borrow_and_update();
            if self.shelf == EVERY_SHELF {
                let changes = api.store().since_on_all(self.reached, BATCH)?;
                let Some((_, last)) = changes.last() else { return Ok(()) };
                self.reached = last.revision;
                for (shelf, change) in &changes {
                    tell(shelf, change);
                }
                continue;
            }
            let (changes, reached) = api.store().since(self.shelf, self.reached, BATCH)?;
            self.reached = reached;
            if changes.is_empty() {
                return Ok(());
            }
            for change in changes {
                tell(self.shelf, &change);
            }
        }
    }
}

/// Waits until one of the shelves has changed.
pub(crate) async fn any(feeds: &mut [Feed<'_>]) {
    type Changed<'f> = Pin<Box<dyn Future<Output = Result<(), watch::error::RecvError>> + Send + 'f>>;
    let mut all: Vec<Changed<'_>> =
        feeds.iter_mut().map(|feed| Box::pin(feed.news.changed()) as Changed<'_>).collect();
    poll_fn(move |context| {
        let ready = all.iter_mut().any(|changed| changed.as_mut().poll(context).is_ready());
        if ready { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

impl Change {
    /// An object that is there, as if it had just been created.
    fn of(object: &Arc<crate::store::Object>) -> Self {
        Self { revision: object.revision, old: None, object: object.clone(), deleted: false }
    }
}
