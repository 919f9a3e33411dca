//! Every call that takes a timeout, one by one, with and without an event that comes before.

use crate::playing::{Playing, command, idle_skip, play, play_at_sixty};
use crate::{Test, programs, test};

pub(crate) const TESTS: &[Test] = &[
    test("calls::each_ends_when_its_time_is_over", || {
        play(&idle_skip(), &programs::c("waits"), &["60", "0"]);
    }),
    test("calls::each_ends_when_its_time_is_over_at_a_constant_rate", || {
        play_at_sixty(&programs::c("waits"), &["60", "0"]);
    }),
    test("calls::each_ends_when_it_is_woken", || {
        play(&idle_skip(), &programs::c("waits"), &["60", "5"]);
    }),
    test("calls::each_ends_when_it_is_woken_at_a_constant_rate", || {
        play_at_sixty(&programs::c("waits"), &["60", "5"]);
    }),
    test("calls::odd_timeouts_are_answered_as_ever", || {
        play(&idle_skip(), &programs::c("odd"), &[]);
    }),
    test("calls::datagrams_are_waited_for", || play(&idle_skip(), &programs::c("datagrams"), &[])),
    test("calls::alarms_ring_in_time", || play(&idle_skip(), &programs::c("alarms"), &["alarm"])),
    test("calls::timers_of_processes_ring_in_time", || {
        play(&idle_skip(), &programs::c("alarms"), &["timer"]);
    }),
    test("calls::files_of_time_are_read_in_time", || {
        play(&idle_skip(), &programs::c("alarms"), &["timerfd"]);
    }),
    test("calls::what_stays_real_is_told", || {
        let clock = idle_skip();
        let mut playing = Playing::start(&clock, command(&programs::c("real"), &[]));
        assert_eq!(playing.line(), "done");
        let told = clock.status().remarks();
        assert!(told.iter().any(|told| told.contains("setsockopt")), "{told:?}");
        playing.end().is_right(&clock);
    }),
];
