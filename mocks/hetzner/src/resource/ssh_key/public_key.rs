//! A public key in the form of OpenSSH: `ssh-ed25519 AAAA… comment`. Its form is checked, and its numbers are not.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};

/// What follows the name of the algorithm within the key.
#[derive(Clone, Copy)]
enum Part {
    /// Exactly these bytes.
    Word(&'static [u8]),
    /// So many bytes.
    Bytes(usize),
    /// An uncompressed point of a curve, of so many bytes.
    Point(usize),
    /// A number above zero.
    Number,
    /// A number of so many bits.
    Modulus { least: usize, most: usize },
    /// Some bytes.
    Text,
}

const RSA: Part = Part::Modulus { least: 1024, most: 16384 };

/// The algorithms that a server's system knows, and what their keys consist of.
const ALGORITHMS: &[(&str, &[Part])] = &[
    ("ssh-ed25519", &[Part::Bytes(32)]),
    ("ssh-rsa", &[Part::Number, RSA]),
    ("ecdsa-sha2-nistp256", &[Part::Word(b"nistp256"), Part::Point(65)]),
    ("ecdsa-sha2-nistp384", &[Part::Word(b"nistp384"), Part::Point(97)]),
    ("ecdsa-sha2-nistp521", &[Part::Word(b"nistp521"), Part::Point(133)]),
    ("sk-ssh-ed25519@openssh.com", &[Part::Bytes(32), Part::Text]),
    ("sk-ecdsa-sha2-nistp256@openssh.com", &[Part::Word(b"nistp256"), Part::Point(65), Part::Text]),
];

/// The fingerprint of a key, or none for what is no key.
pub(super) fn fingerprint(text: &str) -> Option<String> {
    if text.contains(|letter: char| letter.is_control() && letter != '\t') {
        return None;
    }
    let mut words = text.split_ascii_whitespace();
    let (algorithm, key) = (words.next()?, words.next()?);
    let key = STANDARD.decode(key).ok()?;
    if !is_key(algorithm, &key) {
        return None;
    }
    let pairs: Vec<String> = Md5::digest(&key).iter().map(|byte| format!("{byte:02x}")).collect();
    Some(pairs.join(":"))
}

fn is_key(algorithm: &str, key: &[u8]) -> bool {
    let Some((name, parts)) = ALGORITHMS.iter().find(|(name, _)| *name == algorithm) else { return false };
    let mut rest = key;
    let named = field(&mut rest) == Some(name.as_bytes());
    let fits = parts.iter().all(|part| field(&mut rest).is_some_and(|bytes| part.is(bytes)));
    named && fits && rest.is_empty()
}

/// The next field: its length in four bytes, and then as many.
fn field<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (field, after) = after.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    *rest = after;
    Some(field)
}

impl Part {
    fn is(self, bytes: &[u8]) -> bool {
        match self {
            Self::Word(word) => bytes == word,
            Self::Bytes(count) => bytes.len() == count,
            Self::Point(count) => bytes.len() == count && bytes.first() == Some(&4),
            Self::Number => bits(bytes).is_some_and(|bits| bits > 0),
            Self::Modulus { least, most } => bits(bytes).is_some_and(|bits| (least..=most).contains(&bits)),
            Self::Text => !bytes.is_empty(),
        }
    }
}

/// How many bits a number has, which is none for a negative one or one with needless zeros before it.
fn bits(number: &[u8]) -> Option<usize> {
    let digits = match number {
        [0, rest @ ..] if rest.first().is_some_and(|byte| byte & 0x80 != 0) => rest,
        [0, ..] => return None,
        _ if number.first().is_some_and(|byte| byte & 0x80 != 0) => return None,
        _ => number,
    };
    let leading = digits.first().map_or(0, |byte| byte.leading_zeros() as usize);
    Some((digits.len() * 8).saturating_sub(leading))
}
