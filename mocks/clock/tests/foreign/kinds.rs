//! Programs of every kind: however it was linked, it is on the clock, or it is said why it cannot be.

use std::process::Command;

use crate::playing::{idle_skip, play};
use crate::{Test, go, programs, test};

pub(crate) const TESTS: &[Test] = &[
    test("kinds::dynamic", || tiny("dynamic", "cc", &[])),
    test("kinds::not_position_independent", || tiny("no-pie", "cc", &["-no-pie"])),
    test("kinds::static_", || tiny("static", "cc", &["-static"])),
    test("kinds::static_and_position_independent", || tiny("static-pie", "cc", &["-static-pie"])),
    test("kinds::stripped", || tiny("stripped", "cc", &["-s"])),
    test("kinds::musl", || {
        if Command::new("musl-gcc").arg("--version").output().is_ok() {
            tiny("musl", "musl-gcc", &[]);
            tiny("musl-static", "musl-gcc", &["-static"]);
        } else {
            eprintln!(
                "SKIPPED: kinds::musl, because there is no musl-gcc (musl-tools) here to build it with"
            );
        }
    }),
    go("kinds::go", || play(&idle_skip(), &programs::tiny_go("static", &[]), &[])),
    go("kinds::go_position_independent", || {
        play(&idle_skip(), &programs::tiny_go("pie", &["-buildmode=pie"]), &[]);
    }),
    go("kinds::go_stripped", || play(&idle_skip(), &programs::tiny_go("stripped", &["-ldflags=-s -w"]), &[])),
    test("kinds::of_32_bit_is_refused", || {
        let program = programs::c_of_kind("old", "32", "cc", &["-m32", "-nostdlib", "-static"]);
        let refused = idle_skip().spawn(Command::new(program)).unwrap_err().to_string();
        assert!(refused.contains("32-bit") && refused.contains("real time"), "{refused}");
    }),
    test("kinds::what_is_no_program_is_refused", || {
        let clock = idle_skip();
        for (program, why) in [
            ("/nowhere/at/all", "No such file"),
            ("/etc", "Permission denied"),
            ("/etc/passwd", "Permission denied"),
        ] {
            let refused = clock.spawn(Command::new(program)).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("start {program}: {why}")), "{refused}");
        }
    }),
];

fn tiny(kind: &str, compiler: &str, options: &[&str]) {
    play(&idle_skip(), &programs::c_of_kind("tiny", kind, compiler, options), &[]);
}
