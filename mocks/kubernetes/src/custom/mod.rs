//! Custom resources: definitions, structural schemas, defaulting, pruning, validation, CEL.
