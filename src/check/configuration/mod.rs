//! Promises about settings and about starting. One a file, named after its claim.

pub(in crate::check) mod orders_get_their_time;
pub(in crate::check) mod starts_with_its_rights;
