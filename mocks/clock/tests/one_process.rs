//! The clock as one process uses it: what it promises about sleeps, ticks, timeouts, guards and its own honesty.

#![expect(clippy::unwrap_used, reason = "all of this file is a test")]

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use mock_clock::{
    Clock, ClockError, Elapsed, IdleSkip, MissedTicks, Mode, Rate, Time, TimeError, VirtualClock,
};
use tokio::task::JoinHandle;

const SECOND: Duration = Duration::from_secs(1);

fn idle_skip() -> VirtualClock {
    VirtualClock::idle_skip().unwrap()
}

/// Idleness is that of the whole process: under plain `cargo test` its tests must take turns.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn on_a_runtime<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test)
}

/// Whether a future is ready when asked once.
async fn is_ready(future: impl Future) -> bool {
    let mut future = pin!(future);
    poll_fn(|context| std::task::Poll::Ready(future.as_mut().poll(context).is_ready())).await
}

#[test]
fn an_hour_of_ticks_misses_none_and_has_none_early() {
    let _alone = alone();
    let clock = idle_skip();
    on_a_runtime(async {
        let start = clock.now();
        let mut ticks = clock.interval_at(start + 10 * SECOND, 10 * SECOND);
        for tick in 1..=360_u32 {
            let meant = ticks.tick().await;
            let now = clock.now();
            assert_eq!(meant, start + tick * 10 * SECOND);
            assert!(now >= meant, "early by {:?}", meant - now);
            assert!(now < meant + 10 * SECOND, "late by a whole period: {:?}", now - meant);
        }
    });
    println!("{}", clock.status());
    assert_eq!(clock.lag().timers, 360);
    assert!(clock.status().skipped() > 3_000 * SECOND);
}

/// What was asked of the clock before it was built; a limit on time, so not for a machine that does other work.
#[test]
#[ignore = "needs a quiet machine: it limits how long things take"]
fn an_hour_of_ticks_takes_about_a_second_and_none_is_late() {
    let _alone = alone();
    let clock = idle_skip();
    let mut ticks = clock.interval(10 * SECOND);
    for _ in 0..=360 {
        ticks.wait();
    }
    let status = clock.status();
    assert!(clock.lag().late_p99 < 20 * SECOND / 1_000, "{status}");
    assert!(clock.real_elapsed() < 2 * SECOND, "{status}");
    assert!(10 * status.watching() < clock.real_elapsed(), "{status}");
}

#[test]
fn one_jump_is_bounded() {
    let _alone = alone();
    let clock = idle_skip();
    clock.sleep(600 * SECOND).wait();
    assert!(clock.status().jumps() >= 10, "{}", clock.status());
}

#[test]
fn jumps_end_on_the_grid() {
    let _alone = alone();
    let settings = IdleSkip { round_up_to: Some(SECOND), ..IdleSkip::default() };
    let clock =
        VirtualClock::start(Mode::IdleSkip(settings), Some("2026-01-01T00:00:00.4Z".parse().unwrap()))
            .unwrap();
    let start: Time = "2026-01-01T00:00:00.4Z".parse().unwrap();
    let [one, two, three] = [3.0, 3.2, 3.4].map(|s| clock.sleep_until(start + Duration::from_secs_f64(s)));
    on_a_runtime(async { tokio::join!(one, two, three) });
    assert!(clock.now() >= "2026-01-01T00:00:04Z".parse().unwrap(), "{}", clock.status());
    assert!(clock.status().jumps() == 1, "three timers within a second share a jump: {}", clock.status());
}

#[test]
fn a_guard_keeps_time_from_jumping_and_says_where_it_was_taken() {
    let _alone = alone();
    let clock = idle_skip();
    let awaited = std::thread::spawn({
        let clock = clock.clone();
        move || clock.sleep(600 * SECOND).wait()
    });
    while !clock.status().to_string().contains("timers here: 1") {
        std::thread::yield_now();
    }
    let busy = clock.busy();
    let line = line!() - 1;
    let jumps = clock.status().jumps();
    let real = clock.real_elapsed();
    while clock.real_elapsed().saturating_sub(real) < SECOND / 10 {
        std::thread::yield_now();
    }
    let status = clock.status();
    let expected =
        format!("guards held here: 1, the oldest taken at mocks/clock/tests/one_process.rs:{line}");
    assert!(status.holding().unwrap().starts_with(&expected), "{status}");
    assert!(status.to_string().contains("this process, set at mocks/clock/tests/one_process.rs"), "{status}");
    assert_eq!(status.jumps(), jumps, "{status}");
    drop(busy);
    awaited.join().unwrap();
}

