//! Which version of a group goes first: `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`, then the rest by the alphabet.

use std::cmp::{Ordering, Reverse};

/// The order in which discovery lists versions: less is earlier.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    match (rank(a), rank(b)) {
        (Some(a), Some(b)) => Reverse(a).cmp(&Reverse(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Stability, major and minor of a version that is written the usual way.
fn rank(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let (major, tail) = rest.split_at(end);
    let major = number(major)?;
    if tail.is_empty() {
        return Some((2, major, 0));
    }
    let (stability, minor) = match (tail.strip_prefix("beta"), tail.strip_prefix("alpha")) {
        (Some(minor), _) => (1, minor),
        (_, Some(minor)) => (0, minor),
        (None, None) => return None,
    };
    Some((stability, major, number(minor)?))
}

fn number(digits: &str) -> Option<u64> {
    let plain = digits.bytes().all(|digit| digit.is_ascii_digit()) && !digits.starts_with('0');
    if plain { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_goes_before_beta_before_alpha_before_the_rest() {
        let sorted = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v12alpha1",
            "v11alpha2",
            "foo1",
            "foo10",
            "v01",
            "v1beta",
            "v1gamma1",
        ];
        let mut versions = sorted.to_vec();
        versions.reverse();
        versions.sort_by(|a, b| compare(a, b));
        assert_eq!(versions, sorted);
    }
}
