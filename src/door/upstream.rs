//! The way to the API behind the door.
//!
//! Connections speak HTTP/1.1, whatever the caller speaks: each call has one for itself, so a caller that does not
//! read holds up nobody else, and one that goes away takes its call with it. A connection whose call is over serves
//! the next one.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::DoorError;
use super::note::Sending;

/// An API by its URL. Clones share their connections.
#[derive(Clone)]
pub struct Upstream {
    place: Arc<Place>,
}

struct Place {
    url: String,
    host: String,
    port: u16,
    /// What the paths of all calls begin with there.
    prefix: String,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    idle: Mutex<Vec<SendRequest<Sending>>>,
}

/// A connection that an answer still comes from. Dropped, it is closed; given back, it serves again.
pub(super) struct Lent {
    place: Arc<Place>,
    connection: SendRequest<Sending>,
}

impl Upstream {
    /// The API at a URL such as `http://127.0.0.1:8080`. That of `https` must show a certificate that `authority_pem`
    /// vouches for.
    ///
    /// ```
    /// use scaleproof::door::Upstream;
    ///
    /// assert!(Upstream::new("http://127.0.0.1:8080", None).is_ok());
    /// let error = Upstream::new("https://127.0.0.1:6443", None).unwrap_err();
    /// assert!(error.to_string().contains("certificate"));
    /// ```
    pub fn new(url: &str, authority_pem: Option<&str>) -> Result<Self, DoorError> {
        let wrong = |why: &str| DoorError::Upstream { url: url.to_owned(), why: why.to_owned() };
        let uri: Uri = url.parse().map_err(|_| wrong("it is no URL"))?;
        let host = uri.host().ok_or_else(|| wrong("it names no host"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let (tls, port) = match uri.scheme_str() {
            Some("http") => (None, 80),
            Some("https") => {
                let pem =
                    authority_pem.ok_or_else(|| wrong("https needs the certificate of its authority"))?;
                let name = ServerName::try_from(host.clone()).map_err(|_| wrong("it names no host"))?;
                (Some((connector(pem).map_err(|why| wrong(&why))?, name)), 443)
            }
            _ => return Err(wrong("it begins with neither http:// nor https://")),
        };
        let port = uri.port_u16().unwrap_or(port);
        let prefix = uri.path().trim_end_matches('/').to_owned();
        let place = Place { url: url.to_owned(), host, port, prefix, tls, idle: Mutex::default() };
        Ok(Self { place: Arc::new(place) })
    }

    /// Passes a request on. Its path is as the caller wrote it.
    pub(super) async fn send(
        &self,
        mut request: Request<Sending>,
    ) -> Result<(Response<Incoming>, Lent), UpstreamError> {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let target = format!("{}{target}", self.place.prefix);
        *request.uri_mut() = target.parse().map_err(|_| UpstreamError::Target(target))?;
        loop {
            let resting = self.place.idle().pop();
            let fresh = resting.is_none();
            let mut connection = match resting {
                Some(connection) => connection,
                None => self.place.connect().await.map_err(UpstreamError::Connect)?,
            };
            if connection.ready().await.is_err() && !fresh {
                continue;
            }
            match connection.try_send_request(request).await {
                Ok(response) => return Ok((response, Lent { place: Arc::clone(&self.place), connection })),
                // The other side closed it while it rested, and has heard nothing of this.
                Err(mut error) => match error.take_message() {
                    Some(unsent) if !fresh => request = unsent,
                    _ => return Err(UpstreamError::Talk(error.into_error())),
                },
            }
        }
    }
}

impl Place {
    async fn connect(&self) -> io::Result<SendRequest<Sending>> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        match &self.tls {
            Some((connector, name)) => talk(connector.connect(name.clone(), stream).await?).await,
            None => talk(stream).await,
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<SendRequest<Sending>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lent {
    /// Request and answer are over.
    pub(super) fn give_back(self) {
        if !self.connection.is_closed() {
            self.place.idle().push(self.connection);
        }
    }
}

async fn talk<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
) -> io::Result<SendRequest<Sending>> {
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // It ends when the sender is dropped; what goes wrong is told to whoever waits for an answer.
    tokio::spawn(connection);
    Ok(sender)
}

fn connector(authority_pem: &str) -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authority_pem.as_bytes()) {
        let certificate =
            certificate.map_err(|error| format!("its authority's certificate is no PEM: {error}"))?;
        roots.add(certificate).map_err(|error| format!("its authority's certificate is none: {error}"))?;
    }
    if roots.is_empty() {
        return Err("there is no certificate in what should be that of its authority".to_owned());
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Upstream").field(&self.place.url).finish()
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place.url)
    }
}

/// Why the API behind the door did not answer. Reads after "failed to".
#[derive(Debug)]
pub(super) enum UpstreamError {
    Target(String),
    Connect(io::Error),
    Talk(hyper::Error),
}

impl fmt::Display for UpstreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target(target) => write!(f, "ask for {target:?}: it is no path"),
            Self::Connect(error) => write!(f, "connect: {error}"),
            Self::Talk(error) => {
                let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
                write!(f, "be answered: {error}{}", cause.unwrap_or_default())
            }
        }
    }
}
