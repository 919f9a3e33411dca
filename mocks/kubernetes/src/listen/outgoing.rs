//! An answer on its way to the client: it ends when the server stops, and tells when it is through.

use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::oneshot;

use super::body::Body;
use super::pace::Running;

/// What the connection sends.
pub(crate) struct Outgoing {
    body: Body,
    /// Comes when the server stops: what has no end by itself ends then.
    stop: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Dropped when all has been taken; its other end then knows.
    #[expect(dead_code, reason = "held for being dropped")]
    taken: Option<oneshot::Sender<()>>,
    #[expect(dead_code, reason = "held for being dropped")]
    running: Running,
}

impl Outgoing {
    pub(crate) fn new(
        body: Body,
        stopped: impl Future<Output = ()> + Send + 'static,
        taken: Option<oneshot::Sender<()>>,
        running: Running,
    ) -> Self {
        let endless = matches!(body, Body::Stream(_));
        let stop = endless.then(|| Box::pin(stopped) as Pin<Box<dyn Future<Output = ()> + Send>>);
        Self { body, stop, taken, running }
    }
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = self.get_mut();
        let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut this.body).poll_frame(context)));
        let Ok(polled) = polled else {
            this.body = Body::empty();
            tracing::error!("the source of a streamed answer panicked");
            return Poll::Ready(Some(Err(io::Error::other("the source of this answer panicked"))));
        };
        if polled.is_pending()
            && let Some(stop) = &mut this.stop
            && stop.as_mut().poll(context).is_ready()
        {
            this.body = Body::empty();
            this.stop = None;
            return Poll::Ready(None);
        }
        polled.map(|frame| frame.map(|frame| frame.map_err(|never| match never {})))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
