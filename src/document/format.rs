//! Texts that mean something: periods, versions, codes, names, shares of a machine. A schema names them by `format`.

use serde_json::Value;

use super::path::selected;
use crate::code::Code;
use crate::terms::{Period, Version};

/// A kind of text.
pub(super) struct Format {
    /// As a schema names it.
    pub(super) name: &'static str,
    /// As a sentence names it.
    pub(super) what: &'static str,
    /// How it is written.
    pub(super) looks: &'static str,
    /// Whether a text is one.
    pub(super) fits: fn(&str) -> bool,
}

/// All of them.
pub(super) const FORMATS: [Format; 8] = [
    Format {
        name: "period",
        what: "a period",
        looks: "periods look like 10m, 1h30m or 250ms",
        fits: |text| text.parse::<Period>().is_ok(),
    },
    Format {
        name: "version",
        what: "a version",
        looks: "versions are three numbers, such as 1.32.7",
        fits: |text| text.parse::<Version>().is_ok(),
    },
    Format {
        name: "code",
        what: "a code",
        looks: "codes look like SU-01",
        fits: |text| text.parse::<Code>().is_ok(),
    },
    Format {
        name: "name",
        what: "a name",
        looks: "names are small letters, digits and dashes, such as web-1",
        fits: is_name,
    },
    Format {
        name: "cpu",
        what: "an amount of processor",
        looks: "it looks like 500m or 2",
        fits: |text| cpu(text).is_some(),
    },
    Format {
        name: "memory",
        what: "an amount of memory",
        looks: "it looks like 512Mi or 2Gi",
        fits: |text| memory(text).is_some(),
    },
    Format {
        name: "euros",
        what: "an amount of money",
        looks: "it looks like 0.05, in quotes",
        fits: |text| euros(text).is_some(),
    },
    Format {
        name: "path",
        what: "a path into an object",
        looks: "paths look like .status.replicas or .status.conditions[?(@.type=='Ready')].status",
        fits: |text| selected(text, &Value::Null).is_some(),
    },
];

/// What Kubernetes takes for the name of almost anything.
fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Thousandths of a processor.
pub fn cpu(text: &str) -> Option<u64> {
    match text.strip_suffix('m') {
        Some(thousandths) => digits(thousandths),
        None => digits(text)?.checked_mul(1000),
    }
}

/// Mebibytes.
pub fn memory(text: &str) -> Option<u64> {
    match text.strip_suffix("Gi") {
        Some(gibibytes) => digits(gibibytes)?.checked_mul(1024),
        None => digits(text.strip_suffix("Mi")?),
    }
}

/// Thousandths of a euro.
pub fn euros(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str, most| {
        let fits = (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if fits { text.parse::<u64>().ok() } else { None }
    };
    Some(digits(whole, 6)? * 1000 + digits(&format!("{part:0<3}"), 3)?)
}

fn digits(text: &str) -> Option<u64> {
    // Seven digits of gibibytes are more than any machine has, and nothing overflows.
    let fits = (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}
