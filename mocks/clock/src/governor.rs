//! The governor: at a constant rate, looks for guards that other processes hold, of which nobody tells the owner.
//!
//! It starts with the first process that could join, and holds the rate down while one of them is busy.
//! Where time jumps, the coordinator does the same beside its own work.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::machine;
use crate::page::slots::is_alive;
use crate::shared::Shared;

/// How often it looks: at the highest rate a guard is seen after a tenth of a virtual second.
const PACE: Duration = Duration::from_millis(1);

/// Starts the governor's thread, which ends with the clock.
pub(crate) fn start(shared: Arc<Shared>) -> io::Result<()> {
    let govern = move || {
        let own = shared.own().expect("only an owner governs");
        while !shared.closed.load(Ordering::Relaxed) {
            // A page that cannot be read is read again; until then the rate stays as it is.
            if let Ok(table) = own.page().table() {
                let mut busy = false;
                for slot in table.slots.iter().filter(|slot| slot.guards > 0) {
                    if is_alive(slot.pid) {
                        busy = true;
                    } else {
                        let _ = own.page().expel(slot.pid);
                    }
                }
                shared.set_peers_busy(busy);
            }
            machine::pause(PACE);
        }
    };
    std::thread::Builder::new().name("clock-guards".into()).spawn(govern).map(drop)
}