#[test]
fn the_future_comes_before_its_timeout() {
    let _alone = alone();
    let clock = idle_skip();
    on_a_runtime(async {
        assert_eq!(clock.timeout(SECOND, async { 7 }).await, Ok(7));
        assert_eq!(clock.timeout(SECOND, std::future::pending::<()>()).await, Err(Elapsed));
        assert_eq!(clock.timeout(SECOND, clock.sleep(SECOND / 2)).await.map(drop), Ok(()));
        assert_eq!(clock.timeout(Duration::ZERO, async { 7 }).await, Ok(7), "ready in time, asked late");
    });
}

#[test]
fn dropped_sleeps_leave_nothing_behind() {
    let _alone = alone();
    let clock = idle_skip();
    on_a_runtime(async {
        for _ in 0..100 {
            assert!(!is_ready(clock.sleep(3_600 * SECOND)).await);
        }
        let before = clock.now();
        assert!(clock.timeout(SECOND, std::future::pending::<()>()).await.is_err());
        assert!(clock.now() - before < 3_600 * SECOND, "nobody waits for the dropped ones");
    });
    assert!(clock.status().to_string().contains("no deadline is set"), "{}", clock.status());
}

/// Like tokio's: whoever polled it is woken at the new moment, without polling again.
#[test]
fn a_reset_sleep_wakes_whoever_polled_it() {
    let _alone = alone();
    let (clock, hand) = VirtualClock::manual(Time::EPOCH);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut sleep = clock.sleep(Duration::MAX);
    for (deadline, expected) in [(SECOND, 0), (3 * SECOND, 0), (2 * SECOND, 1)] {
        assert!(std::pin::Pin::new(&mut sleep).poll(&mut Context::from_waker(&waker)).is_pending());
        sleep.reset(Time::EPOCH + deadline);
        hand.advance(SECOND / 2 + SECOND * expected);
        assert_eq!(woken.0.load(Ordering::Relaxed), expected, "at {}", clock.now());
    }
}

#[test]
fn a_sleep_reset_to_the_past_wakes_at_once() {
    let _alone = alone();
    let (clock, hand) = VirtualClock::manual(Time::EPOCH);
    hand.advance(10 * SECOND);
    let woken = Arc::new(Woken::default());
    let mut sleep = clock.sleep(SECOND);
    let waker = Waker::from(Arc::clone(&woken));
    assert!(std::pin::Pin::new(&mut sleep).poll(&mut Context::from_waker(&waker)).is_pending());
    sleep.reset(Time::EPOCH + SECOND);
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
}

/// Connections come and go in any run; what the kernel keeps of closed ones must not blind the clock.
#[test]
fn closed_connections_do_not_stop_the_jumping() {
    let _alone = alone();
    let connect = || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let one = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (one, listener.accept().unwrap().0)
    };
    let (half, _open) = connect();
    drop(half);
    let clock = idle_skip();
    let both = connect();
    clock.sleep(600 * SECOND).wait();
    drop(both);
    clock.sleep(600 * SECOND).wait();
    assert!(clock.status().jumps() >= 20, "{}", clock.status());
}

/// It wakes every millisecond, and is nobody's work.
#[test]
fn the_governor_of_one_clock_does_not_hold_another() {
    let _alone = alone();
    let constant = VirtualClock::start(Mode::Constant(Rate::new(60.0).unwrap()), None).unwrap();
    assert!(constant.environment().is_some());
    let parked: Vec<_> = (0..100).map(|_| std::thread::spawn(std::thread::park)).collect();
    let clock = idle_skip();
    clock.sleep(600 * SECOND).wait();
    assert!(clock.status().jumps() >= 10, "{}", clock.status());
    for thread in parked {
        thread.thread().unpark();
        thread.join().unwrap();
    }
}

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_waker_that_panics_takes_nobody_with_it() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("this panic is part of a test");
        }
    }
    let _alone = alone();
    let clock = idle_skip();
    let mut first = clock.sleep(SECOND);
    let waker = Waker::from(Arc::new(Panics));
    assert!(std::pin::Pin::new(&mut first).poll(&mut Context::from_waker(&waker)).is_pending());
    clock.sleep(2 * SECOND).wait();
}

