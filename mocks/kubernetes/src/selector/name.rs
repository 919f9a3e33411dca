//! What may be a label's key and value. Admission has its own rules for objects; these are the ones selectors obey.

const KEY_LETTERS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
     alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_LETTERS: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
     '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex \
     used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const PREFIX_LETTERS: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
     or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// What is wrong with a label's key; nothing if it is fine.
pub(super) fn key_wrongs(key: &str) -> Vec<String> {
    let mut wrongs = Vec::new();
    let mut parts = key.split('/');
    let name = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, None) => name,
        (Some(prefix), Some(name), None) => {
            if prefix.is_empty() {
                wrongs.push("prefix part must be non-empty".to_owned());
            } else {
                wrongs.extend(prefix_wrongs(prefix).into_iter().map(|wrong| format!("prefix part {wrong}")));
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {KEY_LETTERS} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        wrongs.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        wrongs.push("name part must be no more than 63 bytes".to_owned());
    }
    if name.is_empty() || !words(name) {
        wrongs.push(format!("name part {KEY_LETTERS}"));
    }
    wrongs
}

/// What is wrong with a label's value; nothing if it is fine.
pub(super) fn value_wrongs(value: &str) -> Vec<String> {
    let mut wrongs = Vec::new();
    if value.len() > 63 {
        wrongs.push("must be no more than 63 bytes".to_owned());
    }
    if !words(value) {
        wrongs.push(VALUE_LETTERS.to_owned());
    }
    wrongs
}

fn prefix_wrongs(prefix: &str) -> Vec<String> {
    let mut wrongs = Vec::new();
    if prefix.len() > 253 {
        wrongs.push("must be no more than 253 bytes".to_owned());
    }
    let label = |label: &str| {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let ends = [label.bytes().next(), label.bytes().last()];
        ends.iter().all(|end| end.is_some_and(fits)) && label.bytes().all(|byte| fits(byte) || byte == b'-')
    };
    if !prefix.split('.').all(label) {
        wrongs.push(PREFIX_LETTERS.to_owned());
    }
    wrongs
}

/// Letters, digits and `-_.`, with a letter or a digit at both ends. Nothing at all is fine too.
fn words(text: &str) -> bool {
    let ends = [text.bytes().next(), text.bytes().last()];
    ends.iter().all(|end| end.is_none_or(|byte| byte.is_ascii_alphanumeric()))
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}
