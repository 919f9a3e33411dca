//! Several processes on one clock: what the acceptance list asks of our own processes.
//!
//! Each test starts this very binary again as a peer, in the role that [`peer::ROLE`] names; that is why it has
//! a main function of its own.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

mod kill;
mod peer;
mod poll;
mod reads;
mod sleeps;
mod table;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    if let Some(role) = std::env::var_os(peer::ROLE) {
        return peer::play(role.to_str().expect("roles are plain words"));
    }
    let test = |name: &str, run: fn()| {
        Trial::test(name, move || {
            run();
            Ok::<(), Failed>(())
        })
    };
    let soak = |name: &str, run: fn()| test(name, run).with_ignored_flag(true);
    let trials = vec![
        test("reads::no_process_is_behind_another", reads::no_process_is_behind_another),
        test("sleeps::none_ends_early_in_two_processes", sleeps::none_ends_early_in_two_processes),
        test("sleeps::none_ends_early_at_a_constant_rate", sleeps::none_ends_early_at_a_constant_rate),
        test("poll::a_polled_server_never_times_out", poll::a_polled_server_never_times_out),
        test("poll::nor_beside_spinning_processes", poll::nor_beside_spinning_processes),
        soak(
            "poll::nor_in_twenty_runs_beside_spinning_processes",
            poll::nor_in_twenty_runs_beside_spinning_processes,
        ),
        test("poll::two_small_writes_never_time_out", poll::two_small_writes_never_time_out),
        test("poll::nor_do_they_in_a_row", poll::nor_do_they_in_a_row),
        test("poll::a_slow_server_is_waited_for", poll::a_slow_server_is_waited_for),
        test(
            "poll::a_slow_server_is_waited_for_at_a_constant_rate",
            poll::a_slow_server_is_waited_for_at_a_constant_rate,
        ),
        test("kill::a_killed_peer_does_not_hang_the_clock", kill::a_killed_peer_does_not_hang_the_clock),
        test(
            "kill::a_killed_peer_does_not_hold_the_rate_down",
            kill::a_killed_peer_does_not_hold_the_rate_down,
        ),
        test("kill::a_stopped_peer_does_not_hang_the_clock", kill::a_stopped_peer_does_not_hang_the_clock),
        test("kill::a_killed_owner_does_not_hang_its_peers", kill::a_killed_owner_does_not_hang_its_peers),
        test(
            "table::a_peer_without_a_slot_stops_the_jumping",
            table::a_peer_without_a_slot_stops_the_jumping,
        ),
    ];
    let mut arguments = Arguments::from_args();
    // These tests measure each other's idleness if they share a process.
    arguments.test_threads = Some(1);
    libtest_mimic::run(&arguments, trials).exit_code()
}
