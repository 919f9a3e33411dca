//! Custom resources: definitions, structural schemas, defaulting, pruning, validation, CEL.

mod definition;

pub(crate) use definition::{Column, Definition, Names, Scale, Version};
