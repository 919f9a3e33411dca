//! Promises about minimum and maximum. One a file, named after its claim.

pub(in crate::check) mod limits_are_read_again;
pub(in crate::check) mod minimum_is_enforced;
pub(in crate::check) mod never_above_maximum;
pub(in crate::check) mod never_below_minimum;
pub(in crate::check) mod not_filled_without_need;
pub(in crate::check) mod not_shrunk_while_needed;
pub(in crate::check) mod total_of_nodes_holds;
pub(in crate::check) mod totals_of_cores_and_memory_hold;
pub(in crate::check) mod unregistered_stay_at_minimum;
