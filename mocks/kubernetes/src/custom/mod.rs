//! Custom resources: definitions, structural schemas, defaulting, pruning, validation, CEL.
//!
//! A definition is read into a `Definition`, and each of its versions does the rest: it defaults, prunes and validates
//! objects, shows them in columns and scales them. No conversion webhook is called, and no cost of a rule is counted.

mod acceptance;
mod cel_value;
mod columns;
mod correlation;
mod defaulting;
mod definition;
mod embedded;
mod establishment;
mod evaluation;
mod format;
mod json_path;
mod keywords;
mod limits;
mod names;
mod node;
mod number;
mod openapi;
mod path;
mod pattern;
mod program;
mod pruning;
mod rule;
mod scaling;
mod structure;
mod uniqueness;
mod version;

#[cfg(test)]
mod tests;

pub(crate) use columns::cells;
pub(crate) use definition::{Column, Definition, Names, Scale, Version};
pub(crate) use establishment::{Taken, complete, establish, is_established};
