//! What the program tells on standard error: one line an event, in virtual time.

use std::fmt;
use std::io;

use mock_clock::{Clock as _, VirtualClock};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::arguments::Level;

/// Only what our own crates tell: the libraries below are not the user's business.
pub(crate) fn start(level: Level, clock: &VirtualClock) {
    let level = match level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    };
    let ours = Targets::new().with_target("mock_hetzner", level).with_target("mock_clock", level);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
        .with_timer(Virtual(clock.clone()))
        .with_target(false);
    tracing_subscriber::registry().with(lines).with(ours).init();
}

/// The moment of an event.
struct Virtual(VirtualClock);

impl FormatTime for Virtual {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{}", self.0.now())
    }
}
