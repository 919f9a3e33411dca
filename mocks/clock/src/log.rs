//! What our programs tell on standard error: one line an event, in virtual time.
//!
//! Only what our own crates tell: the libraries below are not the user's business.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use clap::ValueEnum;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::clock::Clock as _;
use crate::virtual_clock::VirtualClock;

/// How much a program tells. Each level tells what those before it tell, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
#[expect(missing_docs, reason = "these words are what users type")]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => LevelFilter::ERROR,
            LogLevel::Warn => LevelFilter::WARN,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Trace => LevelFilter::TRACE,
        }
    }
}

/// The log of a program. It begins before there is a clock, because the clock may have something to tell itself.
#[derive(Debug)]
pub struct Log {
    clock: Arc<OnceLock<VirtualClock>>,
}

impl Log {
    /// Tells from now on what this crate and the one named `program` have to tell.
    ///
    /// # Panics
    /// If there is a log already.
    pub fn start(level: LogLevel, program: &str) -> Self {
        let clock = Arc::default();
        let ours = Targets::new().with_target(program, level).with_target(env!("CARGO_CRATE_NAME"), level);
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(io::stderr)
            .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
            .with_timer(Virtual(Arc::clone(&clock)))
            .with_target(false);
        tracing_subscriber::registry().with(lines).with(ours).init();
        Self { clock }
    }

    /// Dates what is told from now on.
    pub fn date_by(self, clock: &VirtualClock) {
        // Nobody else has this log, so nobody has named a clock before.
        let _ = self.clock.set(clock.clone());
    }
}

/// The moment of an event.
struct Virtual(Arc<OnceLock<VirtualClock>>);

impl FormatTime for Virtual {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        self.0.get().map_or(Ok(()), |clock| write!(writer, "{}", clock.now()))
    }
}
