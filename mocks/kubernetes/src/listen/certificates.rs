//! A certificate authority of this control plane's own, and what it signs: the server, and an administrator.
//!
//! Nothing is kept: each start makes new keys. The dates span every date that virtual time can have, so a client is
//! never told that a certificate is not valid yet.

use std::net::IpAddr;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, SanType, date_time_ymd,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// By these names a server is known inside and beside its cluster.
const NAMES: [&str; 5] = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
];

/// Whom the administrator's certificate names, and the group that may do everything.
const ADMIN: &str = "kubernetes-admin";
const ADMIN_GROUP: &str = "system:masters";

/// The authority and the two it signed at the start.
pub(crate) struct Certificates {
    pub(crate) authority_pem: String,
    pub(crate) authority: CertificateDer<'static>,
    pub(crate) server: CertificateDer<'static>,
    pub(crate) server_key: PrivateKeyDer<'static>,
    pub(crate) admin: Credentials,
}

/// A client certificate and its key, as a kubeconfig holds them.
#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) certificate_pem: String,
    pub(crate) key_pem: String,
}

impl Certificates {
    /// `names` are further host names or addresses under which clients will reach the server.
    pub(crate) fn new(names: &[String]) -> Result<Self, rcgen::Error> {
        let issuer = CertifiedIssuer::self_signed(authority_params(), KeyPair::generate()?)?;
        let server_key = KeyPair::generate()?;
        let server = server_params(names)?.signed_by(&server_key, &issuer)?;
        let admin = administrator(&issuer)?;
        Ok(Self {
            authority_pem: issuer.pem(),
            authority: issuer.der().clone(),
            server: server.der().clone(),
            server_key: PrivatePkcs8KeyDer::from(server_key.serialize_der()).into(),
            admin,
        })
    }
}

fn authority_params() -> CertificateParams {
    let mut params = for_ever(CertificateParams::default());
    params.distinguished_name.push(DnType::CommonName, "kubernetes");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    params
}

fn server_params(names: &[String]) -> Result<CertificateParams, rcgen::Error> {
    let all: Vec<String> = NAMES.iter().map(ToString::to_string).chain(names.iter().cloned()).collect();
    let mut params = for_ever(CertificateParams::new(all)?);
    for address in ["127.0.0.1", "::1"] {
        let address: IpAddr = address.parse().expect("written above");
        params.subject_alt_names.push(SanType::IpAddress(address));
    }
    params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

fn administrator(issuer: &CertifiedIssuer<'static, KeyPair>) -> Result<Credentials, rcgen::Error> {
    let mut params = for_ever(CertificateParams::default());
    params.distinguished_name.push(DnType::OrganizationName, ADMIN_GROUP);
    params.distinguished_name.push(DnType::CommonName, ADMIN);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, issuer)?;
    Ok(Credentials { certificate_pem: certificate.pem(), key_pem: key.serialize_pem() })
}

/// From the first date that virtual time can have to after the last, and without rcgen's own name.
fn for_ever(mut params: CertificateParams) -> CertificateParams {
    params.not_before = date_time_ymd(1970, 1, 1);
    params.not_after = date_time_ymd(2554, 1, 1);
    params.distinguished_name = rcgen::DistinguishedName::new();
    params
}
