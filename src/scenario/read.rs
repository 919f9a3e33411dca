//! YAML text → [`Scenario`], or every mistake in it at once. It opens no file.

use super::{Scenario, references};
use crate::code::Code;
use crate::document::{self, Mistakes};

/// Reads a scenario. `codes` are the expectations there are; without them any code will do.
pub fn read(file: &str, text: &str, codes: Option<&[Code]>) -> Result<Scenario, Mistakes> {
    document::read(file, text, |tree, mistakes| mistakes.extend(references::mistakes(tree, codes)))
}

/// The JSON schema of a scenario: what [`read()`] accepts, and what editors complete.
pub fn schema() -> serde_json::Value {
    document::schema::<Scenario>()
}