/// A task of a runtime with several threads takes any clock there is, and the limits it sets.
#[test]
fn any_clock_can_be_sent_into_a_task() {
    fn task<C: Clock + Send + Sync + 'static>(clock: C) -> JoinHandle<Result<u8, Elapsed>> {
        tokio::spawn(async move { clock.timeout(SECOND, async { 7 }).await })
    }
    let _alone = alone();
    let (clock, _hand) = VirtualClock::manual(Time::EPOCH);
    assert_eq!(on_a_runtime(async { task(clock).await.unwrap() }), Ok(7));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refused = |settings: IdleSkip| {
        let error = VirtualClock::start(Mode::IdleSkip(settings), None).unwrap_err();
        assert!(matches!(error, ClockError::Settings(_)), "{error}");
        error.to_string()
    };
    let default = IdleSkip::default();
    assert!(refused(IdleSkip { jump_max: Duration::ZERO, ..default }).contains("(jump_max)"));
    for grid in [Duration::ZERO, 61 * SECOND, Duration::MAX] {
        assert!(refused(IdleSkip { round_up_to: Some(grid), ..default }).contains("(round_up_to)"));
    }
    for watch_percent in [0, 101] {
        assert!(refused(IdleSkip { watch_percent, ..default }).contains("(watch_percent)"));
    }
}

/// The sleeper looks at the time and sets its timer afterwards; the hand may move in between, and moves no more.
#[test]
fn a_hand_that_moves_while_a_timer_is_set_wakes_its_sleeper() {
    let _alone = alone();
    for round in 0..2_000_u32 {
        let (clock, hand) = VirtualClock::manual(Time::EPOCH);
        let sleep = clock.sleep(SECOND);
        let (tell, told) = std::sync::mpsc::channel();
        let sleeper = std::thread::spawn(move || {
            tell.send(()).unwrap();
            sleep.wait()
        });
        told.recv().unwrap();
        (0..round % 400).for_each(|_| std::hint::spin_loop());
        hand.advance(2 * SECOND);
        assert!(sleeper.join().unwrap() >= Time::EPOCH + SECOND);
    }
}

#[test]
fn a_hand_reaches_the_end_of_time() {
    let _alone = alone();
    let (clock, hand) = VirtualClock::manual(Time::EPOCH);
    on_a_runtime(async { assert!(!is_ready(clock.sleep(Duration::MAX)).await) });
    hand.advance(Duration::MAX);
    assert!(clock.now() > "2500-01-01T00:00:00Z".parse().unwrap(), "{}", clock.now());
}

#[test]
fn a_cancelled_tick_is_not_lost() {
    let _alone = alone();
    let (clock, hand) = VirtualClock::manual(Time::EPOCH);
    on_a_runtime(async {
        let mut ticks = clock.interval(SECOND);
        assert_eq!(ticks.tick().await, Time::EPOCH);
        assert!(!is_ready(ticks.tick()).await);
        hand.advance(SECOND);
        assert_eq!(ticks.tick().await, Time::EPOCH + SECOND);
    });
}

/// A joined clock has no hand of its own: it must look at the page even while time stands still.
#[test]
fn a_hand_wakes_those_who_joined() {
    let _alone = alone();
    let (clock, hand) = VirtualClock::manual(Time::EPOCH);
    let joined = VirtualClock::join_at(&clock.environment().unwrap().1).unwrap();
    let woken = std::thread::spawn(move || joined.sleep(SECOND).wait());
    while !clock.status().to_string().contains("next deadline in 1.0s: process") {
        std::thread::yield_now();
    }
    hand.advance(2 * SECOND);
    assert_eq!(woken.join().unwrap(), Time::EPOCH + 2 * SECOND);
}

#[test]
fn missed_ticks_come_as_asked() {
    let _alone = alone();
    let meant = |missed: MissedTicks| {
        let (clock, hand) = VirtualClock::manual(Time::EPOCH);
        let mut ticks = clock.interval(10 * SECOND).missed_ticks(missed);
        ticks.wait();
        hand.advance(35 * SECOND);
        let first = ticks.wait() - Time::EPOCH;
        hand.advance(10 * SECOND);
        [first, ticks.wait() - Time::EPOCH].map(|at| at.as_secs())
    };
    assert_eq!(meant(MissedTicks::Burst), [10, 20]);
    assert_eq!(meant(MissedTicks::Delay), [10, 45]);
    assert_eq!(meant(MissedTicks::Skip), [10, 40]);
}

