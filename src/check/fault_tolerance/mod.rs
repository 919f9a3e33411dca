//! Promises about what must survive the faults of others. One a file, named after its claim.

pub(in crate::check) mod a_failed_look_costs_no_server;
pub(in crate::check) mod conflicts_do_not_freeze;
pub(in crate::check) mod failed_orders_are_cleared_away;
pub(in crate::check) mod failed_removals_are_undone;
pub(in crate::check) mod few_calls_while_limited;
pub(in crate::check) mod first_loops_get_their_time;
pub(in crate::check) mod hung_calls_are_noticed;
pub(in crate::check) mod left_taints_are_cleared;
pub(in crate::check) mod lists_that_mislead_cost_nothing;
pub(in crate::check) mod lost_answers_are_lived_with;
pub(in crate::check) mod lost_servers_are_replaced;
pub(in crate::check) mod never_ready_nodes_go;
pub(in crate::check) mod no_deed_on_a_broken_view;
pub(in crate::check) mod nodes_without_an_id_survive;
pub(in crate::check) mod nothing_while_most_are_unready;
pub(in crate::check) mod only_the_leader_acts;
pub(in crate::check) mod short_outages_are_survived;
pub(in crate::check) mod slow_nodes_survive;
pub(in crate::check) mod watches_are_taken_up_again;
