//! The seed of whoever names none: drawn, the same for all verbs, and told by each, so that it can be named next time.

use mock_clock::{Clock as _, Mode, VirtualClock};

/// One that is short enough to be typed.
pub(super) fn drawn() -> u64 {
    VirtualClock::start(Mode::Real, None).map_or(1, |clock| clock.now().unix_nanos() / 1_000 % 1_000_000)
}
