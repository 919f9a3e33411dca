//! All expectations, in the order of their codes, with the words of the files in which they are decided.
//!
//! The words are the files' own, compiled in: they cannot drift.

use std::fmt::Write as _;

use super::Expectation;
use crate::code::Code;

/// An expectation and the source in which it stands.
struct Entry {
    expectation: &'static Expectation,
    source: &'static str,
}

macro_rules! checks {
    ($($topic:ident :: $claim:ident,)*) => {
        /// One line a check.
        static ENTRIES: &[Entry] = &[$(Entry {
            expectation: {
                static EXPECTATION: Expectation = super::$topic::$claim::EXPECTATION;
                &EXPECTATION
            },
            source: include_str!(concat!(stringify!($topic), "/", stringify!($claim), ".rs")),
        },)*];
    };
}

checks! {
    scale_up::reacts_in_time,
    scale_up::cordoned_nodes_are_no_room,
    fault_tolerance::lost_servers_are_replaced,
    fault_tolerance::watches_are_taken_up_again,
    scale_up::nothing_for_impossible_pods,
    scale_up::honours_node_selectors,
    scale_up::expendable_pods_buy_nothing,
    scale_up::nominated_pods_buy_nothing,
    scale_up::honours_taints_of_pools,
    scale_up::waits_for_the_age_of_pods,
    scale_up::no_order_twice,
    scale_up::the_highest_priority_is_bought,
    scale_up::the_least_waste_is_bought,
    bounds::never_above_maximum,
    bounds::never_below_minimum,
    bounds::not_filled_without_need,
    bounds::minimum_is_enforced,
    bounds::not_shrunk_while_needed,
    bounds::total_of_nodes_holds,
    pod_safety::system_pods_keep_their_node,
    pod_safety::unsafe_pods_keep_their_node,
    pod_safety::local_storage_keeps_its_node,
    pod_safety::bare_pods_keep_their_node,
    scale_down::unneeded_nodes_go_in_time,
    scale_down::pools_reach_zero,
    scale_down::unready_nodes_go,
    fault_tolerance::never_ready_nodes_go,
    scale_down::nothing_goes_after_an_order,
    scale_down::drains_do_not_overlap,
    scale_down::few_go_at_once,
    scale_down::used_nodes_stay,
    scale_down::evicted_pods_find_room,
    scale_down::protected_nodes_stay,
    scale_down::no_flapping,
    scale_down::node_objects_are_not_deleted,
    scale_down::residents_of_empty_nodes_stay,
    pod_safety::budgets_are_respected,
    pod_safety::failing_drains_are_given_up,
    pod_safety::freed_system_pods_let_go,
    pod_safety::removal_has_an_order,
    pod_safety::delayed_deletions_wait,
    pod_safety::loaded_nodes_outlive_a_start,
    pod_safety::foreign_things_are_not_touched,
    backoff::failing_pools_back_off,
    backoff::another_pool_steps_in,
    backoff::pools_come_back,
    backoff::what_never_comes_is_given_up,
    hygiene::nothing_leaks,
    hygiene::what_never_registers_goes,
    hygiene::slow_orders_are_cleared_away,
    hygiene::finished_orders_are_kept,
    hygiene::candidates_are_cleared,
    hygiene::the_status_is_fresh,
    hygiene::idle_calls_are_few,
    fault_tolerance::few_calls_while_limited,
    fault_tolerance::no_deed_on_a_broken_view,
    fault_tolerance::only_the_leader_acts,
    fault_tolerance::left_taints_are_cleared,
    fault_tolerance::nothing_while_most_are_unready,
    fault_tolerance::failed_removals_are_undone,
    fault_tolerance::slow_nodes_survive,
    fault_tolerance::lists_that_mislead_cost_nothing,
    fault_tolerance::first_loops_get_their_time,
    fault_tolerance::nodes_without_an_id_survive,
    configuration::starts_with_its_rights,
    configuration::orders_get_their_time,
    fault_tolerance::hung_calls_are_noticed,
    bounds::unregistered_stay_at_minimum,
    fault_tolerance::lost_answers_are_lived_with,
    fault_tolerance::a_failed_look_costs_no_server,
    fault_tolerance::failed_orders_are_cleared_away,
    fault_tolerance::conflicts_do_not_freeze,
    fault_tolerance::short_outages_are_survived,
    hygiene::ends_leave_nothing,
    hygiene::events_tell_what_happens,
    bounds::totals_of_cores_and_memory_hold,
    pod_safety::small_sets_keep_their_node,
    pod_safety::arriving_pods_save_their_node,
    scale_up::a_missing_map_stops_nothing,
    scale_up::daemons_are_counted,
    scale_up::startup_taints_mean_on_the_way,
    scale_down::failures_bring_a_pause,
    backoff::broken_pools_stop_nobody,
    backoff::what_was_bought_is_kept,
    bounds::limits_are_read_again,
    backoff::conflicts_are_no_failure,
    backoff::failed_machines_are_replaced,
    scale_down::rolling_groups_are_left_alone,
    scale_down::paused_groups_are_left_alone,
    scale_down::the_marked_machine_goes,
    hygiene::marks_are_taken_back,
    hygiene::a_timeout_brings_a_back_off,
    karpenter::a_restart_unlocks_nothing,
    karpenter::annotated_nodes_stay,
    karpenter::attached_volumes_are_waited_for,
    karpenter::behaviour_is_no_drift,
    karpenter::blocking_budgets_keep_their_node,
    karpenter::budgets_of_pools_hold,
    karpenter::chosen_nodes_are_let_go_or_go,
    karpenter::chosen_nodes_are_tainted_first,
    karpenter::claims_are_held_first,
    karpenter::deleted_nodes_take_their_claims,
    karpenter::what_was_told_to_go_is_gone,
    karpenter::drift_is_mended,
    karpenter::empty_drifted_nodes_go,
    karpenter::empty_nodes_go,
    karpenter::empty_nodes_go_under_churn,
    karpenter::leases_of_nobody_are_collected,
    karpenter::never_is_never,
    karpenter::nodes_are_registered,
    karpenter::nodes_of_others_are_not_touched,
    karpenter::not_before_its_time,
    karpenter::old_nodes_expire,
    karpenter::pinned_pods_are_not_evicted,
    karpenter::pinned_pods_keep_their_node,
    karpenter::pods_leave_by_eviction,
    karpenter::replacements_are_ready_first,
    karpenter::starting_nodes_are_not_chosen,
    karpenter::servers_go_with_their_claims,
    karpenter::stuck_pods_buy_nothing,
    karpenter::taints_of_others_survive,
    karpenter::the_grace_period_bounds_a_drain,
    karpenter::untold_pods_buy_nothing,
    karpenter::usable_nodes_are_ready,
    karpenter::used_nodes_of_empty_pools_stay,
}

