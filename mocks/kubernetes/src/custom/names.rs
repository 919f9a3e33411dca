//! The two kinds of DNS names that definitions are made of, and why a text is none.

/// Why it is no RFC 1035 label.
pub(crate) fn not_a_label(text: &str) -> Option<String> {
    let head = text.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
    let mut why = Vec::new();
    if text.len() > 63 {
        why.push("must be no more than 63 bytes".to_owned());
    }
    if !head || !is_segment(text) {
        why.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
             validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                .to_owned(),
        );
    }
    (!why.is_empty()).then(|| why.join(","))
}

/// Why it is no RFC 1123 subdomain.
pub(crate) fn not_a_subdomain(text: &str) -> Option<String> {
    let mut why = Vec::new();
    if text.len() > 253 {
        why.push("must be no more than 253 bytes".to_owned());
    }
    if !text.split('.').all(is_segment) {
        why.push(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                .to_owned(),
        );
    }
    (!why.is_empty()).then(|| why.join(","))
}

fn is_segment(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.bytes().all(known) && !text.starts_with('-') && !text.ends_with('-')
}
