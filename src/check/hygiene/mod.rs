//! Promises that nothing is left lying about. One a file, named after its claim.

pub(in crate::check) mod a_timeout_brings_a_back_off;
pub(in crate::check) mod candidates_are_cleared;
pub(in crate::check) mod ends_leave_nothing;
pub(in crate::check) mod events_tell_what_happens;
pub(in crate::check) mod finished_orders_are_kept;
pub(in crate::check) mod idle_calls_are_few;
pub(in crate::check) mod marks_are_taken_back;
pub(in crate::check) mod nothing_leaks;
pub(in crate::check) mod slow_orders_are_cleared_away;
pub(in crate::check) mod the_status_is_fresh;
pub(in crate::check) mod what_never_registers_goes;
