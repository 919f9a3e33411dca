//! Certificates and private keys in PEM: read, and checked against each other.
//!
//! Of a chain, the names are checked and the signatures are not. Keys are those that load balancers take: RSA of 2048
//! bits and more, the curves P-256 and P-384, and Ed25519.

use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    Ed25519KeyPair, KeyPair, RsaKeyPair,
};
use serde::{Deserialize, Serialize};
use x509_parser::asn1_rs::{FromDer, OctetString, Sequence};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::pem::Pem;

/// What a certificate says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) domain_names: Vec<String>,
    /// In seconds since 1970.
    pub(crate) not_before_s: i64,
    pub(crate) not_after_s: i64,
    /// SHA-256 of the certificate, in pairs of digits.
    pub(crate) fingerprint: String,
}

const CURVES: [&EcdsaSigningAlgorithm; 2] =
    [&ECDSA_P256_SHA256_ASN1_SIGNING, &ECDSA_P384_SHA384_ASN1_SIGNING];

/// Reads a chain. The error is a sentence for the one who sent it.
pub(super) fn chain(text: &str) -> Result<Facts, &'static str> {
    const INVALID: &str = "Not a valid certificate in PEM format.";
    let blocks = blocks(text).filter(|blocks| blocks.iter().all(|block| block.label == "CERTIFICATE"));
    let blocks = blocks.ok_or(INVALID)?;
    let all: Result<Vec<X509Certificate<'_>>, _> = blocks.iter().map(Pem::parse_x509).collect();
    let all = all.map_err(|_| INVALID)?;
    let certified = |pair: &[X509Certificate<'_>]| match pair {
        [one, next] => one.issuer() == next.subject(),
        _ => true,
    };
    if !all.windows(2).all(certified) {
        return Err("The chain is not in order: each certificate must certify the one before.");
    }
    let (first, block) = all.first().zip(blocks.first()).ok_or(INVALID)?;
    Ok(Facts {
        domain_names: names(first),
        not_before_s: first.validity().not_before.timestamp(),
        not_after_s: first.validity().not_after.timestamp(),
        fingerprint: fingerprint(&block.contents),
    })
}

/// Whether a private key is that of a chain's first certificate; none if it is no key.
pub(super) fn is_key_of(key: &str, chain: &str) -> Option<bool> {
    let certificate = blocks(chain)?.into_iter().next()?;
    let certificate = certificate.parse_x509().ok()?;
    let public = certificate.public_key().subject_public_key.data.as_ref();
    // What describes a curve may stand before the key.
    let key = blocks(key)?.into_iter().find(|block| block.label.ends_with("PRIVATE KEY"))?;
    match key.label.as_str() {
        "PRIVATE KEY" => Some(pkcs8(&key.contents)? == public),
        "RSA PRIVATE KEY" => Some(RsaKeyPair::from_der(&key.contents).ok()?.public_key().as_ref() == public),
        "EC PRIVATE KEY" => {
            let number = number(&key.contents)?;
            Some(CURVES.iter().any(|curve| is_pair(curve, &number, public)))
        }
        _ => None,
    }
}

/// The public half of a key that says itself of what kind it is.
fn pkcs8(key: &[u8]) -> Option<Vec<u8>> {
    if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key) {
        return Some(pair.public_key().as_ref().to_vec());
    }
    if let Ok(pair) = RsaKeyPair::from_pkcs8(key) {
        return Some(pair.public_key().as_ref().to_vec());
    }
    // It wants a generator for signatures, and none is made here.
    let pair = |curve| EcdsaKeyPair::from_pkcs8(curve, key, &SystemRandom::new()).ok();
    CURVES.iter().find_map(|curve| Some(pair(curve)?.public_key().as_ref().to_vec()))
}

fn is_pair(curve: &'static EcdsaSigningAlgorithm, number: &[u8], public: &[u8]) -> bool {
    EcdsaKeyPair::from_private_key_and_public_key(curve, number, public, &SystemRandom::new()).is_ok()
}

/// The number that is the key of a curve.
fn number(key: &[u8]) -> Option<Vec<u8>> {
    let (_, sequence) = Sequence::from_der(key).ok()?;
    let (rest, _version) = u8::from_der(&sequence.content).ok()?;
    let (_, number) = OctetString::from_der(rest).ok()?;
    Some(number.as_ref().to_vec())
}

/// All blocks of a text in PEM; none if there are none or one is broken.
fn blocks(text: &str) -> Option<Vec<Pem>> {
    let blocks: Result<Vec<Pem>, _> = Pem::iter_from_buffer(text.as_bytes()).collect();
    blocks.ok().filter(|blocks| !blocks.is_empty())
}

/// The domains it is for; before there was a place for them, that was the name of its owner.
fn names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let alternative = certificate.subject_alternative_name().ok().flatten();
    let domain = |name: &GeneralName<'_>| match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        _ => None,
    };
    let names: Vec<String> = alternative
        .map_or_else(Vec::new, |extension| extension.value.general_names.iter().filter_map(domain).collect());
    if !names.is_empty() {
        return names;
    }
    let owner = certificate.subject().iter_common_name().filter_map(|name| name.as_str().ok());
    owner.map(str::to_owned).collect()
}

fn fingerprint(der: &[u8]) -> String {
    let pairs: Vec<String> = digest(&SHA256, der).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(":")
}
