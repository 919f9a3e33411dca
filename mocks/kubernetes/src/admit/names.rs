//! The syntax of names, labels and keys: each function says what is wrong with a text, in upstream's words.
//!
//! Checks are loops over bytes, because they run on every write; the expressions upstream quotes are text only.

use super::nature::NameRule;

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const KEY_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const LABEL_LENGTH: usize = 63;
const SUBDOMAIN_LENGTH: usize = 253;

/// What is wrong, if anything.
pub(crate) type Complaints = Vec<String>;

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = bytes.first().copied().is_some_and(is_lower) && bytes.last().copied().is_some_and(is_lower);
    ends && bytes.iter().all(|&byte| is_lower(byte) || byte == b'-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_key_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

/// The sentence of a broken expression.
fn expression(rule: &str, expression: &str, examples: &[&str]) -> String {
    let list: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{rule} (e.g. {}regex used for validation is '{expression}')", list.join(" or "))
}

fn at_most(length: usize) -> String {
    format!("must be no more than {length} characters")
}

fn at_most_bytes(length: usize) -> String {
    format!("must be no more than {length} bytes")
}

pub(crate) fn label(text: &str) -> Complaints {
    let mut wrong = Complaints::new();
    if text.len() > LABEL_LENGTH {
        wrong.push(at_most(LABEL_LENGTH));
    }
    if is_label(text) {
        return wrong;
    }
    if is_subdomain(text) {
        wrong.push("must not contain dots".to_owned());
        return wrong;
    }
    let rule = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
                and end with an alphanumeric character";
    wrong.push(expression(rule, LABEL, &["my-name", "123-abc"]));
    wrong
}

fn label_1035(text: &str) -> Complaints {
    let mut wrong = Complaints::new();
    if text.len() > LABEL_LENGTH {
        wrong.push(at_most(LABEL_LENGTH));
    }
    if !is_label(text) || text.starts_with(|first: char| first.is_ascii_digit()) {
        let rule = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
                    alphabetic character, and end with an alphanumeric character";
        wrong.push(expression(rule, "[a-z]([-a-z0-9]*[a-z0-9])?", &["my-name", "abc-123"]));
    }
    wrong
}

pub(crate) fn subdomain(text: &str) -> Complaints {
    subdomain_with(text, at_most)
}

fn subdomain_with(text: &str, too_long: fn(usize) -> String) -> Complaints {
    let mut wrong = Complaints::new();
    if text.len() > SUBDOMAIN_LENGTH {
        wrong.push(too_long(SUBDOMAIN_LENGTH));
    }
    if !is_subdomain(text) {
        let rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
                    and must start and end with an alphanumeric character";
        wrong.push(expression(rule, &format!("{LABEL}(\\.{LABEL})*"), &["example.com"]));
    }
    wrong
}

/// A name that can stand in a path.
pub(crate) fn segment(text: &str, is_prefix: bool) -> Complaints {
    if !is_prefix && matches!(text, "." | "..") {
        return vec![format!("may not be '{text}'")];
    }
    let illegal = ["/", "%"].into_iter().filter(|illegal| text.contains(illegal));
    illegal.map(|illegal| format!("may not contain '{illegal}'")).collect()
}

/// A name of a kind of object; of a prefix of names the last dash is forgiven.
pub(crate) fn name(rule: NameRule, text: &str, is_prefix: bool) -> Complaints {
    let masked;
    let text = if is_prefix && text.len() > 1 && text.ends_with('-') && rule != NameRule::Segment {
        masked = format!("{}a", text.get(..text.len() - 2).unwrap_or_default());
        &masked
    } else {
        text
    };
    match rule {
        NameRule::Subdomain => subdomain(text),
        NameRule::Label => label(text),
        NameRule::Label1035 => label_1035(text),
        NameRule::Segment => segment(text, is_prefix),
        NameRule::Driver => subdomain(&text.to_ascii_lowercase()),
        NameRule::Any => Complaints::new(),
    }
}

/// A label key, an annotation key, a resource name, a finalizer: a name with an optional domain before it.
pub(crate) fn qualified(text: &str) -> Complaints {
    let mut wrong = Complaints::new();
    let name = match text.split_once('/') {
        None => text,
        Some((_, name)) if name.contains('/') => {
            let rule = format!("a valid label key {KEY_RULE}");
            let sentence = expression(&rule, KEY, &["MyName", "my.name", "123-abc"]);
            wrong.push(format!(
                "{sentence} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ));
            return wrong;
        }
        Some(("", name)) => {
            wrong.push("prefix part must be non-empty".to_owned());
            name
        }
        Some((prefix, name)) => {
            let bad = subdomain_with(prefix, at_most_bytes);
            wrong.extend(bad.into_iter().map(|complaint| format!("prefix part {complaint}")));
            name
        }
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_LENGTH {
        wrong.push(format!("name part {}", at_most_bytes(LABEL_LENGTH)));
    }
    if !is_key_name(name) {
        let rule = format!("name part {KEY_RULE}");
        wrong.push(expression(&rule, KEY, &["MyName", "my.name", "123-abc"]));
    }
    wrong
}

pub(crate) fn label_value(text: &str) -> Complaints {
    let mut wrong = Complaints::new();
    if text.len() > LABEL_LENGTH {
        wrong.push(at_most_bytes(LABEL_LENGTH));
    }
    if !text.is_empty() && !is_key_name(text) {
        let rule = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
                    and must start and end with an alphanumeric character";
        wrong.push(expression(rule, &format!("({KEY})?"), &["MyValue", "my_value", "12345"]));
    }
    wrong
}

/// A key of a config map or a secret.
pub(crate) fn config_key(text: &str) -> Complaints {
    let mut wrong = Complaints::new();
    if text.len() > SUBDOMAIN_LENGTH {
        wrong.push(at_most(SUBDOMAIN_LENGTH));
    }
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if text.is_empty() || !text.bytes().all(is_legal) {
        let rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        wrong.push(expression(rule, "[-._a-zA-Z0-9]+", &["key.name", "KEY_NAME", "key-name"]));
    }
    match text {
        "." | ".." => wrong.push(format!("must not be '{text}'")),
        text if text.starts_with("..") => wrong.push("must not start with '..'".to_owned()),
        _ => {}
    }
    wrong
}

pub(crate) fn port_name(text: &str) -> Complaints {
    let mut wrong = Complaints::new();
    if text.len() > 15 {
        wrong.push(at_most(15));
    }
    if text.is_empty() || !text.bytes().all(|byte| is_lower(byte) || byte == b'-') {
        wrong.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        wrong.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        wrong.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        wrong.push("must not begin or end with a hyphen".to_owned());
    }
    wrong
}

/// A name of an environment variable: printable, and without an equals sign.
pub(crate) fn variable(text: &str) -> Complaints {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=') {
        return Complaints::new();
    }
    vec![
        "a valid environment variable name must consist only of printable ASCII characters other than '='"
            .to_owned(),
    ]
}

pub(crate) fn header(text: &str) -> Complaints {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Complaints::new();
    }
    let rule = "a valid HTTP header must consist of alphanumeric characters or '-'";
    vec![expression(rule, "[-A-Za-z0-9]+", &["X-Header-Name"])]
}

/// `25%`.
pub(crate) fn percent(text: &str) -> Complaints {
    let digits = text.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Complaints::new();
    }
    let rule = "a valid percent string must be a numeric string followed by an ending '%'";
    vec![expression(rule, "[0-9]+%", &["1%", "93%"])]
}

pub(crate) fn between(low: i64, high: i64) -> String {
    format!("must be between {low} and {high}, inclusive")
}

pub(crate) fn port(number: i64) -> Complaints {
    if (1..=65535).contains(&number) { Complaints::new() } else { vec![between(1, 65535)] }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_loops_agree_with_the_expressions(text in "[-a-zA-Z0-9._/ä]{0,70}") {
            let whole = |pattern: &str| regex::Regex::new(&format!("^(?:{pattern})$")).unwrap();
            prop_assert_eq!(is_label(&text), whole(LABEL).is_match(&text));
            prop_assert_eq!(is_subdomain(&text), whole(&format!("{LABEL}(\\.{LABEL})*")).is_match(&text));
            prop_assert_eq!(is_key_name(&text), whole(KEY).is_match(&text));
        }
    }

    #[test]
    fn a_prefix_may_end_with_a_dash() {
        assert!(name(NameRule::Subdomain, "web-", true).is_empty());
        assert!(!name(NameRule::Subdomain, "web-", false).is_empty());
        assert!(!name(NameRule::Label, "a.b", false).is_empty());
        assert!(name(NameRule::Segment, "system:node", false).is_empty());
    }

    #[test]
    fn a_key_is_told_what_part_of_it_is_wrong() {
        assert_eq!(
            qualified("example.com/"),
            [
                "name part must be non-empty",
                "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
             alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
             '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            ]
        );
        assert!(qualified("a/b/c")[0].starts_with("a valid label key must consist of"));
    }
}
