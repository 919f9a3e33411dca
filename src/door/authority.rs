//! The certificate authority of a run, and the encryption towards callers.
//!
//! Keys are made at each start and kept nowhere. The dates span every date that virtual time can have. Nobody is asked
//! who he is: that is known by the entrance he comes through, and what he may do is for the API to say.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose, SanType, date_time_ymd,
};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::rustls::server::NoServerSessionStorage;

use super::DoorError;

/// By these names a caller on this machine knows an API.
const NAMES: [&str; 4] = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];

/// Signs what callers are shown.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    pub(super) fn new() -> Result<Self, DoorError> {
        let mut params = for_ever(CertificateParams::default(), "scaleproof's door");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().map_err(DoorError::Certificate)?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(DoorError::Certificate)?;
        Ok(Self { pem: issuer.pem(), issuer })
    }

    /// What callers must trust.
    pub(super) fn pem(&self) -> &str {
        &self.pem
    }

    /// Opens connections as `host`, or as whatever this machine is called.
    pub(super) fn acceptor(&self, host: Option<&str>) -> Result<TlsAcceptor, DoorError> {
        let names: Vec<String> =
            host.map_or_else(|| NAMES.map(str::to_owned).to_vec(), |host| vec![host.to_owned()]);
        let mut params = CertificateParams::new(names).map_err(DoorError::Certificate)?;
        params = for_ever(params, host.unwrap_or(NAMES[0]));
        for address in [std::net::Ipv4Addr::LOCALHOST.into(), std::net::Ipv6Addr::LOCALHOST.into()] {
            params.subject_alt_names.push(SanType::IpAddress(address));
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().map_err(DoorError::Certificate)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(DoorError::Certificate)?;
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(DoorError::Tls)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .map_err(DoorError::Tls)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // A ticket that a caller leaves unread looks as if something were on its way for ever.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// From the first date that virtual time can have to after the last.
fn for_ever(mut params: CertificateParams, name: &str) -> CertificateParams {
    params.not_before = date_time_ymd(1970, 1, 1);
    params.not_after = date_time_ymd(2554, 1, 1);
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}
