//! The coordinator among foreign processes: the tests write on the page what those would, and take its steps by hand.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::*;
use crate::holding::Whose;
use crate::keeper::Keeper;
use crate::line::Line;
use crate::page::alarms::{Alarm, tests::set};
use crate::page::waits::{
    Wait,
    tests::{begin, crowd, end},
};
use crate::page::{Page, Thread};
use crate::rate::Rate;
use crate::shared::Mover;
use crate::timers::Timers;
use crate::wall::WallOffset;

const SECOND: u64 = 1_000_000_000;
const FUTEX: u64 = 202;
/// Tells this binary that it is a stand-in.
const STAND_IN: &str = "MOCK_CLOCK_STAND_IN";

/// A clock whose coordinator does nothing by itself, and a thread that does not count.
struct Run {
    shared: Arc<Shared>,
    coordinator: Coordinator,
    _watchful: Watchful,
}

impl Run {
    fn new() -> Self {
        let watchful = Watchful::new();
        let real = machine::monotonic();
        let wall = WallOffset::new(Time::EPOCH, real);
        let own = OwnLine::new(Line::new(real, real, Rate::ONE), Rate::ONE, wall.word()).unwrap();
        let keeper = Keeper::Own(own);
        let shared = Shared::new(keeper, Mover::Coordinator, Rate::ONE, wall, Timers::default());
        Self { shared, coordinator: Coordinator::new(IdleSkip::default()).unwrap(), _watchful: watchful }
    }

    fn page(&self) -> &Page {
        self.shared.own().unwrap().page()
    }

    fn now(&self) -> u64 {
        self.shared.read().0
    }

    /// Says that the first thread of `child` waits until so many seconds from now; before now if it is negative.
    fn wait(&self, entry: u64, child: &Sleeper, seconds: i64) -> Wait {
        self.wait_of(entry, Thread { tid: child.tids[0], pid: child.pid() }, seconds)
    }

    fn wait_of(&self, entry: u64, thread: Thread, seconds: i64) -> Wait {
        let deadline = self.now().saturating_add_signed(seconds * SECOND.cast_signed());
        let wait = Wait { thread, deadline, number: entry + 1, call: FUTEX, entry };
        begin(self.page(), &wait);
        wait
    }

    fn step(&mut self) -> Result<(), Holding> {
        machine::pause(PACE);
        let own = self.shared.own().unwrap();
        self.coordinator.step(&self.shared, own)
    }

    /// Steps until that has come, for a minute and more if need be: the machine may be busy.
    fn steps_until(&mut self, mut come: impl FnMut(&Self, &Result<(), Holding>) -> bool) {
        let mut last = None;
        for _ in 0..100_000 {
            let stepped = self.step();
            if come(self, &stepped) {
                return;
            }
            last = Some(stepped);
        }
        panic!("not in 100,000 steps, and then {last:?}");
    }

    fn jumps(&self) -> u64 {
        self.shared.jumps.load(Ordering::Relaxed)
    }

    fn slots(&self) -> BTreeSet<u32> {
        self.page().table().unwrap().slots.iter().map(|slot| slot.pid).collect()
    }
}

/// Another process, killed in the end, and the threads of it that wait.
struct Sleeper {
    child: Child,
    tids: Vec<u32>,
}

impl Sleeper {
    fn new(script: &str) -> Self {
        Self::of(Command::new("sh").args(["-c", script]).spawn().unwrap())
    }

    fn of(child: Child) -> Self {
        Self { tids: vec![child.id()], child }
    }

    fn asleep() -> Self {
        Self::new("exec sleep 600")
    }

    /// One with threads that wake each millisecond, as those do that wait in chunks.
    fn in_chunks(threads: usize) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let this = "coordinator::tests::a_stand_in_waits_in_chunks";
        command.args([this, "--exact", "--ignored", "--nocapture"]).env(STAND_IN, threads.to_string());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let tids = lines.filter_map(|line| line.split_once("waits: ")?.1.parse().ok());
        Self { tids: tids.take(threads).collect(), child }
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn signal(&self, signal: &str) {
        signal_to(signal, self.pid());
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn signal_to(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

#[test]
#[ignore = "other tests start it as a process of its own"]
fn a_stand_in_waits_in_chunks() {
    let Some(threads) = std::env::var(STAND_IN).ok().and_then(|threads| threads.parse().ok()) else { return };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                println!("waits: {}", machine::thread_id());
                loop {
                    machine::pause(Duration::from_millis(1));
                }
            });
        }
    });
}

