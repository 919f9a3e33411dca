//! Promises about running pods, and about what is not the subject's. One a file, named after its claim.

pub(in crate::check) mod arriving_pods_save_their_node;
pub(in crate::check) mod bare_pods_keep_their_node;
pub(in crate::check) mod budgets_are_respected;
pub(in crate::check) mod delayed_deletions_wait;
pub(in crate::check) mod failing_drains_are_given_up;
pub(in crate::check) mod foreign_things_are_not_touched;
pub(in crate::check) mod freed_system_pods_let_go;
pub(in crate::check) mod loaded_nodes_outlive_a_start;
pub(in crate::check) mod local_storage_keeps_its_node;
pub(in crate::check) mod removal_has_an_order;
pub(in crate::check) mod small_sets_keep_their_node;
pub(in crate::check) mod system_pods_keep_their_node;
pub(in crate::check) mod unsafe_pods_keep_their_node;
