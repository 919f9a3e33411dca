//! Label and field selectors, parsed and matched.
//!
//! `label` is what both forms of a label selector become, `text` reads the query string, `structural` the object with
//! `matchLabels` and `matchExpressions`, `field` the field selector. Errors are in upstream's words.

mod field;
mod label;
mod name;
mod structural;
mod text;

pub(crate) use field::FieldSelector;
pub(crate) use label::{Labels, Operator, Requirement, Selector};

/// Why a selector cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SelectorError(pub(crate) String);

impl std::fmt::Display for SelectorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SelectorError {}