#[test]
fn time_jumps_to_what_a_foreign_thread_waits_for() {
    for sleeper in [Sleeper::asleep(), Sleeper::in_chunks(1)] {
        let mut run = Run::new();
        let wait = run.wait(0, &sleeper, 30);
        run.steps_until(|run, _| run.jumps() == 1);
        // Real time goes on meanwhile, and on a busy machine much of it.
        assert!((wait.deadline..wait.deadline + 60 * SECOND).contains(&run.now()));
        assert_eq!(run.slots(), [sleeper.pid()].into(), "it was counted in");
        let overdue = run.step().unwrap_err();
        let Holding::Overdue { whose, .. } = &overdue else { panic!("{overdue}") };
        assert_eq!(*whose, Whose::Thread(wait.thread, FUTEX));
        assert!(overdue.to_string().ends_with(", in futex"), "{overdue}");
    }
}

/// With so many, somebody is always between two chunks.
#[test]
fn many_threads_in_chunks_do_not_keep_time_from_jumping() {
    let (mut run, sleeper) = (Run::new(), Sleeper::in_chunks(200));
    for (entry, tid) in (0..).zip(&sleeper.tids) {
        run.wait_of(entry, Thread { tid: *tid, pid: sleeper.pid() }, 30);
    }
    run.steps_until(|run, _| run.jumps() == 1);
    assert_eq!(run.page().waits().unwrap().entries.len(), 200);
}

#[test]
fn whoever_begins_another_wait_between_two_looks_has_not_slept() {
    let (mut run, sleeper) = (Run::new(), Sleeper::asleep());
    let mut wait = run.wait(0, &sleeper, 30);
    for _ in 0..300 {
        let _ = run.step();
        end(run.page(), &wait);
        wait.number += 1;
        begin(run.page(), &wait);
    }
    assert_eq!(run.jumps(), 0);
    run.steps_until(|run, _| run.jumps() == 1);
}

#[test]
fn whoever_runs_while_it_has_an_entry_is_seen() {
    let (mut run, spinner) = (Run::new(), Sleeper::new("while :; do :; done"));
    run.wait(0, &spinner, 30);
    run.steps_until(|_, stepped| matches!(stepped, Err(Holding::Running(_))));
    for _ in 0..100 {
        let _ = run.step();
    }
    assert_eq!(run.jumps(), 0);
}

#[test]
fn a_forsaken_wait_is_emptied() {
    let (mut run, sleeper) = (Run::new(), Sleeper::asleep());
    run.wait(0, &sleeper, -1);
    let other = run.wait(1, &sleeper, 30);
    run.steps_until(|run, _| run.page().waits().unwrap().entries == [other]);
    run.steps_until(|run, _| run.jumps() == 1);
}

#[test]
fn so_is_that_of_a_thread_that_has_ended() {
    let (mut run, sleeper) = (Run::new(), Sleeper::in_chunks(1));
    let wait = run.wait(0, &sleeper, -1);
    end(run.page(), &wait);
    begin(run.page(), &Wait { thread: Thread { tid: 1, ..wait.thread }, ..wait });
    run.steps_until(|run, _| run.page().waits().unwrap().entries.is_empty());
}

#[test]
fn whoever_still_waits_in_chunks_has_not_forsaken_it() {
    let (mut run, sleeper) = (Run::new(), Sleeper::in_chunks(1));
    let wait = run.wait(0, &sleeper, -1);
    for _ in 0..1_000 {
        assert!(run.step().is_err());
    }
    assert_eq!(run.page().waits().unwrap().entries, [wait]);
}

