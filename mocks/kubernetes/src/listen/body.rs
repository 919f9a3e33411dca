//! What an answer consists of: bytes at hand, in one piece or in many, or bytes that come as things happen.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

/// The body of an answer.
pub(crate) enum Body {
    /// All of it is here. Pieces are sent as they are, without being copied together.
    Whole(VecDeque<Bytes>),
    /// More comes later.
    Stream(Stream),
}

/// Gives the pieces of an answer as they come about; nothing more, and the answer ends.
///
/// It is asked for the next piece only when the client has taken the one before, so whoever does not read costs one
/// piece. A wait must not hold the clock busy.
pub(crate) trait Source: Send + 'static {
    fn next(&mut self) -> impl Future<Output = Option<Bytes>> + Send;
}

/// A source, and the piece it is busy with.
pub(crate) struct Stream {
    next: Pin<Box<dyn Next>>,
}

/// A source with its type forgotten.
trait Next: Send {
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

/// The source moves into the future of its next piece, and comes back with it.
enum Turn<S> {
    Waiting(Pin<Box<dyn Future<Output = (S, Option<Bytes>)> + Send>>),
    Ended,
}

impl<S: Source> Next for Turn<S> {
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let turn = self.get_mut();
        let Self::Waiting(future) = turn else { return Poll::Ready(None) };
        let (source, piece) = ready!(future.as_mut().poll(context));
        *turn = if piece.is_some() { Self::after(source) } else { Self::Ended };
        Poll::Ready(piece)
    }
}

impl<S: Source> Turn<S> {
    fn after(mut source: S) -> Self {
        Self::Waiting(Box::pin(async move {
            let piece = source.next().await;
            (source, piece)
        }))
    }
}

impl Body {
    pub(crate) fn empty() -> Self {
        Self::Whole(VecDeque::new())
    }

    pub(crate) fn pieces(pieces: impl IntoIterator<Item = Bytes>) -> Self {
        Self::Whole(pieces.into_iter().filter(|piece| !piece.is_empty()).collect())
    }

    pub(crate) fn stream(source: impl Source) -> Self {
        Self::Stream(Stream { next: Box::pin(Turn::after(source)) })
    }

    /// How many bytes it has, if that is known.
    pub(crate) fn length(&self) -> Option<u64> {
        match self {
            Self::Whole(pieces) => Some(pieces.iter().map(|piece| piece.len() as u64).sum()),
            Self::Stream(_) => None,
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::pieces([bytes])
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match self.get_mut() {
            Self::Whole(pieces) => pieces.pop_front(),
            Self::Stream(stream) => ready!(stream.next.as_mut().poll_next(context)),
        };
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(pieces) if pieces.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        self.length().map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.length() {
            Some(length) => write!(f, "{length} bytes"),
            None => f.write_str("a stream"),
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    struct Countdown(u8);

    impl Source for Countdown {
        async fn next(&mut self) -> Option<Bytes> {
            self.0 = self.0.checked_sub(1)?;
            tokio::task::yield_now().await;
            Some(Bytes::from(vec![b'0' + self.0]))
        }
    }

    #[tokio::test]
    async fn a_source_is_asked_until_it_has_no_more() {
        let body = Body::stream(Countdown(3));
        assert_eq!(body.length(), None);
        assert_eq!(body.collect().await.unwrap().to_bytes(), "210");
    }

    #[tokio::test]
    async fn pieces_are_one_answer() {
        let body = Body::pieces(["ab", "", "c"].map(Bytes::from));
        assert_eq!((body.length(), body.is_end_stream()), (Some(3), false));
        assert_eq!(body.collect().await.unwrap().to_bytes(), "abc");
        assert!(Body::empty().is_end_stream() && Body::from(Bytes::new()).is_end_stream());
    }
}