#[test]
#[should_panic(expected = "an interval needs a period longer than zero")]
fn an_interval_of_zero_is_refused() {
    let _alone = alone();
    let (clock, _hand) = VirtualClock::manual(Time::EPOCH);
    let _ = clock.interval(Duration::ZERO);
}

#[test]
fn a_hand_wakes_each_at_its_own_deadline() {
    let _alone = alone();
    let (clock, hand) = VirtualClock::manual("2030-06-01T12:00:00Z".parse().unwrap());
    let start = clock.now();
    let (tell, told) = std::sync::mpsc::channel();
    let waiting = [5, 1, 3].map(|after| {
        let (clock, tell) = (clock.clone(), tell.clone());
        std::thread::spawn(move || {
            let sleep = clock.sleep_until(start + after * SECOND);
            tell.send(after).unwrap();
            sleep.wait() - start
        })
    });
    told.iter().take(3).count();
    while !clock.status().to_string().contains("timers here: 3") {
        std::thread::yield_now();
    }
    hand.advance(4 * SECOND);
    assert_eq!(clock.now(), start + 4 * SECOND);
    hand.advance_to(start);
    assert_eq!(clock.now(), start + 4 * SECOND, "never back");
    hand.advance(10 * SECOND);
    let woken = waiting.map(|thread| thread.join().unwrap());
    assert!(woken.iter().zip([5, 1, 3]).all(|(at, after)| *at >= after * SECOND), "{woken:?}");
}

#[test]
fn two_runtimes_and_plain_threads_share_a_clock() {
    let _alone = alone();
    let clock = idle_skip();
    let start = clock.now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| on_a_runtime(clock.sleep(300 * SECOND)));
            scope.spawn(|| clock.sleep(300 * SECOND).wait());
        }
    });
    assert!(clock.now() - start >= 300 * SECOND);
    assert!(clock.now() - start < 600 * SECOND, "they waited together: {}", clock.status());
}

#[test]
fn a_hundred_thousand_timers_all_fire() {
    let _alone = alone();
    let clock = idle_skip();
    let start = clock.now();
    on_a_runtime(async {
        let mut all = tokio::task::JoinSet::new();
        for n in 0..100_000_u64 {
            let deadline = start + 60 * SECOND + Duration::from_nanos(n * 7919 % 1_000_000);
            let clock = clock.clone();
            all.spawn(async move { clock.sleep_until(deadline).await >= deadline });
        }
        assert!(all.join_all().await.into_iter().all(|in_time| in_time));
    });
    assert_eq!(clock.lag().timers, 100_000);
}

#[test]
fn any_date_may_be_the_first() {
    let _alone = alone();
    for date in [
        "1970-01-01T00:00:00Z",
        "2000-02-29T23:59:59.999999999Z",
        "2038-01-19T03:14:08Z",
        "2399-12-31T23:59:59Z",
    ] {
        let start: Time = date.parse().unwrap();
        let clock = VirtualClock::start(Mode::default(), Some(start)).unwrap();
        assert!(clock.now() - start < 3_600 * SECOND, "{date}");
        clock.sleep(2 * SECOND).wait();
        assert!(clock.now() >= start + 2 * SECOND, "{date}");
    }
    let too_late = VirtualClock::start(Mode::default(), Some(Time::NEVER)).unwrap_err();
    assert!(too_late.to_string().contains("the latest start is 2400-01-01T00:00:00Z"), "{too_late}");
    assert!(matches!("0000-01-01T00:00:00Z".parse::<Time>(), Err(TimeError::OutOfRange(_))));
}

#[test]
fn never_is_never() {
    let _alone = alone();
    let clock = VirtualClock::start(Mode::default(), Some(Time::EPOCH)).unwrap();
    on_a_runtime(async {
        let never = std::pin::pin!(clock.sleep(Duration::MAX));
        assert_eq!(clock.timeout(3 * SECOND, never).await, Err(Elapsed));
    });
    let waiting = clock.sleep(Duration::MAX);
    on_a_runtime(async { assert!(!is_ready(waiting).await) });
    assert!(clock.status().to_string().contains("no deadline is set"), "{}", clock.status());
}