/// All expectations, by their codes.
pub fn catalogue() -> Vec<&'static Expectation> {
    let mut all: Vec<&Expectation> = ENTRIES.iter().map(|entry| entry.expectation).collect();
    all.sort_by(|one, other| one.code.cmp(&other.code));
    all
}

/// An expectation by its code.
pub(super) fn find(code: &Code) -> Option<&'static Expectation> {
    ENTRIES.iter().map(|entry| entry.expectation).find(|expectation| expectation.code == *code)
}

/// What an expectation means, what the smallest history looks like that violates it, and what its check does not catch: the
/// words of its file. `None` if there is no such expectation.
pub fn explain(code: &Code) -> Option<String> {
    let entry = ENTRIES.iter().find(|entry| entry.expectation.code == *code)?;
    let doc = entry.source.lines().map_while(|line| line.strip_prefix("//!"));
    let words: Vec<&str> = doc.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let mut text = format!("{}\n\n", words.join("\n").trim_end());
    for citation in entry.expectation.cite {
        let _ = writeln!(text, "{}\n  {}", citation.where_, citation.url);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::check::{Kind, Level};

    #[test]
    fn each_code_is_given_once_and_its_file_speaks_of_it() {
        let codes: BTreeSet<&Code> = ENTRIES.iter().map(|entry| &entry.expectation.code).collect();
        assert_eq!(codes.len(), ENTRIES.len());
        for entry in ENTRIES {
            let code = entry.expectation.code.as_str();
            assert!(entry.source.starts_with(&format!("//! {code}. ")), "{code}");
            let words = explain(&entry.expectation.code).unwrap();
            assert!(words.contains("```text") && words.contains("does not catch"), "{code}: {words}");
            assert!(code.parse::<Code>().is_ok(), "{code}");
        }
        assert_eq!(explain(&Code::new("XX-99")), None);
    }

    #[test]
    fn what_must_be_is_written_in_a_document_for_users() {
        for expectation in catalogue() {
            assert!(!expectation.cite.is_empty() && !expectation.providers.is_empty(), "{expectation:?}");
            let document = expectation.cite.iter().any(|cite| !cite.url.contains("/issues/"));
            assert!(expectation.level == Level::Should || document, "{expectation:?}");
            assert!(
                !expectation.promise.ends_with('.')
                    && expectation.cite.iter().all(|c| c.url.starts_with("https://"))
            );
        }
    }

    #[test]
    fn every_kind_of_promise_is_there() {
        let kinds: BTreeSet<Kind> = catalogue().iter().map(|expectation| expectation.kind).collect();
        assert_eq!(kinds.len(), 8);
    }
}
