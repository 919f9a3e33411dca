//! Faults that heal by themselves: each at its moment, whatever the run is doing then.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mock_clock::{Clock as _, VirtualClock};
use tokio::task::AbortHandle;

use crate::fault::{FaultError, Ward};
use crate::plan::FaultSpec;

/// The ward, and who will be healed when. When it is dropped, nobody is healed any more.
pub(super) struct Healing {
    clock: VirtualClock,
    ward: Arc<Mutex<Ward>>,
    due: BTreeMap<String, AbortHandle>,
}

impl Healing {
    pub(super) fn new(clock: &VirtualClock, ward: Ward) -> Self {
        Self { clock: clock.clone(), ward: Arc::new(Mutex::new(ward)), due: BTreeMap::new() }
    }

    pub(super) fn ward(&self) -> MutexGuard<'_, Ward> {
        locked(&self.ward)
    }

    /// Injects a fault, for a while or until it is healed by hand.
    pub(super) fn inject(
        &mut self,
        name: &str,
        says: &str,
        fault: &FaultSpec,
        lasting: Option<Duration>,
    ) -> Result<(), FaultError> {
        self.forget(name);
        self.ward().inject(name, says, fault)?;
        if let Some(lasting) = lasting {
            let (sleep, ward, of) = (self.clock.sleep(lasting), Arc::clone(&self.ward), name.to_owned());
            let healed = tokio::spawn(async move {
                sleep.await;
                locked(&ward).heal(&of);
            });
            self.due.insert(name.to_owned(), healed.abort_handle());
        }
        Ok(())
    }

    /// Heals what has this name, before its time.
    pub(super) fn heal(&mut self, name: &str) {
        self.forget(name);
        self.ward().heal(name);
    }

    /// What is injected under the same name later has a time of its own.
    fn forget(&mut self, name: &str) {
        if let Some(due) = self.due.remove(name) {
            due.abort();
        }
    }
}

impl Drop for Healing {
    fn drop(&mut self) {
        self.due.values().for_each(AbortHandle::abort);
    }
}

fn locked(ward: &Mutex<Ward>) -> MutexGuard<'_, Ward> {
    ward.lock().unwrap_or_else(PoisonError::into_inner)
}
