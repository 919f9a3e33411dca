//! Promises that only Karpenter makes, about claims and their nodes. One a file, named after its claim.

mod claims;
mod drift;
mod stay;

pub(in crate::check) mod a_restart_unlocks_nothing;
pub(in crate::check) mod annotated_nodes_stay;
pub(in crate::check) mod attached_volumes_are_waited_for;
pub(in crate::check) mod behaviour_is_no_drift;
pub(in crate::check) mod blocking_budgets_keep_their_node;
pub(in crate::check) mod budgets_of_pools_hold;
pub(in crate::check) mod chosen_nodes_are_let_go_or_go;
pub(in crate::check) mod chosen_nodes_are_tainted_first;
pub(in crate::check) mod claims_are_held_first;
pub(in crate::check) mod deleted_nodes_take_their_claims;
pub(in crate::check) mod drift_is_mended;
pub(in crate::check) mod empty_drifted_nodes_go;
pub(in crate::check) mod empty_nodes_go;
pub(in crate::check) mod empty_nodes_go_under_churn;
pub(in crate::check) mod leases_of_nobody_are_collected;
pub(in crate::check) mod never_is_never;
pub(in crate::check) mod nodes_are_registered;
pub(in crate::check) mod nodes_of_others_are_not_touched;
pub(in crate::check) mod not_before_its_time;
pub(in crate::check) mod old_nodes_expire;
pub(in crate::check) mod pinned_pods_are_not_evicted;
pub(in crate::check) mod pinned_pods_keep_their_node;
pub(in crate::check) mod pods_leave_by_eviction;
pub(in crate::check) mod replacements_are_ready_first;
pub(in crate::check) mod servers_go_with_their_claims;
pub(in crate::check) mod starting_nodes_are_not_chosen;
pub(in crate::check) mod stuck_pods_buy_nothing;
pub(in crate::check) mod taints_of_others_survive;
pub(in crate::check) mod the_grace_period_bounds_a_drain;
pub(in crate::check) mod untold_pods_buy_nothing;
pub(in crate::check) mod usable_nodes_are_ready;
pub(in crate::check) mod used_nodes_of_empty_pools_stay;
pub(in crate::check) mod what_was_told_to_go_is_gone;
