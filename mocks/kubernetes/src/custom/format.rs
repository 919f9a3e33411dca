//! The formats of texts that are checked: `date-time`, `ipv4`, `uuid`, …
//!
//! Formats that a server does not know are no formats. Of the known, those no infrastructure resource uses (isbn,
//! credit card, …) accept every text here.

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    sync::LazyLock,
};

use base64::Engine as _;
use regex::Regex;

/// A format by the name the schema gives it.
#[derive(Debug)]
pub(crate) struct Format {
    pub(crate) name: String,
    valid: fn(&str) -> bool,
}

impl Format {
    /// The format of that name, if a server checks it. Dashes in the name do not count.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let valid: fn(&str) -> bool = match name.replace('-', "").as_str() {
            "datetime" => date_time,
            "date" => date,
            "duration" => duration,
            "byte" => {
                |text| !text.is_empty() && base64::engine::general_purpose::STANDARD.decode(text).is_ok()
            }
            "ipv4" => |text| text.parse::<Ipv4Addr>().is_ok(),
            "ipv6" => |text| text.contains(':') && text.parse::<Ipv6Addr>().is_ok(),
            "cidr" => cidr,
            "mac" => |text| MAC.is_match(text),
            "uuid" => |text| UUID.is_match(text),
            "uuid3" => |text| UUID.is_match(text) && hex_digit(text, 12) == Some(b'3'),
            "uuid4" => |text| UUID.is_match(text) && hex_digit(text, 12) == Some(b'4') && variant(text),
            "uuid5" => |text| UUID.is_match(text) && hex_digit(text, 12) == Some(b'5') && variant(text),
            "uri" => |text| URI.is_match(text),
            "email" => |text| EMAIL.is_match(text),
            "hostname" => |text| text.len() <= 255 && HOSTNAME.is_match(text),
            "hexcolor" => |text| HEX_COLOR.is_match(text),
            "k8sshortname" => |text| text.len() <= 63 && SHORT_NAME.is_match(text),
            "k8slongname" => |text| text.len() <= 253 && LONG_NAME.is_match(text),
            "bsonobjectid" | "isbn" | "isbn10" | "isbn13" | "creditcard" | "ssn" | "rgbcolor"
            | "password" => |_| true,
            _ => return None,
        };
        Some(Self { name: name.to_owned(), valid })
    }

    pub(crate) fn holds(&self, text: &str) -> bool {
        (self.valid)(text)
    }
}

macro_rules! patterns {
    ($($name:ident = $pattern:expr;)+) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($pattern).expect("the pattern is ours"));)+
    };
}

patterns! {
    MAC = "(?i)^([0-9a-f]{2}([:-][0-9a-f]{2}){5}|[0-9a-f]{2}([:-][0-9a-f]{2}){7}|[0-9a-f]{4}([.][0-9a-f]{4}){2,3})$";
    UUID = "(?i)^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$";
    URI = "^(/|[A-Za-z][A-Za-z0-9+.-]*:)[^\\x00-\\x20\\x7f]*$";
    EMAIL = "^([^@<>]* <)?[^@\\s<>]+@[^@\\s<>]+>?$";
    HOSTNAME = "^([a-zA-Z0-9\\pS\\pL]((-?[a-zA-Z0-9\\pS\\pL]{0,62})?)\
        |([a-zA-Z0-9\\pS\\pL](([a-zA-Z0-9\\-\\pS\\pL]{0,61}[a-zA-Z0-9\\pS\\pL])?)(\\.)){1,}([a-zA-Z\\pL]){2,63})$";
    HEX_COLOR = "(?i)^#?([0-9a-f]{3}|[0-9a-f]{6})$";
    SHORT_NAME = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
    LONG_NAME = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
    DATE = "^([0-9]{4})-([0-9]{2})-([0-9]{2})$";
    TIME = "^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$";
    GO_DURATION = "^[-+]?(0|(([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";
    // The wordier durations of Scala, which upstream finds anywhere in the text.
    WORDY_DURATION = "(?i)[0-9]+\\s*(nano|micro|milli|sec|min|hour|day|week|(ns|us|µs|ms|s|m|h|hr|d|w|wk)([^a-zµ]|$))";
}

fn date(text: &str) -> bool {
    DATE.is_match(text) && text.parse::<jiff::civil::Date>().is_ok()
}

fn date_time(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let mut parts = text.split('t');
    parts.next().is_some_and(date) && parts.next().is_some_and(|time| TIME.is_match(time))
}

fn duration(text: &str) -> bool {
    GO_DURATION.is_match(text) || WORDY_DURATION.is_match(text)
}

fn cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let Ok(bits) = bits.parse::<u8>() else { return false };
    address.parse::<Ipv4Addr>().is_ok() && bits <= 32 || address.parse::<Ipv6Addr>().is_ok() && bits <= 128
}

fn hex_digit(text: &str, index: usize) -> Option<u8> {
    text.bytes().filter(|&byte| byte != b'-').nth(index)
}

fn variant(text: &str) -> bool {
    hex_digit(text, 16).is_some_and(|digit| b"89abAB".contains(&digit))
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn formats_hold_what_they_should() {
        let cases = [
            ("date-time", "2024-02-29T23:59:59.5Z", true),
            ("date-time", "2023-02-29T00:00:00Z", false),
            ("date-time", "2024-01-01 00:00:00Z", false),
            ("date", "2024-1-1", false),
            ("duration", "1h30m", true),
            ("duration", "3 days", true),
            ("duration", "tomorrow", false),
            ("ipv4", "10.0.0.1", true),
            ("ipv6", "10.0.0.1", false),
            ("cidr", "10.0.0.0/33", false),
            ("uuid", "0F8FAD5B-D9CB-469F-A165-70867728950E", true),
            ("uuid4", "0f8fad5b-d9cb-369f-a165-70867728950e", false),
            ("mac", "00:00:5e:00:53:01", true),
            ("hostname", "node-1.example.com", true),
            ("k8s-short-name", "a.b", false),
            ("byte", "aGk=", true),
            ("byte", "a", false),
        ];
        for (format, text, holds) in cases {
            let format = Format::named(format).unwrap();
            assert_eq!(format.holds(text), holds, "{format:?} {text}");
        }
        assert!(Format::named("int32").is_none());
    }
}
