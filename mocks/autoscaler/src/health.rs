//! `/health-check`: 200 while loops begin and succeed, 500 when they have not for too long.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use mock_clock::{Clock as _, Time, VirtualClock};
use tokio::net::TcpListener;

use crate::defect::Defect;
use crate::settings::Settings;

/// When it last did something, and when that was good.
#[derive(Clone, Debug)]
pub(crate) struct Health {
    clock: VirtualClock,
    settings: Arc<Settings>,
    last: Arc<Mutex<Option<Last>>>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    active: Time,
    success: Time,
    /// No loop was good yet.
    starting: bool,
}

impl Health {
    pub(crate) fn new(settings: Arc<Settings>, clock: VirtualClock) -> Self {
        Self { clock, settings, last: Arc::default() }
    }

    /// From now on loops are expected.
    pub(crate) fn begin(&self) {
        let now = self.clock.now();
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Last { active: now, success: now, starting: true });
    }

    pub(crate) fn active(&self) {
        self.note(|last, now| last.active = now);
    }

    pub(crate) fn success(&self) {
        self.note(|last, now| (last.success, last.starting) = (now, false));
    }

    fn note(&self, note: impl Fn(&mut Last, Time)) {
        let now = self.clock.now();
        if let Some(last) = self.last.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            note(last, now);
        }
    }

    /// Why it is unwell, if it is.
    fn complaint(&self) -> Option<String> {
        let last = (*self.last.lock().unwrap_or_else(PoisonError::into_inner))?;
        let now = self.clock.now();
        let (idle, failing) = (now.since(last.active), now.since(last.success));
        let arguments = &self.settings.arguments;
        let (inactivity, failure) = (arguments.max_inactivity, arguments.max_failing_time);
        let starting = last.starting && !self.settings.has(Defect::HurriesTheFirstLoop);
        if self.settings.has(Defect::AlwaysHealthy) {
            None
        } else if starting {
            (failing > arguments.max_startup_time.max(inactivity).max(failure))
                .then(|| format!("no successful loop since the start {failing:?} ago"))
        } else if idle > inactivity {
            Some(format!("last activity {idle:?} ago"))
        } else if failing > failure {
            Some(format!("last successful loop {failing:?} ago"))
        } else {
            None
        }
    }

    /// Answers at the address as long as the process lives.
    pub(crate) async fn serve(self, address: SocketAddr) -> io::Result<()> {
        let listener = TcpListener::bind(address).await?;
        tokio::spawn(async move {
            loop {
                // Whoever could not be accepted asks again.
                let Ok((stream, _)) = listener.accept().await else { continue };
                let health = self.clone();
                let answer = service_fn(move |request| {
                    std::future::ready(Ok::<_, Infallible>(health.answer(&request)))
                });
                let connection =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                tokio::spawn(connection);
            }
        });
        Ok(())
    }

    fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let (status, text) = match (request.uri().path(), self.complaint()) {
            ("/health-check", None) => (StatusCode::OK, "OK".to_owned()),
            ("/health-check", Some(why)) => (StatusCode::INTERNAL_SERVER_ERROR, format!("Error: {why}")),
            _ => (StatusCode::NOT_FOUND, "only /health-check is here".to_owned()),
        };
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = status;
        response
    }
}
