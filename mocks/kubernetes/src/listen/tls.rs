//! The encryption of a connection: our certificate is shown, the client's is asked for, and dates are virtual.
//!
//! As a real server does, it lets every client finish the handshake. Whether its certificate is worth anything is
//! judged afterwards, so that whoever brings a wrong one is told 401 instead of being cut off.

use std::sync::Arc;
use std::time::Duration;

use mock_clock::{Clock as _, VirtualClock};
use tokio_rustls::rustls::client::danger::HandshakeSignatureValid;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use tokio_rustls::rustls::time_provider::TimeProvider;
use tokio_rustls::rustls::{
    DigitallySignedStruct, DistinguishedName, Error, RootCertStore, ServerConfig, ServerConnection,
    SignatureScheme,
};

use super::certificates::Certificates;
use super::identity::Shown;

/// How to open connections, and how to judge who opened them.
pub(crate) struct Tls {
    pub(crate) config: Arc<ServerConfig>,
    judge: Arc<dyn ClientCertVerifier>,
    clock: VirtualClock,
}

impl Tls {
    pub(crate) fn new(certificates: &Certificates, clock: &VirtualClock) -> Result<Self, Error> {
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(certificates.authority.clone())?;
        let judge = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .allow_unauthenticated()
            .build()
            .map_err(|e| Error::General(e.to_string()))?;
        let asker = Arc::new(Asker { judge: Arc::clone(&judge) });
        let time = Arc::new(VirtualTime { clock: clock.clone() });
        let mut config = ServerConfig::builder_with_details(provider, time)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(asker)
            .with_single_cert(vec![certificates.server.clone()], certificates.server_key.clone_key())?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // A handshake costs less than the tickets to save one, which a client that only writes would leave unread.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(Self { config: Arc::new(config), judge, clock: clock.clone() })
    }

    /// What the client of an open connection has shown.
    pub(crate) fn shown(&self, connection: &ServerConnection) -> Shown {
        let Some([certificate, others @ ..]) = connection.peer_certificates() else { return Shown::Nothing };
        let verdict = self.judge.verify_client_cert(certificate, others, unix_time(&self.clock));
        Shown::by(certificate, verdict.is_ok())
    }
}

fn unix_time(clock: &VirtualClock) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_nanos(clock.now().unix_nanos()))
}

/// Dates for the library.
#[derive(Debug)]
struct VirtualTime {
    clock: VirtualClock,
}

impl TimeProvider for VirtualTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(unix_time(&self.clock))
    }
}

/// Asks for certificates and takes any whose key the client holds.
#[derive(Debug)]
struct Asker {
    judge: Arc<dyn ClientCertVerifier>,
}

impl ClientCertVerifier for Asker {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.judge.root_hint_subjects()
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.judge.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.judge.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.judge.supported_verify_schemes()
    }
}
