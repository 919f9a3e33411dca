//! A range of IPv4 addresses in CIDR notation, such as `10.0.0.0/16`.
//!
//! Stands below everything that speaks of networks, subnets and routes. It says how ranges lie to each other and
//! not who uses them.

use std::fmt;
use std::net::Ipv4Addr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A range whose host bits are all zero; ordered by its first address, the wider first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Range {
    first: Ipv4Addr,
    prefix: u8,
}

impl Range {
    /// The range of all addresses, which is what a default route leads to.
    pub(crate) const ALL: Range = Range { first: Ipv4Addr::UNSPECIFIED, prefix: 0 };

    /// What RFC 1918 sets aside for private networks.
    const PRIVATE: [Range; 3] = [
        Range { first: Ipv4Addr::new(10, 0, 0, 0), prefix: 8 },
        Range { first: Ipv4Addr::new(172, 16, 0, 0), prefix: 12 },
        Range { first: Ipv4Addr::new(192, 168, 0, 0), prefix: 16 },
    ];

    /// Reads `10.0.0.0/16`. The error is a sentence for the one who sent it.
    pub(crate) fn parse(text: &str) -> Result<Range, String> {
        let form = || "must be an IPv4 range in CIDR notation, such as 10.0.0.0/16".to_owned();
        let (address, prefix) = text.split_once('/').ok_or_else(form)?;
        let first: Ipv4Addr = address.parse().map_err(|_| form())?;
        let bits: u8 = prefix.parse().map_err(|_| form())?;
        if bits.to_string() != prefix {
            return Err(form());
        }
        let range = Range::around(first, bits).ok_or_else(form)?;
        if range.first != first {
            return Err(format!("has host bits set: the range around {text} is {range}"));
        }
        Ok(range)
    }

    /// The range of this size that holds the address; `None` if there is no such size.
    pub(crate) fn around(address: Ipv4Addr, prefix: u8) -> Option<Range> {
        let host_bits = 32_u32.checked_sub(u32::from(prefix))?;
        let mask = u32::MAX.checked_shl(host_bits).unwrap_or(0);
        Some(Range { first: Ipv4Addr::from_bits(address.to_bits() & mask), prefix })
    }

    /// The network's own address.
    pub(crate) fn first(self) -> Ipv4Addr {
        self.first
    }

    /// The broadcast address.
    pub(crate) fn last(self) -> Ipv4Addr {
        let hosts = u32::MAX.checked_shr(u32::from(self.prefix)).unwrap_or(0);
        Ipv4Addr::from_bits(self.first.to_bits() | hosts)
    }

    /// The length of the netmask.
    pub(crate) fn prefix(self) -> u8 {
        self.prefix
    }

    /// The address after the network's own, where a gateway sits.
    pub(crate) fn gateway(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.first.to_bits().saturating_add(1)).min(self.last())
    }

    /// Whether the address lies inside.
    pub(crate) fn holds(self, address: Ipv4Addr) -> bool {
        (self.first..=self.last()).contains(&address)
    }

    /// Whether the other range lies inside, or is the same.
    pub(crate) fn contains(self, other: Range) -> bool {
        self.first <= other.first && other.last() <= self.last()
    }

    /// Whether the two have an address in common.
    pub(crate) fn overlaps(self, other: Range) -> bool {
        self.first <= other.last() && other.first <= self.last()
    }

    /// Whether it lies inside the private ranges of RFC 1918.
    pub(crate) fn is_private(self) -> bool {
        Self::PRIVATE.iter().any(|private| private.contains(self))
    }

    /// The range of the same size that follows; `None` at the end of all addresses.
    pub(crate) fn following(self) -> Option<Range> {
        let first = self.last().to_bits().checked_add(1)?;
        Some(Range { first: Ipv4Addr::from_bits(first), prefix: self.prefix })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix)
    }
}

