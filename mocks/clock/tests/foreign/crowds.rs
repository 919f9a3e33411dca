//! Many at once, and what happens to the others when one is killed or held by a debugger.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mock_clock::{Clock, VirtualClock};

use crate::playing::{Playing, coarse, command, idle_skip, pause};
use crate::{Test, go, programs, test};

const HOUR: Duration = Duration::from_secs(3600);

pub(crate) const TESTS: &[Test] = &[
    go("crowds::three_replicas_for_an_hour", || {
        let clock = coarse();
        let busy = clock.busy();
        let start = || Playing::start(&clock, command(&programs::go(), &["replica", "1"]));
        let replicas = [start(), start(), start()];
        drop(busy);
        for replica in replicas {
            replica.end().is_right(&clock);
        }
    }),
    test("crowds::a_killed_one_is_not_waited_for", a_killed_one_is_not_waited_for),
    test("crowds::nor_are_its_children", nor_are_its_children),
    test("crowds::more_threads_than_there_is_room_for", more_threads_than_there_is_room_for),
    test("crowds::one_under_strace", one_under_strace),
    test("crowds::one_under_gdb", one_under_gdb),
];

fn a_killed_one_is_not_waited_for() {
    let clock = idle_skip();
    let busy = clock.busy();
    let mut playing = Playing::start(&clock, command(&programs::c("waits"), &["60", "0"]));
    pause();
    playing.kill();
    let pid = playing.id();
    playing.end().died_of(9, &clock);
    drop(busy);
    clock.sleep(HOUR).wait();
    gone(&clock, pid);
}

/// They are killed by somebody else, and live on beside him who started them.
fn nor_are_its_children() {
    let clock = idle_skip();
    let busy = clock.busy();
    let script = "sleep 36000 & echo $!; wait; sleep 600";
    let mut playing = Playing::start(&clock, command("sh".as_ref(), &["-c", script]));
    let pid = playing.line().parse().unwrap();
    crate::playing::send("-KILL", pid);
    drop(busy);
    playing.end().is_right(&clock);
    clock.sleep(HOUR).wait();
    gone(&clock, pid);
}

/// It takes no part any more, and nobody waits for its deadlines.
fn gone(clock: &VirtualClock, pid: u32) {
    let status = clock.status().to_string();
    assert!(!status.contains(&pid.to_string()), "{status}");
}

/// Time does not jump while somebody waits for nobody knows what, and jumps again when there is room.
fn more_threads_than_there_is_room_for() {
    let clock = idle_skip();
    let mut playing = Playing::start(&clock, command(&programs::c("kin"), &["crowd"]));
    assert_eq!(playing.line(), "waiting");
    let told = |clock: &VirtualClock| clock.status().holding().unwrap();
    // The clock says why it does not jump, once it has come to look.
    for _ in 0..500 {
        if told(&clock).contains("the table of waits is full") {
            break;
        }
        pause();
    }
    let before = clock.status().jumps();
    for _ in 0..3 {
        pause();
    }
    let status = clock.status();
    assert!(told(&clock).contains("the table of waits is full"), "{status}");
    assert_eq!(before, status.jumps(), "{status}");
    playing.tell("go on");
    let ended = playing.end();
    println!("{status}");
    ended.is_right(&clock);
}

fn one_under_strace() {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-e", "trace=none", "-p"]).stderr(Stdio::piped());
    under(strace, |strace| {
        let mut attached = String::new();
        BufReader::new(strace.stderr.take().unwrap()).read_line(&mut attached).unwrap();
        assert!(attached.contains("attached"), "{attached}");
    });
}

/// The debugger holds it still; when it is let go, it goes on.
fn one_under_gdb() {
    let mut gdb = Command::new("gdb");
    gdb.args(["-q", "-nx", "-ex", "set debuginfod enabled off", "-ex", "echo held\\n", "-p"]);
    gdb.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    under(gdb, |gdb| {
        let mut told = Vec::new();
        let mut byte = [0];
        let stdout = gdb.stdout.as_mut().unwrap();
        while !told.ends_with(b"held\n") && stdout.read(&mut byte).unwrap() == 1 {
            told.push(byte[0]);
        }
        assert!(told.ends_with(b"held\n"), "{}", String::from_utf8_lossy(&told));
    });
}

/// A program waits for ten minutes while a tracer has it; an hour passes all the same. Then it is let go.
fn under(mut tracer: Command, attached: fn(&mut Child)) {
    let clock = idle_skip();
    let busy = clock.busy();
    let mut playing = Playing::start(&clock, command(&programs::c("signals"), &["wait"]));
    assert_eq!(playing.line(), "waiting");
    let mut tracer = match tracer.arg(playing.id().to_string()).spawn() {
        Ok(tracer) => tracer,
        Err(e) => {
            eprintln!("SKIPPED: {} is not to be had: {e}", tracer.get_program().display());
            playing.kill();
            return;
        }
    };
    attached(&mut tracer);
    drop(busy);
    clock.sleep(HOUR).wait();
    if let Some(mut stdin) = tracer.stdin.take() {
        stdin.write_all(b"detach\nquit\n").unwrap();
        tracer.wait().unwrap();
    }
    playing.end().is_right(&clock);
    let _ = tracer.kill();
    tracer.wait().unwrap();
}