#[test]
fn the_stopped_are_left_out() {
    let (mut run, sleeper) = (Run::new(), Sleeper::asleep());
    let stopped = [Sleeper::asleep(), Sleeper::asleep()];
    let never = [run.wait(0, &stopped[0], -1), run.wait(1, &stopped[1], 10)];
    for sleeper in &stopped {
        sleeper.signal("-STOP");
    }
    let wait = run.wait(2, &sleeper, 30);
    run.steps_until(|run, _| run.now() >= wait.deadline);
    assert_eq!(run.jumps(), 1, "and not to the deadline on the way");
    let mut entries = run.page().waits().unwrap().entries;
    entries.pop();
    assert_eq!(entries, never, "when they go on, they wait again");
}

/// A signal handler waits in the middle of another wait, or has left it by a long jump.
#[test]
fn a_wait_within_another_comes_first() {
    let (mut run, sleeper) = (Run::new(), Sleeper::asleep());
    let _outer = run.wait(0, &sleeper, 10);
    let inner = run.wait(1, &sleeper, 30);
    run.steps_until(|run, _| run.now() >= inner.deadline);
    assert_eq!(run.jumps(), 1, "and not to the deadline on the way");
    run.steps_until(|run, _| run.page().waits().unwrap().superseded.is_empty());
}

#[test]
fn the_dead_are_freed() {
    let (mut run, mut sleeper) = (Run::new(), Sleeper::asleep());
    let pid = sleeper.pid();
    run.wait(0, &sleeper, 30);
    set(run.page(), &alarm(pid, run.now() + SECOND));
    run.steps_until(|run, _| !run.slots().is_empty());
    sleeper.child.kill().unwrap();
    run.steps_until(|run, _| run.page().published().unwrap() == Published::default());
    sleeper.child.wait().unwrap();
    run.wait(0, &sleeper, 30);
    run.steps_until(|run, _| run.page().waits().unwrap().entries.is_empty());
    assert_eq!(run.slots(), BTreeSet::new(), "nobody is counted in who is gone");
}

fn alarm(pid: u32, deadline: u64) -> Alarm {
    Alarm { pid, call: 38, which: 0, deadline, interval: 0, set: 1, entry: 5 }
}

#[test]
fn an_alarm_is_a_deadline() {
    let (mut run, sleeper) = (Run::new(), Sleeper::asleep());
    let deadline = run.now() + 30 * SECOND;
    set(run.page(), &alarm(sleeper.pid(), deadline));
    run.steps_until(|run, _| run.jumps() == 1);
    assert!(run.now() >= deadline);
    let overdue = run.step().unwrap_err().to_string();
    assert!(overdue.ends_with("which has called setitimer"), "{overdue}");
}

#[test]
fn nobody_jumps_over_threads_without_an_entry() {
    let (mut run, sleeper) = (Run::new(), Sleeper::asleep());
    run.wait(0, &sleeper, 30);
    crowd(run.page(), 3);
    for _ in 0..100 {
        let holding = run.step().unwrap_err();
        assert!(matches!(holding, Holding::Crowded { threads: 3 }), "{holding}");
    }
    assert_eq!(run.jumps(), 0);
    crowd(run.page(), 0);
    run.steps_until(|run, _| run.jumps() == 1);
}

#[test]
fn a_forked_child_is_counted_in() {
    let (mut run, sleeper) = (Run::new(), Sleeper::asleep());
    let mut parent = Command::new("sh");
    parent.args(["-c", "read go; sleep 600 & wait"]).stdin(Stdio::piped());
    let mut parent = Sleeper::of(parent.spawn().unwrap());
    run.page().enrol(parent.pid()).unwrap();
    run.wait(0, &sleeper, 1_000_000);
    run.steps_until(|run, _| run.jumps() == 3);
    let known = run.slots();
    assert_eq!(known, [parent.pid(), sleeper.pid()].into());
    // Its children have been listed before: now it runs, and they must be listed again.
    drop(parent.child.stdin.take());
    run.steps_until(|run, _| run.slots().len() == 3);
    let child = *run.slots().difference(&known).next().unwrap();
    run.steps_until(|run, _| run.jumps() > 10);
    signal_to("-KILL", child);
    run.steps_until(|run, _| !run.slots().contains(&child));
}
