//! Who owns the clock: what is left when he is killed, and what he need not be.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use mock_clock::{Mode, VirtualClock};

use crate::playing::{Playing, command, idle_skip, pause, send};
use crate::roles::{self, role};
use crate::{Test, go, programs, test};

pub(crate) const TESTS: &[Test] = &[
    test("owners::a_killed_one_takes_all_with_him", || ends_with_its_owner("own", 4)),
    test("owners::a_killed_one_in_real_time_takes_his_children_with_him", || {
        ends_with_its_owner("own-in-real-time", 1);
    }),
    test("owners::without_any_privilege", || {
        unprivileged(&[programs::c("tiny").to_str().unwrap(), "sh -c 'sleep 60; sleep 60'"]);
    }),
    go("owners::without_any_privilege_in_go", || {
        unprivileged(&[programs::tiny_go("static", &[]).to_str().unwrap()]);
    }),
];

/// Children, grandchildren, and such that were forked and left alone; in real time, where nothing else holds them,
/// only those that were started by the owner himself.
fn ends_with_its_owner(name: &str, count: usize) {
    let mut owner: Child = role(name).stdout(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(owner.stdout.take().unwrap()).lines();
    let pids: Vec<u32> = (0..count).map(|_| told.next().unwrap().unwrap().parse().unwrap()).collect();
    send("-KILL", owner.id());
    owner.wait().unwrap();
    for _ in 0..500 {
        if pids.iter().all(|pid| is_gone(*pid)) {
            return;
        }
        pause();
    }
    let left: Vec<&u32> = pids.iter().filter(|pid| !is_gone(**pid)).collect();
    for pid in &left {
        send("-KILL", **pid);
    }
    panic!("of {pids:?} there are still {left:?}");
}

/// Nothing is left of it but what its parent has not asked for yet.
fn is_gone(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.map_or(true, |stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}

/// Starts programs on a slow clock, says who they are, and waits to be killed.
pub(crate) fn own_as_role() {
    let clock = VirtualClock::start("1".parse().unwrap(), None).unwrap();
    let script = "sleep 36000 & echo $!; (sleep 36000 & echo $!) ; echo $$; exec sleep 36000";
    let mut shell = Playing::start(&clock, command(Path::new("sh"), &["-c", script]));
    for _ in 0..3 {
        println!("{}", shell.line());
    }
    let playing = Playing::start(&clock, command(Path::new("sleep"), &["36000"]));
    println!("{}", playing.id());
    playing.end();
    shell.end();
}

/// The same, with one program in real time.
pub(crate) fn own_in_real_time_as_role() {
    let clock = VirtualClock::start(Mode::Real, None).unwrap();
    let mut sleep = clock.spawn(command(Path::new("sleep"), &["36000"])).unwrap();
    println!("{}", sleep.id());
    sleep.wait().unwrap();
}

/// Plays programs from an owner that is nobody, may nothing, and can never be more.
fn unprivileged(commands: &[&str]) {
    let own = std::env::current_exe().unwrap();
    let mut nobody = if rustix::process::geteuid().is_root() {
        let mut nobody = Command::new("setpriv");
        nobody.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"]);
        nobody.args(["--inh-caps=-all", "--no-new-privs"]);
        let mut reaching = Command::new("setpriv");
        reaching.args(nobody.get_args()).args(["test", "-x"]).arg(&own);
        if !reaching.status().is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: there is no setpriv, or nobody else may start {}", own.display());
            return;
        }
        nobody.arg(own);
        nobody
    } else {
        Command::new(own)
    };
    nobody.env(roles::ROLE, format!("play {}", commands.join("|")));
    let ended = nobody.output().unwrap();
    let told = [ended.stdout, ended.stderr].map(|part| String::from_utf8_lossy(&part).into_owned());
    assert!(ended.status.success(), "{}: {}", ended.status, told.concat());
}

/// Plays one program after the other.
pub(crate) fn play_as_role(commands: &str) {
    for line in commands.split('|') {
        let clock = idle_skip();
        let line = Playing::start(&clock, command(Path::new("sh"), &["-c", &format!("exec {line}")]));
        line.end().is_right(&clock);
    }
}
