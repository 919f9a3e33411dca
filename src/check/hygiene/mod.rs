//! Promises that nothing is left lying about. One a file, named after its claim.
