//! What a foreign program pays for being on a clock, and what the clock saves it: `cargo bench --bench foreign -p
//! mock-clock`.
//!
//! The foreign program is this one, started again in a role. Natively and on the clock are measured side by side, so that
//! the ratios are those of one run.

#![expect(clippy::disallowed_methods, reason = "what is measured here is real time")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot start has nothing to measure")]

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mock_clock::{IdleSkip, Mode, Rate, VirtualClock};
use nix::sys::signal::SigSet;

const ROLE: &str = "MOCK_CLOCK_BENCH_ROLE";
const HOUR: Duration = Duration::from_secs(3_600);

fn main() {
    match std::env::var(ROLE).as_deref() {
        Ok("nothing") => {}
        Ok("read") => each(5_000_000, || {
            std::hint::black_box(Instant::now());
        }),
        Ok("call") => each(200_000, || SigSet::empty().thread_unblock().unwrap()),
        Ok("ticks") => ticks(Duration::from_secs(10), HOUR),
        Ok("leases") => leases(),
        Ok(other) => panic!("no role {other}"),
        Err(_) => tell(),
    }
}

/// Prints what one of many takes, in nanoseconds.
fn each(times: u32, mut act: impl FnMut()) {
    let began = Instant::now();
    (0..times).for_each(|_| act());
    println!("{}", began.elapsed().as_secs_f64() * 1e9 / f64::from(times));
}

fn ticks(period: Duration, whole: Duration) {
    let began = Instant::now();
    while began.elapsed() < whole {
        std::thread::sleep(period);
    }
}

/// As a controller with its leader election: a loop every ten seconds, and a lease renewed every two.
fn leases() {
    std::thread::scope(|scope| {
        scope.spawn(|| ticks(Duration::from_secs(2), HOUR));
        scope.spawn(|| ticks(Duration::from_secs(10), HOUR));
    });
}

fn role(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(ROLE, role).stdout(Stdio::piped());
    command
}

fn real() -> VirtualClock {
    VirtualClock::start(Mode::Real, None).unwrap()
}

fn at_rate_one() -> VirtualClock {
    VirtualClock::start(Mode::Constant(Rate::ONE), None).unwrap()
}

/// What a role prints.
fn number(clock: &VirtualClock, name: &str) -> f64 {
    let mut child = clock.spawn(role(name)).unwrap();
    let mut told = String::new();
    child.stdout.take().unwrap().read_to_string(&mut told).unwrap();
    assert!(child.wait().unwrap().success());
    told.trim().parse().unwrap()
}

/// The median of what starting a program takes until its first instruction can run.
fn spawn(clock: &VirtualClock) -> Duration {
    let mut times: Vec<Duration> = (0..200)
        .map(|_| {
            let began = Instant::now();
            let mut child = clock.spawn(role("nothing")).unwrap();
            let took = began.elapsed();
            assert!(child.wait().unwrap().success());
            took
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn tell() {
    println!("| | natively | on the clock |\n|---|--:|--:|");
    for (what, name) in [("read the clock", "read"), ("a system call that is trapped", "call")] {
        println!("| {what} | {:.0} ns | {:.0} ns |", number(&real(), name), number(&at_rate_one(), name));
    }
    println!("| start a program | {:.2?} | {:.2?} |", spawn(&real()), spawn(&at_rate_one()));
    println!(
        "\n| a foreign program | virtual | real | ratio | a jump | watching, of a processor |\n|---|--:|--:|--:|--:|--:|"
    );
    for (what, name, watch_percent) in [
        ("10s loop", "ticks", 9),
        ("10s loop, 2s leases", "leases", 9),
        ("10s loop, 2s leases, `watch_percent: 50`", "leases", 50),
    ] {
        let settings = IdleSkip { watch_percent, ..IdleSkip::default() };
        let clock = VirtualClock::start(Mode::IdleSkip(settings), None).unwrap();
        let began = Instant::now();
        assert!(clock.spawn(role(name)).unwrap().wait().unwrap().success());
        let (took, status) = (began.elapsed(), clock.status());
        println!(
            "| {what} | {HOUR:?} | {took:.2?} | {:.0} | {:.2?} | {:.1} % |",
            HOUR.as_secs_f64() / took.as_secs_f64(),
            took / u32::try_from(status.jumps()).unwrap(),
            100.0 * status.watching().as_secs_f64() / took.as_secs_f64(),
        );
    }
}
