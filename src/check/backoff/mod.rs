//! Promises about pools that fail, and their recovery. One a file, named after its claim.

pub(in crate::check) mod another_pool_steps_in;
pub(in crate::check) mod batches;
pub(in crate::check) mod broken_pools_stop_nobody;
pub(in crate::check) mod conflicts_are_no_failure;
pub(in crate::check) mod failed_machines_are_replaced;
pub(in crate::check) mod failing_pools_back_off;
pub(in crate::check) mod pools_come_back;
pub(in crate::check) mod what_never_comes_is_given_up;
pub(in crate::check) mod what_was_bought_is_kept;
