//! Promises about buying nodes. One a file, named after its claim.

pub(in crate::check) mod a_missing_map_stops_nothing;
pub(in crate::check) mod cordoned_nodes_are_no_room;
pub(in crate::check) mod daemons_are_counted;
pub(in crate::check) mod expendable_pods_buy_nothing;
pub(in crate::check) mod honours_node_selectors;
pub(in crate::check) mod honours_taints_of_pools;
pub(in crate::check) mod no_order_twice;
pub(in crate::check) mod nominated_pods_buy_nothing;
pub(in crate::check) mod nothing_for_impossible_pods;
pub(in crate::check) mod reacts_in_time;
pub(in crate::check) mod startup_taints_mean_on_the_way;
pub(in crate::check) mod the_highest_priority_is_bought;
pub(in crate::check) mod the_least_waste_is_bought;
pub(in crate::check) mod waits_for_the_age_of_pods;
