//! Ctrl-C, or being told to end.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for both. While it lives, neither ends the program by itself.
pub(super) struct Interruption {
    signals: Option<(Signal, Signal)>,
}

impl Interruption {
    /// Listens from now on, on the current runtime.
    pub(super) fn listen() -> Self {
        let interrupt = signal(SignalKind::interrupt()).ok();
        Self { signals: interrupt.zip(signal(SignalKind::terminate()).ok()) }
    }

    /// Waits for the next.
    pub(super) async fn next(&mut self) {
        let Some((interrupt, terminate)) = &mut self.signals else { return std::future::pending().await };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}
