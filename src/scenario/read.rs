//! YAML text → [`Scenario`], or every mistake in it at once. It opens no file.

use serde_json::Value;

use super::{Scenario, references, sense};
use crate::code::Code;
use crate::document::{self, Mistakes};
use crate::terms::Room;

/// Says what is wrong with something that the cloud reads.
pub(super) type Judge = fn(&Value) -> Result<(), String>;

/// What a scenario speaks of and others know. Without it, anything will do.
#[derive(Clone, Copy, Default)]
pub struct Known<'a> {
    /// The expectations there are.
    pub codes: Option<&'a [Code]>,
    /// The machines that the cloud sells.
    pub machines: Option<&'a [&'a str]>,
    /// Where it sells them.
    pub locations: Option<&'a [&'a str]>,
    /// What a machine of the cloud has room for.
    pub room: Option<fn(&str) -> Option<Room>>,
    /// The ways of being wrong that `mock-autoscaler` has.
    pub defects: Option<&'a [&'a str]>,
    /// What is wrong with a trouble of the cloud.
    pub trouble: Option<Judge>,
    /// What is wrong with what somebody does in the cloud by hand.
    pub deed: Option<Judge>,
}

/// Reads a scenario.
pub fn read(file: &str, text: &str, known: Known<'_>) -> Result<Scenario, Mistakes> {
    document::read(file, text, |tree, mistakes| {
        mistakes.extend(references::mistakes(tree, known));
        mistakes.extend(sense::mistakes(tree, known));
    })
}

/// The JSON schema of a scenario: what [`read()`] accepts, and what editors complete.
pub fn schema() -> Value {
    document::schema::<Scenario>()
}
