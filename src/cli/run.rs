//! `scaleproof run`. The harness is not built yet, so it says so, and shows the part that every later one stands on:
//! an hour on the virtual clock.

use std::time::Duration;

use mock_clock::{Clock, ClockError, VirtualClock};

use super::say;
use crate::exit::Exit;

const TICK: Duration = Duration::from_secs(10);
const TICKS: u32 = 360;

pub(super) fn run() -> Exit {
    say(concat!(
        "scaleproof ",
        env!("CARGO_PKG_VERSION"),
        "\n",
        "No scenario was run and no autoscaler was judged: the harness is not built yet.\n",
        "\n",
        "What there is: one virtual clock for a whole run (mocks/clock). An hour on it, just now:",
    ));
    match an_hour() {
        Ok(told) => {
            say(&told);
            say(&format!("\nexit code {}: {}", Exit::Unknown.code(), Exit::Unknown.meaning()));
            Exit::Unknown
        }
        Err(e) => {
            eprintln!("error: failed to {e}");
            Exit::Missing
        }
    }
}

/// Waits for an hour of ticks and tells what it has cost.
fn an_hour() -> Result<String, ClockError> {
    let clock = VirtualClock::idle_skip()?;
    let start = clock.now();
    let mut ticks = clock.interval_at(start + TICK, TICK);
    let early = (0..TICKS).filter(|_| ticks.wait() > clock.now()).count();
    let (passed, real) = (clock.now() - start, clock.real_elapsed());
    let ratio = passed.as_secs_f64() / real.as_secs_f64();
    let status = clock.status().to_string().replace('\n', "\n  ");
    Ok(format!(
        "  {TICKS} ticks of {TICK:?}, {early} of them early: {passed:.1?} virtual in {real:.2?} real, {ratio:.0} times as fast\n  {status}"
    ))
}
