//! Programs that look at the clock all the time, and such that wait for it in every way they have.

use std::process::Command;

use mock_clock::{Clock, VirtualClock};

use crate::playing::{Playing, coarse, command, eager, idle_skip, pause, play, play_at_sixty, sixty};
use crate::{Test, go, programs, test};

pub(crate) const TESTS: &[Test] = &[
    test("clocks::never_go_back_while_the_rate_changes", || {
        read_while_the_rate_changes(command(&programs::c("readers"), &["4", "20", "0"]));
    }),
    go("clocks::never_go_back_while_the_rate_changes_in_go", || {
        read_while_the_rate_changes(command(&programs::go(), &["readers", "4", "20", "0"]));
    }),
    test("clocks::never_go_back_when_time_jumps", || {
        play(&idle_skip(), &programs::c("readers"), &["4", "600", "5"]);
    }),
    go("clocks::never_go_back_when_time_jumps_in_go", || {
        play(&idle_skip(), &programs::go(), &["readers", "4", "600", "5"]);
    }),
    test("clocks::no_sleep_of_two_hundred_threads_ends_early", || {
        sleep_in_front_of(&sixty(), command(&programs::c("sleeps"), &["200", "20"]));
    }),
    test("clocks::no_sleep_ends_early_when_time_jumps", || {
        sleep_in_front_of(&coarse(), command(&programs::c("sleeps"), &["100", "10"]));
    }),
    go("clocks::twenty_thousand_sleeps_none_early", || {
        sleep_in_front_of(&sixty(), command(&programs::go(), &["sleeps", "1000", "20"]));
    }),
    go("clocks::twenty_thousand_sleeps_none_early_when_time_jumps", || {
        sleep_in_front_of(&coarse(), command(&programs::go(), &["sleeps", "1000", "20"]));
    }),
    go("clocks::a_ticker_for_an_hour", || play(&eager(), &programs::go(), &["ticker", "360", "10"])),
    go("clocks::all_timers_of_go", || play(&idle_skip(), &programs::go(), &["timers"])),
    go("clocks::garbage_beside_a_ticker_spinning_processes", || {
        play_at_sixty(&programs::go(), &["garbage", "20"]);
    }),
];

fn read_while_the_rate_changes(command: Command) {
    let clock = VirtualClock::start("1".parse().unwrap(), None).unwrap();
    let readers = Playing::start(&clock, command);
    for rate in ["60", "1"].iter().cycle().take(40) {
        clock.set_rate(rate.parse().unwrap()).unwrap();
        pause();
    }
    clock.set_rate("60".parse().unwrap()).unwrap();
    readers.end().is_right(&clock);
}

/// Each sleeper tells when it was to wake up. Whenever that is heard, it must be over here too.
fn sleep_in_front_of(clock: &VirtualClock, command: Command) {
    let mut sleepers = Playing::start(clock, command);
    let mut heard = 0;
    loop {
        let line = sleepers.line();
        let Some(due) = line.strip_prefix("due ") else { break };
        let now = clock.now().unix_nanos();
        assert!(due.parse::<u64>().unwrap() <= now, "{line}, and here it is {now}");
        heard += 1;
    }
    assert!(heard >= 1000, "{heard}");
    sleepers.end().is_right(clock);
}