impl fmt::Debug for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Range {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Range {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Range::parse(&text).map_err(|problem| serde::de::Error::custom(format!("{text:?} {problem}")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::Config;

    use super::*;

    fn range(text: &str) -> Range {
        Range::parse(text).unwrap()
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "",
            "/",
            "10.0.0.0",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/-1",
            "10.0.0.0/+8",
            "10.0.0.0/08",
            "10.0.0/8",
            "10.0.0.256/32",
            "010.0.0.0/8",
            "fc00::/64",
            " 10.0.0.0/8",
            "10.0.0.0/8/8",
        ] {
            assert!(Range::parse(text).unwrap_err().contains("CIDR"), "{text}");
        }
        for (text, meant) in
            [("10.0.0.1/8", "10.0.0.0/8"), ("192.168.1.0/16", "192.168.0.0/16"), ("1.1.1.1/0", "0.0.0.0/0")]
        {
            assert!(Range::parse(text).unwrap_err().ends_with(meant), "{text}");
        }
    }

    #[test]
    fn its_ends_are_right_at_every_size() {
        for (text, last, gateway) in [
            ("0.0.0.0/0", [255, 255, 255, 255], [0, 0, 0, 1]),
            ("10.0.0.0/8", [10, 255, 255, 255], [10, 0, 0, 1]),
            ("10.0.1.0/24", [10, 0, 1, 255], [10, 0, 1, 1]),
            ("10.0.0.4/30", [10, 0, 0, 7], [10, 0, 0, 5]),
            ("10.0.0.4/32", [10, 0, 0, 4], [10, 0, 0, 4]),
            ("255.255.255.255/32", [255; 4], [255; 4]),
        ] {
            assert_eq!((range(text).last(), range(text).gateway()), (last.into(), gateway.into()), "{text}");
        }
        assert_eq!(Range::ALL, range("0.0.0.0/0"));
        assert_eq!(range("10.0.255.0/24").following(), Some(range("10.1.0.0/24")));
        assert_eq!(range("255.255.255.0/24").following(), None);
    }

    #[test]
    fn private_is_what_rfc_1918_says() {
        for text in ["10.0.0.0/8", "10.1.0.0/16", "172.16.0.0/12", "172.31.255.0/24", "192.168.0.0/16"] {
            assert!(range(text).is_private(), "{text}");
        }
        for text in
            ["10.0.0.0/7", "172.32.0.0/16", "172.0.0.0/8", "192.169.0.0/16", "0.0.0.0/0", "8.8.8.0/24"]
        {
            let outside = Range::parse(text).map(Range::is_private);
            assert!(!outside.unwrap_or(false), "{text}");
        }
    }

    proptest! {
        #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

        #[test]
        fn ranges_lie_to_each_other_as_their_addresses_do(
            // Close together, so that all ways of lying occur.
            one in 0..64u32, other in 0..64u32, prefix in 26..=32u8, second in 26..=32u8,
        ) {
            let base = Ipv4Addr::new(10, 0, 0, 0).to_bits();
            let all = || (base..base + 64).map(Ipv4Addr::from_bits);
            let one = Range::around(Ipv4Addr::from_bits(base + one), prefix).unwrap();
            let other = Range::around(Ipv4Addr::from_bits(base + other), second).unwrap();
            prop_assert_eq!(all().filter(|&ip| one.holds(ip)).count(), 1 << (32 - prefix));
            prop_assert_eq!(one.overlaps(other), all().any(|ip| one.holds(ip) && other.holds(ip)));
            prop_assert_eq!(one.contains(other), all().all(|ip| one.holds(ip) || !other.holds(ip)));
            let stored = serde_json::to_string(&one).unwrap();
            prop_assert_eq!(serde_json::from_str::<Range>(&stored).unwrap(), one);
        }

        #[test]
        fn no_text_harms_it(text in "[0-9./]{0,20}|.{0,20}") {
            if let Ok(range) = Range::parse(&text) {
                prop_assert_eq!(range.to_string(), text);
            }
        }
    }
}
