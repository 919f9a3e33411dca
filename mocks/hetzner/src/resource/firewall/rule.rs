//! One rule: read out of a body with all its mistakes, and brought to one form.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::call::labels::shown;
use crate::call::{Body, word};

/// How many a firewall can have, how many ranges a rule can, and how many ranges all its rules can together.
const MOST_RULES: usize = 50;
const MOST_RANGES: usize = 100;
const MOST_RANGES_OF_ALL: usize = 500;
/// How many characters a description can have.
const LONGEST_DESCRIPTION: usize = 255;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Direction {
    In,
    Out,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Protocol {
    Tcp,
    Udp,
    Icmp,
    Esp,
    Gre,
}

const DIRECTIONS: [(&str, Direction); 2] = [("in", Direction::In), ("out", Direction::Out)];

const PROTOCOLS: [(&str, Protocol); 5] = [
    ("tcp", Protocol::Tcp),
    ("udp", Protocol::Udp),
    ("icmp", Protocol::Icmp),
    ("esp", Protocol::Esp),
    ("gre", Protocol::Gre),
];

/// What may pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rule {
    pub(crate) direction: Direction,
    pub(crate) protocol: Protocol,
    /// One port or a range of them, for the protocols that have ports.
    pub(crate) port: Option<String>,
    pub(crate) source_ips: Vec<String>,
    pub(crate) destination_ips: Vec<String>,
    pub(crate) description: Option<String>,
}

/// Reads the rules of a firewall.
pub(super) fn list(body: &mut Body, field: &str) -> Option<Vec<Rule>> {
    let rules: Vec<Rule> = body.each(field, read)?.into_iter().flatten().collect();
    if rules.len() > MOST_RULES {
        body.wrong(field, format!("Longer than maximum length {MOST_RULES}."));
    }
    let ranges: usize = rules.iter().map(|rule| rule.source_ips.len() + rule.destination_ips.len()).sum();
    if ranges > MOST_RANGES_OF_ALL {
        body.wrong(field, format!("There are more than {MOST_RANGES_OF_ALL} effective rules."));
    }
    Some(rules)
}

fn read(body: &mut Body) -> Option<Rule> {
    let direction = body.needed("direction", |body, field| body.word(field, &DIRECTIONS));
    let protocol = body.needed("protocol", |body, field| body.word(field, &PROTOCOLS));
    let (source_ips, destination_ips) = (ranges(body, "source_ips"), ranges(body, "destination_ips"));
    let (source, destination) = (("source_ips", &*source_ips), ("destination_ips", &*destination_ips));
    match direction {
        Some(Direction::In) => one_side(body, source, destination),
        Some(Direction::Out) => one_side(body, destination, source),
        None => {}
    }
    let port = port(body, protocol);
    let description = body.text("description");
    if description.as_ref().is_some_and(|text| text.chars().count() > LONGEST_DESCRIPTION) {
        body.wrong("description", format!("Longer than maximum length {LONGEST_DESCRIPTION}."));
    }
    Some(Rule { direction: direction?, protocol: protocol?, port, source_ips, destination_ips, description })
}

/// A rule names the other side only: whence for what comes in, whither for what goes out.
fn one_side(body: &mut Body, named: (&str, &[String]), unnamed: (&str, &[String])) {
    if named.1.is_empty() {
        body.wrong(named.0, "Must not be empty for this direction.");
    }
    if !unnamed.1.is_empty() {
        body.wrong(unnamed.0, "Must be empty for this direction.");
    }
}

fn port(body: &mut Body, protocol: Option<Protocol>) -> Option<String> {
    let port = body.text("port");
    let has_ports = matches!(protocol?, Protocol::Tcp | Protocol::Udp);
    match &port {
        Some(_) if !has_ports => body.wrong("port", "Must not be given for this protocol."),
        None if has_ports => body.wrong("port", "Must be given for this protocol."),
        Some(text) if !is_port(text) => {
            body.wrong("port", "Must be a port or a range of ports, such as 80-85.");
        }
        _ => {}
    }
    port
}

fn is_port(text: &str) -> bool {
    let number = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0 && port.to_string() == text);
    match text.split_once('-') {
        None => number(text).is_some(),
        Some((first, last)) => number(first).zip(number(last)).is_some_and(|(first, last)| first <= last),
    }
}

fn ranges(body: &mut Body, field: &str) -> Vec<String> {
    let given = body.texts(field).unwrap_or_default();
    if given.len() > MOST_RANGES {
        body.wrong(field, format!("Longer than maximum length {MOST_RANGES}."));
    }
    let mut all = Vec::with_capacity(given.len());
    for text in given {
        match range(&text) {
            Some(range) => all.push(range),
            None => body.wrong(field, format!("{} is not a valid CIDR block.", shown(&text))),
        }
    }
    all
}

/// A range of addresses in the form that it is always shown in; none if it is no range, or has host bits.
fn range(text: &str) -> Option<String> {
    let (address, prefix) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let length: u32 = prefix.parse().ok().filter(|length: &u32| length.to_string() == prefix)?;
    let (most, host_bits) = match address {
        IpAddr::V4(address) => (32, address.to_bits().checked_shl(length).unwrap_or(0) != 0),
        IpAddr::V6(address) => (128, address.to_bits().checked_shl(length).unwrap_or(0) != 0),
    };
    (length <= most && !host_bits).then(|| format!("{address}/{length}"))
}

impl Rule {
    pub(super) fn show(&self) -> Value {
        json!({
            "direction": word(&DIRECTIONS, self.direction),
            "protocol": word(&PROTOCOLS, self.protocol),
            "port": self.port,
            "source_ips": self.source_ips,
            "destination_ips": self.destination_ips,
            "description": self.description,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ports_and_ranges() {
        for good in ["1", "80", "65535", "80-85", "80-80", "1-65535"] {
            assert!(is_port(good), "{good}");
        }
        for bad in ["", "0", "65536", "080", "+80", "any", "85-80", "80-", "-80", "1-2-3", " 80", "80 - 85"] {
            assert!(!is_port(bad), "{bad}");
        }
    }

    #[test]
    fn ranges_take_one_form() {
        for (given, shown) in [
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("10.0.1.0/24", "10.0.1.0/24"),
            ("10.0.1.1/32", "10.0.1.1/32"),
            ("::/0", "::/0"),
            ("2001:0db8:9a3b:ee58:05ca:990c:8bc9:c03b/128", "2001:db8:9a3b:ee58:5ca:990c:8bc9:c03b/128"),
            ("2001:DB8:ff00:42:0:0:0:0/64", "2001:db8:ff00:42::/64"),
        ] {
            assert_eq!(range(given).as_deref(), Some(shown), "{given}");
        }
        for bad in [
            "",
            "/",
            "10.0.0.0",
            "10.0.0.1/24",
            "10.0.0.0/33",
            "10.0.0.0/-1",
            "10.0.0.0/08",
            "::1/64",
            "::/129",
            "a/8",
        ] {
            assert_eq!(range(bad), None, "{bad}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// What is shown can be given again and is shown the same; host bits are never let through.
        #[test]
        fn a_range_stays_as_it_is_shown(address in any::<std::net::Ipv6Addr>(), length in 0_u32..200) {
            let shown = range(&format!("{address}/{length}"));
            let host = address.to_bits().checked_shl(length).unwrap_or(0);
            prop_assert_eq!(shown.is_some(), length <= 128 && host == 0);
            if let Some(shown) = shown {
                prop_assert_eq!(range(&shown), Some(shown));
            }
        }
    }
}
