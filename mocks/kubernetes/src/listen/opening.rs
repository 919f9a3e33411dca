//! A TCP stream whose first bytes were looked at before anybody else reads them.
//!
//! A client that speaks HTTP where TLS is spoken is told so, as a real server does; after the TLS library has
//! answered it would be too late.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;

use super::pace::Pace;

/// As long as the head of a TLS record, and long enough to know HTTP by.
const LENGTH: usize = 5;

/// The first bytes of requests in HTTP.
const HTTP: [&[u8; LENGTH]; 5] = [b"GET /", b"HEAD ", b"POST ", b"PUT /", b"OPTIO"];

const ANSWER: &[u8] = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/// What may still come from a client that was told to go, before the line is cut under its feet.
const FAREWELL: u64 = 64 * 1024;

/// The stream, with its beginning put back.
#[derive(Debug)]
pub(crate) struct Opening {
    first: [u8; LENGTH],
    given: usize,
    stream: TcpStream,
    pace: Arc<Pace>,
}

impl Opening {
    /// Waits for the first bytes.
    pub(crate) async fn read(mut stream: TcpStream, pace: Arc<Pace>) -> io::Result<Self> {
        let mut first = [0; LENGTH];
        stream.read_exact(&mut first).await?;
        Ok(Self { first, given: 0, stream, pace })
    }

    pub(crate) fn is_http(&self) -> bool {
        HTTP.contains(&&self.first)
    }

    /// Tells a client that it speaks the wrong protocol, and lets it finish its sentence so that it reads this.
    pub(crate) async fn refuse_http(mut self) -> io::Result<()> {
        self.stream.write_all(ANSWER).await?;
        self.stream.shutdown().await?;
        tokio::io::copy(&mut self.stream.take(FAREWELL), &mut tokio::io::sink()).await?;
        Ok(())
    }
}

impl AsyncRead for Opening {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let rest = &self.first[self.given..];
        if rest.is_empty() {
            let before = buffer.filled().len();
            let outcome = Pin::new(&mut self.stream).poll_read(context, buffer);
            if buffer.filled().len() > before {
                self.pace.heard();
            }
            return outcome;
        }
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        self.given += count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Opening {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
