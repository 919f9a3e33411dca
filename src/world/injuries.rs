//! What hurts at the moment: whom, how, and how often it has bitten. Each is undone when its handle is dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::terms::Stage;

/// Called when an injury hurts for the first time, with whom.
pub type FirstBite = Box<dyn Fn(&str) + Send + Sync>;

/// How something hurts.
#[derive(Clone, Debug)]
pub(super) enum Injury {
    /// A stage takes so long; if `None`, for ever.
    Stage { pool: Option<String>, stage: Stage, takes: Option<Duration> },
    /// Kubelets do not speak.
    Silent { nodes: BTreeSet<String> },
    /// Kubelets of a pool say that they are not ready whenever this is set.
    Flapping { pool: String, off: Arc<AtomicBool> },
    /// Kubelets run without `--cloud-provider=external`.
    NoCloudProvider { pool: Option<String> },
    /// Kubelets go on when their nodes are gone.
    Zombie { pool: Option<String> },
    /// The cloud controller is gone.
    ControllerDown,
    /// The pods of a workload ignore that they should end.
    NeverEnds { workload: String },
    /// The clock on the world's wall is fast by so many seconds, or slow.
    Skew { by_s: i64 },
    /// Controllers of Cluster API wait so long before they do anything.
    SlowClusterApi { pool: Option<String>, takes: Duration },
    /// Sets of a pool can make no machines.
    MachinesRefused { pool: String },
    /// The infrastructure makes nothing of the machines of a pool.
    MachinesWithheld { pool: String },
    /// The infrastructure says that it has failed to make machines of a pool.
    MachinesFail { pool: String },
    /// Nobody touches a pool.
    Paused { pool: String },
}

/// All that hurts.
#[derive(Default)]
pub(super) struct Injuries {
    open: Mutex<(u64, BTreeMap<u64, Arc<Wound>>)>,
    changed: watch::Sender<u64>,
}

/// One that hurts, or has hurt.
pub(super) struct Wound {
    pub(super) injury: Injury,
    bites: AtomicU64,
    first_bite: FirstBite,
}

impl Wound {
    /// It has hurt somebody.
    pub(super) fn bite(&self, whom: &str) {
        if self.bites.fetch_add(1, Ordering::Relaxed) == 0 {
            (self.first_bite)(whom);
        }
    }
}

impl fmt::Debug for Wound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wound")
            .field("injury", &self.injury)
            .field("bites", &self.bites)
            .finish_non_exhaustive()
    }
}

impl Injuries {
    fn lock(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Arc<Wound>>)> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn inflict(self: &Arc<Self>, injury: Injury, first_bite: FirstBite) -> Hurt {
        let wound = Arc::new(Wound { injury, bites: AtomicU64::new(0), first_bite });
        let id = {
            let mut open = self.lock();
            open.0 += 1;
            let id = open.0;
            open.1.insert(id, Arc::clone(&wound));
            id
        };
        self.touch();
        Hurt { injuries: Arc::clone(self), id, wound, task: None }
    }

    fn heal(&self, id: u64) {
        self.lock().1.remove(&id);
        self.touch();
    }

    /// Something that hurts has become different.
    pub(super) fn touch(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Tells each time that something begins to hurt, or no longer does.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The latest that is like this.
    pub(super) fn find(&self, like: impl Fn(&Injury) -> bool) -> Option<Arc<Wound>> {
        self.lock().1.values().rev().find(|wound| like(&wound.injury)).map(Arc::clone)
    }

    /// Waits until there is none like this; whoever waits is bitten once.
    pub(super) async fn without(&self, whom: &str, like: impl Fn(&Injury) -> bool) {
        let mut changes = self.changes();
        let mut bitten = false;
        while let Some(wound) = self.find(&like) {
            if !std::mem::replace(&mut bitten, true) {
                wound.bite(whom);
            }
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// By how many seconds the wall clock is wrong.
    pub(super) fn skew_s(&self) -> i64 {
        let mut sum = 0;
        for wound in self.lock().1.values() {
            if let Injury::Skew { by_s } = wound.injury {
                wound.bite("the clock on the wall");
                sum += by_s;
            }
        }
        sum
    }
}

/// Something that hurts, until this is healed or dropped.
#[must_use = "it is healed as soon as this is dropped"]
pub struct Hurt {
    injuries: Arc<Injuries>,
    id: u64,
    wound: Arc<Wound>,
    /// What keeps an injury going that comes and goes.
    pub(super) task: Option<tokio::task::AbortHandle>,
}

impl Hurt {
    /// How often it has bitten so far.
    pub fn bites(&self) -> u64 {
        self.wound.bites.load(Ordering::Relaxed)
    }

    /// It hurts no more. Says how often it has.
    pub fn heal(self) -> u64 {
        self.bites()
    }
}

impl Drop for Hurt {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
        self.injuries.heal(self.id);
    }
}

impl fmt::Debug for Hurt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.wound.fmt(f)
    }
}
