//! The governor: looks for guards that other processes hold, of which nobody tells the owner, and holds the rate down
//! to real time meanwhile.
//!
//! It starts when there is a rate to hold down and a process that could join.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::coordinator::Watchful;
use crate::machine;
use crate::page::slots::state;
use crate::shared::Shared;

/// How often it looks: at the highest rate a guard is seen after a tenth of a virtual second.
const PACE: Duration = Duration::from_millis(1);

/// Starts the governor's thread, which ends with the clock.
pub(crate) fn start(shared: Arc<Shared>) -> io::Result<()> {
    let govern = move || {
        let own = shared.own().expect("only an owner governs");
        let _watchful = Watchful::new();
        while !shared.closed.load(Ordering::Relaxed) {
            // A page that cannot be read is read again; until then the rate stays as it is.
            if let Ok(table) = own.page().table() {
                let mut holders = table.slots.iter().filter(|slot| slot.guards > 0);
                shared.set_peers_busy(holders.any(|slot| runs(slot.pid)));
            }
            machine::pause(PACE);
        }
    };
    std::thread::Builder::new().name("clock-guards".into()).spawn(govern).map(drop)
}

/// Whether a process goes on with what it does: it is neither gone nor stopped.
fn runs(pid: u32) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X' | 'T' | 't'))
}
