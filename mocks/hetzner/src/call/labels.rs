//! What a label's key and value may look like: Kubernetes' rules, and one prefix that Hetzner keeps for itself.
//!
//! Stands between the parsed body of a request and every resource that carries labels. It does not read selectors
//! (`selector` does, and asks here for the form of keys and values) and does not count labels.

use std::collections::BTreeMap;

/// What belongs to Hetzner alone.
const RESERVED_PREFIX: &str = "hetzner.cloud";
/// The longest name and the longest value.
const NAME_MAX: usize = 63;
/// The longest prefix.
const PREFIX_MAX: usize = 253;
/// How much of a text that is refused is told back.
const SHOWN_MAX: usize = 80;

/// All that is wrong with these labels, in the order of their keys; nothing if they can be stored.
pub(crate) fn mistakes(labels: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in labels {
        found.extend(key_mistake(key));
        if key.split_once('/').is_some_and(|(prefix, _)| prefix == RESERVED_PREFIX) {
            found.push(format!("label key {} uses the reserved prefix {RESERVED_PREFIX}/", shown(key)));
        }
        found.extend(value_mistake(value));
    }
    found
}

/// What is wrong with the form of a key. A reserved key is well formed: a selector may ask for it.
pub(crate) fn key_mistake(key: &str) -> Option<String> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if name.is_empty() {
        return Some(format!("label key {} has no name", shown(key)));
    }
    if name.len() > NAME_MAX {
        return Some(format!("the name of label key {} is longer than {NAME_MAX} characters", shown(key)));
    }
    if !is_name(name) {
        return Some(format!(
            "the name of label key {} must consist of alphanumeric characters, '-', '_' or '.', and must begin and \
             end with an alphanumeric character",
            shown(key)
        ));
    }
    prefix.and_then(|prefix| prefix_mistake(key, prefix))
}

fn prefix_mistake(key: &str, prefix: &str) -> Option<String> {
    if prefix.len() > PREFIX_MAX {
        return Some(format!(
            "the prefix of label key {} is longer than {PREFIX_MAX} characters",
            shown(key)
        ));
    }
    (!is_dns_subdomain(prefix))
        .then(|| format!("the prefix of label key {} must be a DNS subdomain in lower case", shown(key)))
}

/// What is wrong with the form of a value. The empty one is good.
pub(crate) fn value_mistake(value: &str) -> Option<String> {
    if value.len() > NAME_MAX {
        return Some(format!("label value {} is longer than {NAME_MAX} characters", shown(value)));
    }
    (!value.is_empty() && !is_name(value)).then(|| {
        format!(
            "label value {} must be empty or consist of alphanumeric characters, '-', '_' or '.', and must begin and \
             end with an alphanumeric character",
            shown(value)
        )
    })
}

fn is_name(text: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    edge(text.bytes().next()) && edge(text.bytes().next_back()) && text.bytes().all(inside)
}

fn is_dns_subdomain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.split('.').all(|part| {
        part.bytes().next().is_some_and(plain)
            && part.bytes().next_back().is_some_and(plain)
            && part.bytes().all(|byte| plain(byte) || byte == b'-')
    })
}

/// A text as it is told back: in quotes, its control characters visible, and not longer than an eye takes in.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(key: &str, value: &str) -> Vec<String> {
        mistakes(&BTreeMap::from([(key.to_owned(), value.to_owned())]))
    }

    #[test]
    fn what_clients_set_is_good() {
        let long = "a".repeat(63);
        let prefix = format!("{}/k", "a.".repeat(126) + "a");
        for key in [
            "k",
            "K_8.s-1",
            "karpenter.sh/managed-by",
            "hcloud/node-group",
            "a-b.c-d/e",
            "not-hetzner.cloud/x",
            &long,
            &prefix,
        ] {
            assert_eq!(told(key, ""), Vec::<String>::new(), "{key}");
        }
        for value in ["", "a", "1.0_x-y", "hetzner.cloud", &long] {
            assert_eq!(told("k", value), Vec::<String>::new(), "{value}");
        }
    }

    #[test]
    fn a_bad_key_is_told_once() {
        let long = "a".repeat(64);
        let prefix = format!("{}/k", "a.".repeat(126) + "aa");
        for (key, about) in [
            ("", "has no name"),
            ("/", "has no name"),
            ("example.com/", "has no name"),
            ("-a", "alphanumeric"),
            ("a-", "alphanumeric"),
            ("a b", "alphanumeric"),
            ("ä", "alphanumeric"),
            ("a/b/c", "alphanumeric"),
            ("/a", "DNS subdomain"),
            ("Example.com/a", "DNS subdomain"),
            ("a..b/c", "DNS subdomain"),
            ("-a/c", "DNS subdomain"),
            ("a_b/c", "DNS subdomain"),
            ("hetzner.cloud/a", "reserved"),
            (&long, "longer than 63"),
            (&prefix, "longer than 253"),
        ] {
            let told = told(key, "v");
            assert_eq!(told.len(), 1, "{key}: {told:?}");
            assert!(told.iter().all(|told| told.contains(about)), "{key}: {told:?}");
        }
    }

    #[test]
    fn a_bad_value_is_told() {
        for value in ["-", "a ", "a/b", "a,b", "ü", "_a", "a\n", &"a".repeat(64)] {
            assert_eq!(told("k", value).len(), 1, "{value:?}");
        }
    }

    #[test]
    fn all_mistakes_come_at_once_and_short() {
        let labels = BTreeMap::from([("ä".repeat(500), "ok".to_owned()), ("k".to_owned(), "é".repeat(500))]);
        let told = mistakes(&labels);
        assert_eq!(told.len(), 2);
        assert!(told.iter().all(|told| told.chars().count() < 200), "{told:?}");
    }
}
