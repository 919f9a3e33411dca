//! What is told on standard error about the clock of a run: now and then while it lasts, and when it is over.

use std::io::{self, Write as _};
use std::thread;
use std::time::Duration;

use mock_clock::{Clock as _, ClockError, Mode, Time, VirtualClock};

/// How often, in real time.
const PERIOD: Duration = Duration::from_secs(10);

/// Tells again and again what a clock does.
pub(crate) fn watch(clock: &VirtualClock) -> Result<(), ClockError> {
    let (clock, real) = (clock.clone(), VirtualClock::start(Mode::Real, None)?);
    let watch = move || {
        loop {
            real.sleep(PERIOD).wait();
            tell(&clock.status().to_string());
        }
    };
    thread::Builder::new().name("watch".into()).spawn(watch).map(drop).map_err(ClockError::Start)
}

/// How much time has passed since `start`, what it has cost, and what has stayed real.
pub(crate) fn summary(clock: &VirtualClock, start: Time) -> String {
    let (passed, real, status) = (clock.now() - start, clock.real_elapsed(), clock.status());
    let ratio = passed.as_secs_f64() / real.as_secs_f64();
    let mut text = format!(
        "{passed:.1?} virtual in {real:.1?} real, {ratio:.1} times as fast; jumps: {}, over {:.1?}; system calls taken over: {}",
        status.jumps(),
        status.skipped(),
        status.traps(),
    );
    if let Some(why) = status.holding().filter(|_| status.jumps() == 0) {
        text.push_str("\nit never jumped; at the end: ");
        text.push_str(&why);
    }
    for remark in status.remarks() {
        text.push('\n');
        text.push_str(&remark);
    }
    text
}

/// A line that says who tells it, and indented ones. Whoever closed standard error does not want to read it.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "mock-clock: {}", text.replace('\n', "\n  "));
}
