//! One connection: from its first bytes through the handshake to the last answer.
//!
//! Every connection is a task of its own, and every request of a multiplexed one too, so one client's trouble is its
//! own. When the task ends, all of its requests end with it.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::service::service_fn;
use hyper::{Request, Response, Version, body::Incoming};
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto;
use mock_clock::{Clock as _, Sleep};
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::exchange::{Exchange, Handler};
use super::hold::{Hold, PATIENCE};
use super::identity::Shown;
use super::opening::Opening;
use super::outgoing::Outgoing;
use super::pace::{HEAD, Pace, Running};
use super::tls::Tls;

/// One watch of each kind of thing, from many clients that share a connection.
const STREAMS_MAX: u32 = 2_000;
/// As many requests as clients like may be given up before they were looked at.
const RESETS_MAX: usize = 10_000;
/// What a client may send before it is read, on one stream and on all: a whole request, and several.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 8 * 1024 * 1024;
/// The most that the names and values of a request's head may hold.
const HEADERS_MAX: u32 = 1024 * 1024;

/// Answers that are longer may have to wait for their reader, and hold the clock until it has them.
const LONG: u64 = 64 * 1024;

/// What all connections of a server share.
pub(crate) struct Serving<H> {
    pub(crate) exchange: Exchange<H>,
    pub(crate) tls: Tls,
    /// True once the server stops.
    pub(crate) stopping: watch::Receiver<bool>,
}

/// The tasks that belong to a connection, each a request or a wait for its reader. Those of multiplexed requests are
/// started by the HTTP library.
#[derive(Clone)]
struct Tasks {
    set: Weak<Mutex<JoinSet<()>>>,
}

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Tasks {
    fn execute(&self, task: F) {
        // Without a connection nobody waits for the task.
        let Some(set) = self.set.upgrade() else { return };
        let mut set = set.lock().unwrap_or_else(PoisonError::into_inner);
        while set.try_join_next().is_some() {}
        set.spawn(task);
    }
}

/// Serves a client until it or the server has had enough.
pub(crate) async fn serve<H: Handler>(serving: Arc<Serving<H>>, stream: TcpStream, peer: SocketAddr) {
    let clock = &serving.exchange.clock;
    let mut hold = Hold::new(clock);
    let start = clock.now();
    let pace = Pace::new(clock);
    let opened = tokio::select! {
        opened = hold.wait(HEAD, open(&serving.tls, stream, Arc::clone(&pace))) => opened,
        () = stopped(serving.stopping.clone()) => return,
    };
    match opened {
        Ok(Ok(Some(stream))) => {
            let limit = HEAD.saturating_sub(clock.now() - start);
            let set = Arc::new(Mutex::new(JoinSet::new()));
            let tasks = Tasks { set: Arc::downgrade(&set) };
            talk(&serving, stream, &pace, tasks, (hold, limit)).await;
            drop(set);
        }
        Ok(Ok(None)) => tracing::warn!("{peer} speaks HTTP where HTTPS is spoken"),
        // Somebody knocks to see whether the port is open: no trouble.
        Ok(Err(e)) if e.kind() == io::ErrorKind::UnexpectedEof => tracing::debug!("{peer} left: {e}"),
        Ok(Err(e)) => tracing::warn!("TLS handshake with {peer}: {e}"),
        Err(_) => tracing::debug!("{peer} did not finish its TLS handshake within {} s", HEAD.as_secs()),
    }
}

/// The handshake. Nothing, if the client did not want one.
async fn open(tls: &Tls, stream: TcpStream, pace: Arc<Pace>) -> io::Result<Option<TlsStream<Opening>>> {
    stream.set_nodelay(true)?;
    let opening = Opening::read(stream, pace).await?;
    if opening.is_http() {
        opening.refuse_http().await?;
        return Ok(None);
    }
    TlsAcceptor::from(Arc::clone(&tls.config)).accept(opening).await.map(Some)
}

/// Requests and answers.
async fn talk<H: Handler>(
    serving: &Arc<Serving<H>>,
    stream: TlsStream<Opening>,
    pace: &Arc<Pace>,
    tasks: Tasks,
    (mut hold, limit): (Hold, Duration),
) {
    let shown = Arc::new(serving.tls.shown(stream.get_ref().1));
    let builder = protocol(tasks.clone());
    let service = service_fn(|request: Request<Incoming>| {
        // Before anything else: from here on the request is in flight.
        let hold = Hold::new(&serving.exchange.clock);
        let running = pace.asked(request.version() == Version::HTTP_2);
        respond(Arc::clone(serving), Arc::clone(&shown), tasks.clone(), request, (hold, running))
    });
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let mut stop = pin!(stopped(serving.stopping.clone()));
    let mut stopping = false;
    let mut timer: Option<Pin<Box<Sleep>>> = None;
    // Whether there was a request, or false at the end.
    let mut poll = |context: &mut Context<'_>| {
        if connection.as_mut().poll(context).is_ready() {
            return Poll::Ready(false);
        }
        if !stopping && stop.as_mut().poll(context).is_ready() {
            stopping = true;
            connection.as_mut().graceful_shutdown();
            return connection.as_mut().poll(context).map(|_| false);
        }
        let deadline = pace.deadline();
        if timer.as_ref().map(|timer| timer.deadline()) != deadline {
            timer = deadline.map(|deadline| Box::pin(serving.exchange.clock.sleep_until(deadline)));
        }
        if timer.as_mut().is_some_and(|timer| timer.as_mut().poll(context).is_ready()) {
            return Poll::Ready(false);
        }
        if pace.was_asked() { Poll::Ready(true) } else { Poll::Pending }
    };
    let asked = hold.wait_for_first(limit, poll_fn(&mut poll)).await;
    drop(hold);
    if asked == Ok(true) {
        poll_fn(|context| match poll(context) {
            Poll::Ready(true) | Poll::Pending => Poll::Pending,
            Poll::Ready(false) => Poll::Ready(()),
        })
        .await;
    }
}

/// HTTP as this server speaks it. The date of an answer is virtual, so the library adds none.
fn protocol(tasks: Tasks) -> auto::Builder<Tasks> {
    let mut builder = auto::Builder::new(tasks);
    builder.http1().auto_date_header(false);
    builder
        .http2()
        .auto_date_header(false)
        .max_concurrent_streams(STREAMS_MAX)
        .max_pending_accept_reset_streams(RESETS_MAX)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_header_list_size(HEADERS_MAX);
    builder
}

/// The answer to a request, given to the connection. The clock is held until then; and if the answer is long, until
/// the reader has taken it or had a moment to.
async fn respond<H: Handler>(
    serving: Arc<Serving<H>>,
    shown: Arc<Shown>,
    tasks: Tasks,
    request: Request<Incoming>,
    (mut hold, running): (Hold, Running),
) -> Result<Response<Outgoing>, Infallible> {
    let response = serving.exchange.answer(request, &shown, &mut hold).await;
    let (head, body) = response.into_parts();
    let long = body.length().is_some_and(|length| length > LONG);
    let taken = long.then(|| {
        let (taken, all_taken) = oneshot::channel();
        hyper::rt::Executor::execute(&tasks, async move {
            // Its end is an error, because nothing is ever sent: the sender is dropped.
            let _ = hold.wait(PATIENCE, all_taken).await;
        });
        taken
    });
    let outgoing = Outgoing::new(body, stopped(serving.stopping.clone()), taken, running);
    Ok(Response::from_parts(head, outgoing))
}

/// Comes when the server stops, or is gone.
pub(crate) async fn stopped(mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stopping| *stopping).await;
}
