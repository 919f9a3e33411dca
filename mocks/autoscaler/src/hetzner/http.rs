//! A plain HTTP client that waits by the clock. As with the official client, a connection whose answer is there serves the
//! next request.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use mock_clock::{Clock as _, VirtualClock};
use serde_json::Value;
use tokio::net::TcpStream;

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Where the API is.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    /// Host and port.
    authority: String,
    path: String,
    token: String,
    patience: Duration,
    /// Connections that wait for a request. Clones share them.
    idle: Arc<Mutex<Vec<Connection>>>,
}

type Connection = SendRequest<Full<Bytes>>;

impl Endpoint {
    pub(super) fn parse(url: &str, token: &str) -> Result<Self, String> {
        let rest = url
            .strip_prefix("http://")
            .ok_or_else(|| format!("use {url}: only plain http:// is spoken, set HCLOUD_ENDPOINT"))?;
        let (host, path) =
            rest.split_once('/').map_or((rest, String::new()), |(host, path)| (host, format!("/{path}")));
        let authority = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
        Ok(Self { authority, path, token: token.to_owned(), patience: TIMEOUT, idle: Arc::default() })
    }

    /// The same, for somebody who waits so long for an answer.
    pub(super) fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The body of a good answer, however long it takes: as with the official client, the health check tells of a hang.
    pub(super) async fn list(&self, path: &str) -> Result<Value, CloudError> {
        self.exchange(Method::GET, path, None).await
    }

    /// The body of a good answer that comes in time.
    pub(super) async fn call(
        &self,
        clock: &VirtualClock,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, CloudError> {
        match clock.timeout(self.patience, self.exchange(method, path, body)).await {
            Ok(answer) => answer,
            Err(_) => Err(CloudError::TimedOut),
        }
    }

    async fn exchange(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, CloudError> {
        let lost = |e: &dyn fmt::Display| CloudError::Lost(e.to_string());
        let bytes = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.path))
            .header(HOST, &self.authority)
            .header(AUTHORIZATION, format!("Bearer {}", self.token))
            .header(USER_AGENT, concat!("mock-autoscaler/", env!("CARGO_PKG_VERSION")))
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(bytes))
            .map_err(|e| lost(&e))?;
        let (answer, connection) = self.send(request).await?;
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.map_err(|e| lost(&e))?.to_bytes();
        if !connection.is_closed() {
            self.idle().push(connection);
        }
        if status < 300 {
            return serde_json::from_slice(&bytes)
                .map_err(|e| CloudError::Lost(format!("an answer that is no JSON: {e}")));
        }
        let error: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = |key: &str| error["error"][key].as_str().unwrap_or_default().to_owned();
        Err(CloudError::Refused { status, code: text("code"), message: text("message") })
    }

    /// Sends a request on a connection that waits for one, or on a new one.
    async fn send(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, Connection), CloudError> {
        let lost = |e: &dyn fmt::Display| CloudError::Lost(e.to_string());
        loop {
            let waiting = self.idle().pop();
            let fresh = waiting.is_none();
            let mut connection = match waiting {
                Some(connection) => connection,
                None => self.connect().await.map_err(|e| lost(&e))?,
            };
            if connection.ready().await.is_err() && !fresh {
                continue;
            }
            match connection.try_send_request(request).await {
                Ok(answer) => return Ok((answer, connection)),
                // The other side closed it while it waited, and has heard nothing of this.
                Err(mut error) => match error.take_message() {
                    Some(unsent) if !fresh => request = unsent,
                    _ => return Err(lost(&error.into_error())),
                },
            }
        }
    }

    async fn connect(&self) -> io::Result<Connection> {
        let stream = TcpStream::connect(&self.authority).await?;
        // A small request must not wait for the acknowledgement of another.
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        // It ends when the sender is dropped; what goes wrong is told to whoever waits for an answer.
        tokio::spawn(connection);
        Ok(sender)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why there is no good answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CloudError {
    Refused {
        status: u16,
        code: String,
        message: String,
    },
    /// The connection or its answer broke off: it may have been done, or not.
    Lost(String),
    TimedOut,
    /// The API answered well, and what was asked for does not come to be.
    Failed(String),
}

impl CloudError {
    /// Whether the same question may have another answer soon.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            CloudError::Refused { status, code, .. } => {
                *status == 429 || *status >= 500 || code == "conflict" || code == "rate_limit_exceeded"
            }
            CloudError::Lost(_) => true,
            CloudError::TimedOut | CloudError::Failed(_) => false,
        }
    }

    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, CloudError::Refused { code, .. } if code == "conflict")
    }

    pub(super) fn is_limit(&self) -> bool {
        matches!(self, CloudError::Refused { status: 429, .. })
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, CloudError::Refused { status: 404, .. })
    }
}

impl fmt::Display for CloudError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CloudError::Refused { status, code, message } => write!(f, "{status} {code}: {message}"),
            CloudError::Lost(why) => write!(f, "the answer was lost: {why}"),
            CloudError::TimedOut => write!(f, "no answer in {TIMEOUT:?}"),
            CloudError::Failed(why) => f.write_str(why),
        }
    }
}

/// The text as it may stand in a query.
pub(super) fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_plain() {
        let endpoint = Endpoint::parse("http://127.0.0.1:8080/v1", "t").unwrap();
        assert_eq!((endpoint.authority.as_str(), endpoint.path.as_str()), ("127.0.0.1:8080", "/v1"));
        assert!(Endpoint::parse("https://api.hetzner.cloud/v1", "t").is_err());
        assert_eq!(escaped("a=b c"), "a%3Db%20c");
    }
}
