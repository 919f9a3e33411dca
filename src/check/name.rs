//! What a finding is called in every report: the code of an expectation, or the number of the step of the scenario that it is about.
//! Codes come before steps.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::code::{Code, CodeError};

/// What a finding is called: `SU-01`, or `step 4`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Name {
    /// The code of an expectation.
    Code(Code),
    /// A step, counted from 1.
    Step(usize),
}

impl Name {
    /// The code, if it is one.
    pub fn code(&self) -> Option<&Code> {
        match self {
            Name::Code(code) => Some(code),
            Name::Step(_) => None,
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Code(code) => code.fmt(f),
            Name::Step(number) => f.pad(&format!("step {number}")),
        }
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.to_string()
    }
}

impl TryFrom<String> for Name {
    type Error = CodeError;
    fn try_from(text: String) -> Result<Self, CodeError> {
        match text.strip_prefix("step ").and_then(|number| number.parse().ok()) {
            Some(number) => Ok(Name::Step(number)),
            None => text.try_into().map(Name::Code),
        }
    }
}

impl From<Code> for Name {
    fn from(code: Code) -> Self {
        Name::Code(code)
    }
}

impl PartialEq<Code> for Name {
    fn eq(&self, code: &Code) -> bool {
        self.code() == Some(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_as_it_is_written() {
        for text in ["SU-01", "step 4", "step 12"] {
            let name: Name = text.to_owned().try_into().unwrap();
            assert_eq!(name.to_string(), text);
        }
        assert!(Name::try_from("step four".to_owned()).is_err());
        assert!(Name::Code(Code::new("XX-99")) < Name::Step(1) && Name::Step(2) < Name::Step(10));
        assert!(Name::Code(Code::new("SU-01")) == Code::new("SU-01"));
    }
}