#[test]
fn real_time_has_the_machines_date_and_no_rate() {
    let _alone = alone();
    let clock = VirtualClock::start(Mode::Real, None).unwrap();
    // A file that is written now bears the machine's date, cut to a tick of the kernel.
    let file = std::env::temp_dir().join(format!("mock-clock-{}", std::process::id()));
    std::fs::write(&file, "now").unwrap();
    let written = std::fs::metadata(&file).unwrap().modified().unwrap();
    std::fs::remove_file(&file).unwrap();
    let written = written.duration_since(std::time::UNIX_EPOCH).unwrap();
    let apart = (clock.now() - Time::EPOCH).abs_diff(written);
    assert!(apart < 60 * SECOND, "{apart:?} from the machine's date");
    clock.sleep(SECOND / 100).wait();
    assert_eq!(clock.status().jumps(), 0);
    assert_eq!(clock.set_rate(Rate::ONE).unwrap_err().to_string(), "set a rate on this clock: it is real");
    let dated = VirtualClock::start(Mode::Real, Some(Time::EPOCH)).unwrap_err();
    assert!(matches!(dated, ClockError::DateOfRealTime(_)), "{dated}");
}

#[test]
fn a_guard_holds_a_constant_rate_down_to_real_time() {
    let _alone = alone();
    let clock = VirtualClock::start(Mode::Constant(Rate::new(60.0).unwrap()), None).unwrap();
    let passed = |clock: &VirtualClock| {
        let (real, now) = (clock.real_elapsed(), clock.now());
        while clock.real_elapsed().saturating_sub(real) < SECOND / 50 {
            std::thread::yield_now();
        }
        (clock.now() - now, clock.real_elapsed().saturating_sub(real))
    };
    let (virt, real) = passed(&clock);
    assert!(virt > 10 * real / 2, "{virt:?} in {real:?}");
    let busy = clock.busy();
    let (virt, real) = passed(&clock);
    assert!(virt <= real, "{virt:?} in {real:?}");
    clock.set_rate(Rate::new(30.0).unwrap()).unwrap();
    assert!(clock.status().to_string().contains("rate 1.00"), "a guard is held: {}", clock.status());
    drop(busy);
    assert!(clock.status().to_string().contains("rate 30.00"), "{}", clock.status());
}

#[test]
fn joining_without_a_run_says_what_is_missing() {
    let _alone = alone();
    let nowhere = VirtualClock::join_at("/proc/self/fd/99999".as_ref()).unwrap_err();
    assert!(nowhere.to_string().contains("is the process that made it still there?"), "{nowhere}");
    let wrong = VirtualClock::join_at("/dev/null".as_ref()).unwrap_err();
    assert!(wrong.to_string().contains("this file is not a clock's page"), "{wrong}");
    assert!(matches!(VirtualClock::join(), Err(ClockError::NotInARun)));
}

/// Joined to a clock of this same process, which shows both sides at once.
#[test]
fn a_joined_clock_tells_the_same_time_and_may_not_move_it() {
    let _alone = alone();
    let clock = VirtualClock::start(Mode::default(), Some("2026-01-01T00:00:00Z".parse().unwrap())).unwrap();
    let (name, place) = clock.environment().unwrap();
    assert_eq!(name, "MOCK_CLOCK_PAGE");
    let joined = VirtualClock::join_at(&place).unwrap();
    for _ in 0..5 {
        let (before, between, after) = (clock.now(), joined.now(), clock.now());
        assert!((before..=after).contains(&between), "{before} {between} {after}");
        joined.sleep(100 * SECOND).wait();
    }
    assert!(clock.status().skipped() > 400 * SECOND, "its deadlines are seen: {}", clock.status());
    assert_eq!(
        joined.set_rate(Rate::ONE).unwrap_err().to_string(),
        "set a rate on this clock: it is another process's"
    );
    assert!(joined.environment().is_none());
    let tracked = joined.track(1).unwrap_err().to_string();
    assert_eq!(tracked, "count process 1 in: only the process that made the clock can");
    let busy = joined.busy();
    let told = joined.status().to_string();
    assert!(told.contains(&format!("moved by process {}", std::process::id())), "{told}");
    assert!(
        told.contains("guards held here: 1, the oldest taken at mocks/clock/tests/one_process.rs"),
        "{told}"
    );
    drop(busy);
    drop(joined);
    assert!(!clock.status().to_string().contains("taking part"), "{}", clock.status());
}

#[test]
fn the_threads_of_a_clock_end_with_its_last_handle() {
    let _alone = alone();
    let ours = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|name| name.starts_with("clock-")).count()
    };
    let clocks: Vec<VirtualClock> = (0..20).map(|_| idle_skip()).collect();
    for clock in &clocks {
        clock.sleep(SECOND).wait();
    }
    assert_eq!(ours(), 40);
    drop(clocks);
    while ours() > 0 {
        std::thread::yield_now();
    }
}
