//! Codes: what expectations (`SU-01`) and faults (`F102`) are called for ever, wherever they are spoken of.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A code. It is written beside the thing it names, never counted, and never given to another thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Code(Cow<'static, str>);

impl Code {
    /// The code of something in a catalogue of ours.
    pub const fn new(code: &'static str) -> Self {
        Self(Cow::Borrowed(code))
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<Code> for String {
    fn from(code: Code) -> String {
        code.0.into_owned()
    }
}

impl JsonSchema for Code {
    fn schema_name() -> Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "code", "pattern": "^[A-Z]{1,3}-?[0-9]{2,3}$"})
    }
}

/// A text that is no code. Reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeError(String);

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "read {:?} as a code: codes look like SU-01 or F102", self.0)
    }
}

impl std::error::Error for CodeError {}

impl TryFrom<String> for Code {
    type Error = CodeError;
    fn try_from(text: String) -> Result<Self, CodeError> {
        let letters = text.bytes().take_while(u8::is_ascii_uppercase).count();
        let digits = text[letters..].strip_prefix('-').unwrap_or(&text[letters..]);
        let fits = (1..=3).contains(&letters)
            && (2..=3).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        if fits { Ok(Self(Cow::Owned(text))) } else { Err(CodeError(text)) }
    }
}

impl FromStr for Code {
    type Err = CodeError;
    fn from_str(text: &str) -> Result<Self, CodeError> {
        text.to_owned().try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_letters_and_digits() {
        for code in ["SU-01", "F102", "HY-10"] {
            assert_eq!(code.parse::<Code>().unwrap().as_str(), code);
        }
        for other in ["", "su-01", "SU-1", "SU01x", "SUXY-01", "SU--1", "01"] {
            assert!(other.parse::<Code>().is_err(), "{other}");
        }
    }
}
