//! Promises about pools that fail, and their recovery. One a file, named after its claim.

pub(in crate::check) mod batches;
