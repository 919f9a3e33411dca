//! `scaleproof run`. The harness is not built yet, so it says so, and shows the part that every later one stands on:
//! an hour on the virtual clock.

use std::time::Duration;

use mock_clock::{Clock, ClockError, VirtualClock};

use super::{complain, say};
use crate::exit::Exit;

const TICK: Duration = Duration::from_secs(10);
const TICKS: u32 = 360;

pub(super) fn run() -> Result<Exit, Exit> {
    say(concat!(
        "scaleproof ",
        env!("CARGO_PKG_VERSION"),
        "\n",
        "No scenario was run and no autoscaler was judged: the harness is not built yet.\n",
        "\n",
        "What there is: one virtual clock for a whole run (mocks/clock). An hour on it, just now:",
    ))?;
    let hour = an_hour().map_err(|e| {
        complain(&format!("error: failed to {e}"));
        Exit::Missing
    })?;
    say(&hour.account)?;
    // The clock is ours, and so is its mistake.
    let exit = if hour.early == 0 { Exit::Unknown } else { Exit::Bug };
    say(&format!("\nexit code {}: {}", exit.code(), exit.meaning()))?;
    Ok(exit)
}

struct Hour {
    /// How many ticks came before their time.
    early: usize,
    account: String,
}

/// Waits for an hour of ticks and gives an account of what it has cost.
fn an_hour() -> Result<Hour, ClockError> {
    let clock = VirtualClock::idle_skip()?;
    let start = clock.now();
    let mut ticks = clock.interval_at(start + TICK, TICK);
    let early = (0..TICKS).filter(|_| ticks.wait() > clock.now()).count();
    let (passed, real) = (clock.now() - start, clock.real_elapsed());
    let ratio = passed.as_secs_f64() / real.as_secs_f64();
    let status = clock.status().to_string().replace('\n', "\n  ");
    let account = format!(
        "  {TICKS} ticks of {TICK:?}, {early} of them early: {passed:.1?} virtual in {real:.2?} real, {ratio:.0} times as fast\n  {status}"
    );
    Ok(Hour { early, account })
}
