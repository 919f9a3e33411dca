//! Promises about giving nodes back. One a file, named after its claim.

pub(in crate::check) mod drains_do_not_overlap;
pub(in crate::check) mod evicted_pods_find_room;
pub(in crate::check) mod failures_bring_a_pause;
pub(in crate::check) mod few_go_at_once;
pub(in crate::check) mod no_flapping;
pub(in crate::check) mod node_objects_are_not_deleted;
pub(in crate::check) mod nothing_goes_after_an_order;
pub(in crate::check) mod paused_groups_are_left_alone;
pub(in crate::check) mod pools_reach_zero;
pub(in crate::check) mod protected_nodes_stay;
pub(in crate::check) mod residents_of_empty_nodes_stay;
pub(in crate::check) mod rolling_groups_are_left_alone;
pub(in crate::check) mod the_marked_machine_goes;
pub(in crate::check) mod unneeded_nodes_go_in_time;
pub(in crate::check) mod unready_nodes_go;
pub(in crate::check) mod used_nodes_stay;
