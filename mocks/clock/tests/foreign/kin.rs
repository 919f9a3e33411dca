//! Programs that start programs: all of them are on the clock, and none keeps it waiting for nothing.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::playing::{Playing, command, idle_skip, play};
use crate::{Test, go, programs, test};

pub(crate) const TESTS: &[Test] = &[
    test("kin::forked_without_a_program_of_its_own", || of_its_own("fork")),
    test("kin::forked_and_left_alone", || of_its_own("orphan")),
    test("kin::spawned_in_every_way", || of_its_own("spawn")),
    test("kin::what_cannot_be_started_hurts_nobody", || of_its_own("failing")),
    test("kin::another_program_beside_waiting_threads", || of_its_own("exec")),
    test("kin::another_program_from_a_thread_aside", || of_its_own("exec-aside")),
    test("kin::many_at_once", || of_its_own("many")),
    test("kin::a_shell_and_what_it_runs", || {
        shell(
            "begin=$(date +%s); sleep 600; sleep 60 & sleep 30; wait; end=$(date +%s)
            echo $((end - begin)); [ $((end - begin)) -ge 659 ] && [ $((end - begin)) -le 663 ]",
        );
    }),
    test("kin::a_chain_of_programs", || shell("exec sh -c 'exec env -i sleep 3600'")),
    test("kin::a_pipe_of_programs", || shell("(sleep 60; echo a) | (read a; sleep 60; echo $a) | grep a")),
    test("kin::a_missing_program_in_a_shell", || {
        shell("/nowhere/at/all; [ $? = 127 ] && sleep 60; /etc; [ $? = 126 ] && sleep 60");
    }),
    test("kin::a_script", a_script),
    test("kin::an_exit_code_is_passed_on", || {
        let clock = idle_skip();
        let ended = Playing::start(&clock, command(Path::new("sh"), &["-c", "sleep 60; exit 5"])).end();
        ended.has_code(5, &clock);
    }),
    go("kin::of_go", || play(&idle_skip(), &programs::go(), &["kin"])),
];

fn of_its_own(case: &str) {
    play(&idle_skip(), &programs::c("kin"), &[case]);
}

fn shell(script: &str) {
    play(&idle_skip(), Path::new("sh"), &["-c", script]);
}

fn a_script() {
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("script-{}", std::process::id()));
    std::fs::write(&script, "#!/bin/sh\nsleep 600 && [ \"$1\" = word ]\n").unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let clock = idle_skip();
    let mut bare = Command::new(&script);
    bare.arg("word").env_clear();
    let ended = Playing::start(&clock, bare).end();
    std::fs::remove_file(script).unwrap();
    ended.is_right(&clock);
}
