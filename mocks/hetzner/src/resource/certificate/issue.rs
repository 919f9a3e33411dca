//! The authority behind managed certificates. Its decisions and its keys come from the seed.

use std::time::Duration;

use mock_clock::Time;
use rcgen::{CertificateParams, DnType, KeyPair, SerialNumber, date_time_ymd};

use crate::project::Chance;
use crate::resource::certificate::pem::{self, Facts};

/// How long one is valid.
const VALID: Duration = Duration::from_secs(90 * 24 * 3600);
/// What stands before the 32 bytes of an Ed25519 key in PKCS #8.
const ED25519: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// A certificate for these domains, which certifies itself; none for names that no certificate can hold. Nobody will
/// ask for its key, so the key is not kept.
pub(super) fn issue(names: &[String], now: Time, chance: &mut Chance) -> Option<(String, Facts)> {
    let mut key = ED25519.to_vec();
    for _ in 0..4 {
        key.extend(chance.draw().to_be_bytes());
    }
    let key = KeyPair::try_from(key).ok()?;
    let mut params = CertificateParams::new(names.to_vec()).ok()?;
    params.distinguished_name.push(DnType::CommonName, names.first()?.as_str());
    params.serial_number = Some(SerialNumber::from(chance.draw() >> 1));
    let since_1970 = Duration::from_secs(now.since(Time::EPOCH).as_secs());
    params.not_before = date_time_ymd(1970, 1, 1) + since_1970;
    params.not_after = params.not_before + VALID;
    let pem = params.self_signed(&key).ok()?.pem();
    let facts = pem::chain(&pem).ok()?;
    Some((pem, facts))
}
