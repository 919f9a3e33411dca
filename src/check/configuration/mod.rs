//! Promises about settings and about starting. One a file, named after its claim.
