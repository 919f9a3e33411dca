//! Signals around waits, whoever sends them, and programs that end by them.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use mock_clock::{Clock, VirtualClock};

use crate::playing::{Playing, command, idle_skip, pause, play, sixty};
use crate::{Test, go, programs, test};

pub(crate) const TESTS: &[Test] = &[
    test("signals::calls_that_bring_their_own_mask", || of_its_own("masks")),
    test("signals::a_handler_that_blocks_everything_and_waits", || of_its_own("handler-mask")),
    test("signals::a_wait_with_everything_blocked", || of_its_own("blocked")),
    test("signals::a_handler_that_asks_for_calls_to_be_begun_anew", || of_its_own("restart")),
    test("signals::a_wait_that_is_jumped_out_of", || of_its_own("jump")),
    test("signals::a_wait_that_is_cancelled", || of_its_own("cancel")),
    test("signals::a_handler_of_its_own_for_our_signal", || of_its_own("own-handler")),
    test("signals::a_program_may_die_of_our_signal", || {
        let clock = idle_skip();
        Playing::start(&clock, command(&programs::c("signals"), &["raise"])).end().died_of(SIGSYS, &clock);
    }),
    test("signals::or_be_killed_by_it", || {
        waiting(&sixty(), &programs::c("signals"), &["wait"], "-SYS", |ended, _| {
            ended.status.signal() == Some(SIGSYS)
        });
    }),
    test("signals::a_handler_ends_a_long_wait", || {
        waiting(&sixty(), &programs::c("signals"), &["term"], "-TERM", |ended, _| {
            ended.status.code() == Some(7)
        });
    }),
    test("signals::a_program_that_is_stopped_hangs_nobody", a_program_that_is_stopped_hangs_nobody),
    test("signals::it_goes_on_in_the_middle_of_its_waits", it_goes_on_in_the_middle_of_its_waits),
    go("signals::go_says_goodbye", || {
        waiting(&sixty(), &programs::go(), &["term"], "-TERM", |ended, _| {
            ended.status.code() == Some(7) && !ended.out.contains("WRONG")
        });
    }),
    go("signals::go_tells_what_all_goroutines_do", || {
        waiting(&sixty(), &programs::go(), &["wait"], "-QUIT", |ended, _| {
            let dumped = ended.err.matches("main.waitLong(").count();
            ended.status.code() == Some(2) && dumped == 5 && ended.err.contains("SIGQUIT: quit")
        });
    }),
    go("signals::go_tells_why_it_panics", || {
        let clock = idle_skip();
        let ended = Playing::start(&clock, command(&programs::go(), &["panic"])).end();
        let told = ended.err.contains("assignment to entry in nil map") && ended.err.contains("main.panics(");
        ended.has(ended.status.code() == Some(2) && told, &clock);
    }),
    go("signals::go_aborts_when_it_is_asked_to", || {
        let clock = idle_skip();
        let mut crashing = command(&programs::go(), &["panic"]);
        crashing.env("GOTRACEBACK", "crash");
        let ended = Playing::start(&clock, crashing).end();
        let told = ended.err.contains("assignment to entry in nil map");
        ended.has(ended.status.signal() == Some(SIGABRT) && told, &clock);
    }),
];

const SIGABRT: i32 = 6;
const SIGSYS: i32 = 31;

fn of_its_own(case: &str) {
    play(&idle_skip(), &programs::c("signals"), &[case]);
}

/// Sends a signal to a program that waits long; on a clock that does not jump, so that it still waits then.
fn waiting(
    clock: &VirtualClock,
    program: &std::path::Path,
    words: &[&str],
    signal: &str,
    right: fn(&crate::playing::Ended, &VirtualClock) -> bool,
) {
    let mut playing = Playing::start(clock, command(program, words));
    assert_eq!(playing.line(), "waiting");
    for _ in 0..3 {
        pause();
    }
    playing.signal(signal);
    let ended = playing.end();
    ended.has(right(&ended, clock), clock);
}

fn a_program_that_is_stopped_hangs_nobody() {
    let clock = idle_skip();
    let busy = clock.busy();
    let mut playing = Playing::start(&clock, command(&programs::c("signals"), &["wait"]));
    assert_eq!(playing.line(), "waiting");
    playing.signal("-STOP");
    drop(busy);
    clock.sleep(Duration::from_secs(3600)).wait();
    playing.signal("-CONT");
    playing.end().is_right(&clock);
}

fn it_goes_on_in_the_middle_of_its_waits() {
    let (clock, mut waits) = (sixty(), command(&programs::c("waits"), &["60", "0"]));
    waits.env("LATE", "30");
    let playing = Playing::start(&clock, waits);
    for _ in 0..5 {
        pause();
        playing.signal("-STOP");
        pause();
        playing.signal("-CONT");
    }
    let ended = playing.end();
    // What Linux itself does not go on with after a stop says that it was interrupted.
    let wrong = ended.out.lines().filter(|line| line.starts_with("WRONG") && !line.contains(": -4 ("));
    let wrong: Vec<&str> = wrong.collect();
    ended.has(wrong.is_empty(), &clock);
}
