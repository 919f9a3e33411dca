//! Addresses and ranges of addresses, read as leniently as a real server reads them in its older fields.

use std::net::IpAddr;

pub(crate) const NO_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
pub(crate) const NO_RANGE: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// An address. Zeros before a number of an old-style address mean nothing.
pub(crate) fn address(text: &str) -> Option<IpAddr> {
    text.parse().ok().or_else(|| without_zeros(text)?.parse().ok())
}

fn without_zeros(text: &str) -> Option<String> {
    let number = |part: &str| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let short = part.trim_start_matches('0');
        digits.then(|| if short.is_empty() { "0" } else { short }.to_owned())
    };
    let parts: Option<Vec<String>> = text.split('.').map(number).collect();
    parts.map(|parts| parts.join("."))
}

/// The address of a range, whose bits are not too many for it.
pub(crate) fn range(text: &str) -> Option<IpAddr> {
    let (start, bits) = text.split_once('/')?;
    let start = address(start)?;
    let most = if start.is_ipv4() { 32 } else { 128 };
    let plain = bits.len() <= 3 && bits.bytes().all(|byte| byte.is_ascii_digit());
    bits.parse::<u8>().ok().filter(|bits| plain && *bits <= most).map(|_| start)
}

/// Whether both families are there.
pub(crate) fn both_families(all: &[IpAddr]) -> bool {
    all.iter().any(is_old) && !all.iter().all(is_old)
}

/// An old address in the clothes of a new one is an old one.
fn is_old(address: &IpAddr) -> bool {
    address.to_canonical().is_ipv4()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_reads_is_read_and_no_more() {
        for good in ["10.0.0.1", "010.000.0.1", "::1", "2001:db8::ffff", "::ffff:1.2.3.4"] {
            assert!(address(good).is_some(), "{good}");
        }
        for bad in ["", "x", "10.0.0", "10.0.0.256", "10.0.0.1.2", "1..2.3", ":::"] {
            assert!(address(bad).is_none(), "{bad}");
        }
        for good in ["10.0.0.0/24", "10.0.0.1/0", "::/128"] {
            assert!(range(good).is_some(), "{good}");
        }
        for bad in ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "x/8", "::/129"] {
            assert!(range(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn two_families_are_two() {
        let all = |texts: &[&str]| texts.iter().filter_map(|text| address(text)).collect::<Vec<_>>();
        assert!(both_families(&all(&["10.0.0.1", "::1"])));
        assert!(!both_families(&all(&["10.0.0.1", "::ffff:1.2.3.4"])));
        assert!(!both_families(&all(&["::1", "::2"])));
    }
}
